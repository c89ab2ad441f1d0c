/** A PostgreSQL server for one test, which can be killed and restarted on its port with its data. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import { sleep } from "#src/base/clock.ts";
import { serverAccount } from "#src/embedded/postgres/account.ts";
import { createCluster, DATABASE_USER, readPassword } from "#src/embedded/postgres/cluster.ts";
import { launch, type ServerPrograms } from "#src/embedded/postgres/launch.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { readPidFile } from "#src/embedded/postgres/postmaster.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { endChild } from "../base/processes.ts";

export interface PostgresServer {
  /** Description, for a line of output. */
  readonly name: string;
  /** URL of the database `postgres`. */
  readonly url: string;
  /**
   * Ends it like a crash (SIGQUIT: an immediate shutdown; SIGKILL: no shutdown at all) and restarts it `awayMs`
   * milliseconds later, by default at once.
   */
  restart(signal: "SIGQUIT" | "SIGKILL", awayMs?: number): Promise<void>;
  /** Stops all its processes for some milliseconds: connections stay open without an answer. */
  stall(ms: number): Promise<void>;
  /** Stops it and deletes its data. */
  stop(): Promise<void>;
}

async function stall(head: number, ms: number): Promise<void> {
  process.kill(head, "SIGSTOP");
  const children = spawnSync("ps", ["-o", "pid=", "--ppid", String(head)]).stdout.toString().split("\n");
  const pids = [head, ...children.filter((line) => line.trim() !== "").map(Number)];
  try {
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    await sleep(ms);
  } finally {
    for (const pid of pids) process.kill(pid, "SIGCONT");
  }
}

/** A server that is installed on this machine. */
export interface InstalledServer extends PostgresServer {
  readonly port: number;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, with more settings as `name=value`. */
  start(more?: readonly string[]): Promise<void>;
}

/** The product's embedded server. */
export async function startEmbeddedServer(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-postgres-"));
  const log = createLog("error", {}, () => {});
  let server = await startPostgres({ folder, log });
  const { url, port } = server;
  return {
    name: "embedded PostgreSQL",
    url,
    restart: async (signal, awayMs = 0) => {
      process.kill(readPidFile(join(folder, "data"))!.pid, signal);
      await server.lost;
      await sleep(awayMs);
      server = await startPostgres({ folder, log, port });
    },
    stall: (ms) => stall(readPidFile(join(folder, "data"))!.pid, ms),
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The folder above `bin` with the newest `initdb` and `postgres` of this machine, or those of a major version; undefined,
 * with a message, if there is none.
 */
export function findPostgres(major?: number): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version)),
    ...(process.env.PATH ?? "").split(":").filter((folder) => folder.endsWith("/bin")).map((folder) =>
      folder.slice(0, -4)
    ),
  ];
  const found = folders.find((folder) =>
    ["initdb", "postgres"].every((name) => existsSync(join(folder, "bin", name))) &&
    isRunnable(join(folder, "bin", "postgres"), major)
  );
  if (found === undefined) {
    console.warn(
      "SKIPPED: no PostgreSQL server is installed. On Debian: apt-get install postgresql (or name one in DATABASE_URL, " +
        "which is then not killed).",
    );
  }
  return found;
}

/** Whether a program `postgres` runs here, and is of a major version. */
function isRunnable(program: string, major?: number): boolean {
  const { status, stdout } = spawnSync(program, ["--version"]);
  return status === 0 && (major === undefined || new RegExp(`\\) ${major}\\b`).test(String(stdout)));
}

/** A server that is installed on this machine, with its default settings and `more` of them, as `name=value`. */
export function startInstalledServer(native: string, more: readonly string[] = []): Promise<InstalledServer> {
  return startOn(native, more, async (folder, place) => {
    await createCluster(folder, place);
    return readPassword(folder);
  });
}

/** Takes a base backup of a server into a folder. The URL may be that of a proxy in this process. */
export async function takeBackup(
  native: string,
  url: string,
  folder: string,
  more: readonly string[] = [],
): Promise<void> {
  const args = ["-d", url, "-D", folder, "--checkpoint=fast", ...more];
  const child = spawn(join(native, "bin", "pg_basebackup"), args, { stdio: ["ignore", "ignore", "inherit"] });
  const [status] = await once(child, "exit");
  if (status !== 0) throw new Error(`pg_basebackup ended with ${status}`);
  giveToServer(folder);
}

/** Gives a folder to the account that servers run as. */
function giveToServer(folder: string): void {
  const account = serverAccount(folder);
  if (account) spawnSync("chown", ["-R", `${account.uid}:${account.gid}`, folder]);
}

/** A replica of an installed server: it answers reads. */
export function startReplica(
  native: string,
  primary: Pick<PostgresServer, "url">,
  more: readonly string[] = [],
): Promise<InstalledServer> {
  return startOn(native, more, async (folder) => {
    await takeBackup(native, primary.url, join(folder, "data"), ["--write-recovery-conf"]);
    return new URL(primary.url).password;
  });
}

/** A folder for the archived WAL of servers, and the settings of a server that archives into it. */
export async function walArchive(): Promise<{ readonly folder: string; readonly settings: readonly string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-archive-"));
  giveToServer(folder);
  return { folder, settings: ["archive_mode=on", `archive_command=cp %p ${folder}/%f`] };
}

/** A server from a base backup: as it was, or with an archive restored to a named point, on a new timeline. */
export function startFromBackup(
  native: string,
  backup: string,
  password: string,
  more: readonly string[] = [],
  point?: { readonly archive: string; readonly name: string },
): Promise<PostgresServer> {
  const recovery = point === undefined ? [] : [
    `restore_command=cp ${point.archive}/%f %p`,
    `recovery_target_name=${point.name}`,
    "recovery_target_action=promote",
  ];
  return startOn(native, [...more, ...recovery], (folder) => {
    const data = join(folder, "data");
    cpSync(backup, data, { recursive: true });
    // The original's settings may name files and sizes of its machine.
    writeFileSync(join(data, "postgresql.conf"), "hot_standby=off\n");
    writeFileSync(join(data, "postgresql.auto.conf"), "");
    const hosts = ["all", "replication"].map((databases) => `host ${databases} all 127.0.0.1/32 scram-sha-256\n`);
    writeFileSync(join(data, "pg_hba.conf"), hosts.join(""));
    if (point !== undefined) writeFileSync(join(data, "recovery.signal"), "");
    chmodSync(data, 0o700);
    giveToServer(data);
    return password;
  });
}

/** Runs a server in a folder of its own whose `data` a function creates; that function gives the password. */
async function startOn(
  native: string,
  more: readonly string[],
  create: (folder: string, place: ServerPrograms) => Promise<string> | string,
): Promise<InstalledServer> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-postgres-"));
  await chmod(folder, 0o755);
  const data = join(folder, "data");
  const account = serverAccount(data);
  const place = { native, account };
  const password = await create(folder, place);
  const sockets = join(folder, "sockets");
  mkdirSync(sockets);
  if (account) chownSync(sockets, account.uid, account.gid);
  const port = await freePort();
  const start = async (later: readonly string[] = []): Promise<ChildProcess> => {
    const output = openSync(join(folder, "server.log"), "a");
    const settings = [
      `port=${port}`,
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${sockets}`,
      ...more,
      ...later,
    ];
    const child = launch(place, "postgres", data, settings.flatMap((one) => ["-c", one]), { output });
    closeSync(output);
    let gone = false;
    child.once("exit", () => gone = true);
    for (;;) {
      const file = readPidFile(data);
      if (file?.ready && file.pid === child.pid) return child;
      // Processes of a server whose postmaster was killed may still run.
      if (gone) return await sleep(200).then(() => start(later));
      await sleep(20);
    }
  };
  let child = await start();
  const version = spawnSync(join(native, "bin", "postgres"), ["--version"]).stdout.toString().trim();
  return {
    name: version,
    url: `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/postgres`,
    restart: async (signal, awayMs = 0) => {
      await endChild(child, signal);
      await sleep(awayMs);
      child = await start();
    },
    port,
    kill: async () => void await endChild(child, "SIGKILL"),
    start: async (more) => void (child = await start(more)),
    stall: (ms) => stall(child.pid!, ms),
    stop: async () => {
      await endChild(child, "SIGINT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
