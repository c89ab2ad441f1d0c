/** Embedded PostgreSQL: it keeps its data however it is ended, and harms nothing else. */
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, afterEach, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { commandOf, signal, startTimeOf, waitForEnd } from "#src/embedded/postgres/processes.ts";
import { openStore } from "#src/store/store.ts";
import { type Run, run, type RunOptions } from "./run.ts";

const folders: string[] = [];
const processes: number[] = [];

afterEach(async () => {
  for (const pid of processes.splice(0)) signal(pid, "SIGKILL");
  for (const folder of folders) await endServerOf(folder);
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-postgres-"));
  folders.push(folder);
  await chmod(folder, 0o755);
  return folder;
}

let used: string | undefined;

/** A folder shared by tests that do not depend on its contents. */
async function usedFolder(): Promise<string> {
  return used ??= await newFolder();
}

async function pidIn(folder: string): Promise<number> {
  return Number((await readFile(join(folder, "data", "postmaster.pid"), "latin1").catch(() => "0")).split("\n")[0]);
}

async function endServerOf(folder: string): Promise<void> {
  const pid = await pidIn(folder);
  if (pid > 0 && commandOf(pid)?.some((word) => word.startsWith("cluster_name=arbor-"))) {
    signal(pid, "SIGQUIT");
    await waitForEnd(pid, 10_000);
  }
}

function start(folder: string, args: string[] = [], options: RunOptions = {}): Run {
  const running = run([folder, ...args], options);
  processes.push(running.pid);
  return running;
}

/** Names of the data folders that are not complete. */
async function unfinished(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith("data.new"));
}

/** Starts a parent and waits for its server. */
async function started(folder: string, args: string[] = [], options: RunOptions = {}) {
  const parent = start(folder, args, options);
  const { url, pid } = await parent.next((said) => said.url !== undefined || said.code !== undefined);
  if (!url || !pid) throw new Error(JSON.stringify(parent.said));
  return { parent, url, pid };
}

/** Inserts a row; gives the number of rows. */
async function write(url: string): Promise<number> {
  const store = openStore(url, { max: 1 });
  await store.sql`create table if not exists kept (n serial)`;
  await store.sql`insert into kept default values`;
  const [row] = await store.sql<{ n: bigint }[]>`select count(*) as n from kept`;
  await store.close();
  return Number(row!.n);
}

/** The guard process, which stops the server after its parent's death. */
async function guardOf(server: number): Promise<number> {
  const { readdirSync } = await import("node:fs");
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  const found = pids.find((pid) => {
    const command = commandOf(pid);
    return command?.[0] === "/bin/sh" && command.at(-1) === String(server) && command[2]?.startsWith("read -r");
  });
  if (!found) throw new Error("no guard");
  return found;
}

test("keeps its data, its password and, if given, its port from one start to the next", async () => {
  const folder = join(await newFolder(), "not", "there", "yet");
  const lines: string[] = [];
  const first = await startPostgres({ folder, log: silentLog, onProgress: (line) => lines.push(line) });
  expect(lines.join()).toContain("Creating a PostgreSQL database");
  expect(await write(first.url)).toBe(1);
  await first.stop();
  await first.stop();
  const second = await startPostgres({ folder, port: first.port, log: silentLog });
  expect(second.url).toBe(first.url);
  expect(await write(second.url)).toBe(2);
  const wrong = openStore(second.url.replace(/:[^:@]+@/, ":guess@"), { max: 1 });
  await expect(wrong.sql`select 1`).rejects.toMatchObject({ code: "28P01" });
  await wrong.close();
  for (const [name, mode] of [["password", 0o600], ["data", 0o700], ["server.log", 0o600]] as const) {
    expect((await stat(join(folder, name))).mode & 0o777, name).toBe(mode);
  }
  await second.stop();
  expect(existsSync(join(folder, "data", "postmaster.pid"))).toBe(false);
});

test("durability settings stay on, and only this machine can connect", async () => {
  const server = await startPostgres({ folder: await usedFolder(), log: silentLog });
  const store = openStore(server.url, { max: 1 });
  const [row] = await store.sql`
    select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('full_page_writes') as pages, current_setting('data_checksums') as checksums,
      current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets,
      current_setting('server_encoding') as encoding, current_setting('TimeZone') as zone,
      (select datcollate from pg_database where datname = 'template0') as collate,
      (select array_agg(distinct auth_method) from pg_hba_file_rules) as methods`;
  expect(row).toEqual({
    fsync: "on",
    commit: "on",
    pages: "on",
    checksums: "on",
    addresses: "127.0.0.1",
    sockets: "",
    encoding: "UTF8",
    zone: "UTC",
    collate: "C",
    methods: ["scram-sha-256"],
  });
  await store.close();
  await server.stop();
});

test("a taken port is named in the error message", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  const folder = await usedFolder();
  await expect(startPostgres({ folder, port, portOption: "--database-port", log: silentLog })).rejects.toMatchObject({
    code: "port_taken",
    message:
      `Port ${port} for PostgreSQL is used by another program; stop that program or choose another port with --database-port.`,
  });
  await new Promise((resolve) => taken.close(resolve));
  const server = await startPostgres({ folder, port, log: silentLog });
  expect(server.port).toBe(port);
  await server.stop();
});

test("a second parent is refused, in this process and in another, and harms nothing", async () => {
  const folder = await usedFolder();
  const server = await startPostgres({ folder, log: silentLog });
  await expect(startPostgres({ folder, log: silentLog })).rejects.toMatchObject({ code: "in_use" });
  const other = start(folder);
  const said = await other.next((said) => said.code !== undefined);
  expect(said.code).toBe("in_use");
  expect(said.message).toContain(`in use by process ${process.pid}`);
  expect(await write(server.url)).toBeGreaterThan(0);
  await server.stop();
});

test("of several concurrent starts on a new folder, one succeeds", async () => {
  const folder = await newFolder();
  const parents = [1, 2, 3].map(() => start(folder));
  const answers = await Promise.all(
    parents.map((parent) => parent.next((said) => said.url !== undefined || said.code !== undefined)),
  );
  const winners = answers.filter((said) => said.url !== undefined);
  expect(answers.map((said) => said.code).filter((code) => code !== undefined && code !== "in_use")).toEqual([]);
  expect(winners).toHaveLength(1);
  expect(await write(winners[0]!.url!)).toBe(1);
});

test("Ctrl-C reaches the parent alone, which stops the database last", async () => {
  const folder = await usedFolder();
  const { parent, pid, url } = await started(folder);
  await write(url);
  process.kill(-parent.pid, "SIGINT");
  expect((await parent.next((said) => said.running !== undefined)).running).toBe(true);
  expect(await parent.ended).toBe(0);
  expect(startTimeOf(pid)).toBeUndefined();
});

test("kill -9 of the parent stops the server soon, and the next start has the data", async () => {
  const folder = await usedFolder();
  const first = await started(folder);
  const before = await write(first.url);
  signal(first.parent.pid, "SIGKILL");
  expect(await waitForEnd(first.pid, 10_000)).toBe(true);
  const second = await started(folder);
  expect(second.parent.said.some((said) => said.progress?.includes("Creating"))).toBe(false);
  expect(await write(second.url)).toBe(before + 1);
});

test("a server that outlived its parent is stopped by the next start", async () => {
  const folder = await usedFolder();
  const first = await started(folder);
  const before = await write(first.url);
  signal(await guardOf(first.pid), "SIGKILL");
  signal(first.parent.pid, "SIGKILL");
  await first.parent.ended;
  expect(await write(first.url)).toBe(before + 1);
  const port = new URL(first.url).port;
  const second = await started(folder, [port]);
  expect(startTimeOf(first.pid)).toBeUndefined();
  expect(await write(second.url)).toBe(before + 2);
});

test("kill -9 of everything during writes loses nothing that was acknowledged", async () => {
  const folder = await usedFolder();
  const first = await started(folder);
  let answered = await write(first.url);
  const before = answered;
  const store = openStore(first.url, { max: 1 });
  const writing = (async () => {
    for (;;) {
      await store.sql`insert into kept default values`;
      answered++;
    }
  })().catch(() => {});
  while (answered < before + 50) await sleep(5);
  signal(await guardOf(first.pid), "SIGKILL");
  signal(first.parent.pid, "SIGKILL");
  signal(first.pid, "SIGKILL");
  await writing;
  const second = await started(folder);
  expect(await write(second.url)).toBeGreaterThan(answered);
  void store.close();
});

test("a server that is killed under its parent is reported, and the folder is free again", async () => {
  const folder = await usedFolder();
  const server = await startPostgres({ folder, log: silentLog });
  const before = await write(server.url);
  signal(await pidIn(folder), "SIGKILL");
  expect(await server.lost).toContain("PostgreSQL ended unexpectedly (SIGKILL)");
  await server.stop();
  const again = await startPostgres({ folder, log: silentLog });
  expect(await write(again.url)).toBe(before + 1);
  await again.stop();
});

test("another program with the pid of an old server is left alone, and does not prevent the start", async () => {
  const folder = await usedFolder();
  const first = await startPostgres({ folder, log: silentLog });
  const file = join(folder, "data", "postmaster.pid");
  const left = await readFile(file, "latin1");
  const before = await write(first.url);
  await first.stop();
  const { uid, gid } = await stat(join(folder, "data"));
  // it runs under the server's account, so PostgreSQL itself could take it for the old server
  const stranger: ChildProcess = spawn("/bin/sleep", ["60"], { stdio: "ignore", ...(uid ? { uid, gid } : {}) });
  processes.push(stranger.pid!);
  await writeFile(file, left.replace(/^\d+/, String(stranger.pid)), "latin1");
  const second = await startPostgres({ folder, log: silentLog });
  expect(await write(second.url)).toBe(before + 1);
  expect(startTimeOf(stranger.pid!)).toBeDefined();
  await second.stop();
});

test("an interrupted initialisation leaves nothing that is used", async () => {
  const folder = await newFolder();
  const parent = start(folder);
  await parent.next((said) => said.progress !== undefined);
  while (!["data", ...await unfinished(folder)].some((name) => existsSync(join(folder, name, "base")))) await sleep(2);
  process.kill(-parent.pid, "SIGKILL");
  await parent.ended;
  expect(existsSync(join(folder, "data"))).toBe(false);
  await mkdir(join(folder, "data.new", "again"), { recursive: true });
  const { url } = await started(folder);
  expect(await write(url)).toBe(1);
  expect(await unfinished(folder)).toEqual([]);
});

test("an initialisation that outlives its process does not disturb the next start, and its folder goes later", async () => {
  const folder = await newFolder();
  const name = "data.new";
  const { uid, gid } = await stat(folder);
  const writer: ChildProcess = spawn("/bin/sh", ["-c", 'while :; do mkdir -p "$0/base/$((i=i+1))"; done', name], {
    cwd: folder,
    stdio: "ignore",
    uid,
    gid,
  });
  processes.push(writer.pid!);
  while (!existsSync(join(folder, name, "base", "9"))) await sleep(2);
  const first = await startPostgres({ folder, log: silentLog });
  expect(await write(first.url)).toBe(1);
  await first.stop();
  writer.kill("SIGKILL");
  await waitForEnd(writer.pid!, 10_000);
  const second = await startPostgres({ folder, log: silentLog });
  expect(await write(second.url)).toBe(2);
  await second.stop();
  expect(await unfinished(folder)).toEqual([]);
});

test("a volume that is full or too small for a new database is reported in plain words", async (context) => {
  const folder = await newFolder();
  const small = spawnSync("mount", ["-t", "tmpfs", "-o", "size=20m,mode=755", "tmpfs", folder]);
  if (small.status !== 0) {
    console.warn("SKIPPED: no volume can be mounted here, a full one is not tested. Run as root.");
    return context.skip();
  }
  const refusal = () =>
    startPostgres({ folder: join(folder, "postgres"), log: silentLog }).then(() => undefined, (e) => e);
  try {
    const tooSmall = await refusal();
    expect(tooSmall).toMatchObject({ code: "no_space" });
    expect(tooSmall.message).toMatch(
      /^There is not enough space for the database in .*: (19|20) MB are free there, .* needs 128 MB\. /,
    );
    expect(spawnSync("mount", ["-o", "remount,size=200m", folder]).status).toBe(0);
    const server = await startPostgres({ folder: join(folder, "postgres"), log: silentLog });
    await server.stop();
    const { bavail, bsize } = statfsSync(folder);
    await writeFile(join(folder, "filler"), Buffer.alloc(bavail * bsize));
    const full = await refusal();
    expect(full).toMatchObject({ code: "no_space", message: expect.stringContaining("the volume is full") });
    expect([tooSmall.message, full.message].join()).not.toMatch(/initdb|PANIC|FATAL/);
    await rm(join(folder, "filler"));
    await (await startPostgres({ folder: join(folder, "postgres"), log: silentLog })).stop();
  } finally {
    spawnSync("umount", [folder]);
  }
});
