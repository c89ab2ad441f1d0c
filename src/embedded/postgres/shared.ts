/**
 * One PostgreSQL for the devnets of a user: each has a database of its own on it, which is a copy of a prepared one. So the
 * second of several devnets starts in a moment and needs little memory.
 *
 * The server's folder is below the system's folder for temporary files, `server-<key>`, and is kept for the next start. The
 * key stands for what the prepared database has in it, so processes of different versions have different servers. A server
 * ends with its last member, however that ends (`guard.ts`). Nothing is written durably: data that were not shut down in
 * order, or that are of another boot of the machine, are made again.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { sleep } from "#src/base/clock.ts";
import { errorCode } from "#src/base/errorCode.ts";
import { type Log, reason } from "#src/base/log.ts";
import { serverAccount } from "#src/embedded/postgres/account.ts";
import { findBinaries } from "#src/embedded/postgres/binaries.ts";
import { readPassword } from "#src/embedded/postgres/cluster.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { guardShared, MEMBERS, OPEN, STOPPED } from "#src/embedded/postgres/guard.ts";
import { lockFolder } from "#src/embedded/postgres/lock.ts";
import { type EmbeddedPostgres, startPostgres, urlOf } from "#src/embedded/postgres/postgres.ts";
import { readPidFile, stopLeftover } from "#src/embedded/postgres/postmaster.ts";
import { bootId, startTimeOf } from "#src/embedded/postgres/processes.ts";
import { startServer } from "#src/embedded/postgres/server.ts";
import { isAbandoned } from "#src/embedded/postgres/temporaryFolder.ts";
import { openStore, type Store } from "#src/store/store.ts";

/** Options of a database on the shared server. */
interface SharedOptions {
  /** Name of the process's temporary folder, from which a later process can tell that this one has ended. */
  readonly name: string;
  /** What `prepare` makes: the same key, the same database. */
  readonly key: string;
  /** Prepares the database that all others are copies of; called once a machine and key. */
  readonly prepare: (url: string) => Promise<void>;
  readonly log: Log;
  /** Gets a line for people when something takes long. */
  readonly onProgress: (line: string) => void;
  /** The folder for temporary files; that of the system by default. */
  readonly temporary?: string;
}

/** A process's part in a running server. */
interface Member {
  readonly folder: string;
  readonly pid: number;
  readonly port: number;
  /** Leaves the server, which ends with its last member. */
  leave(): void;
}

/** The database that others are copies of. */
const TEMPLATE = "arbor_template";
/** Milliseconds that other processes may take to prepare or start the server. */
const LOCK_MS = 120_000;
/** Milliseconds after which the folder of a server is removed that no process has used. */
const UNUSED_MS = 7 * 86_400_000;
/** Milliseconds between two looks whether the server runs. */
const LOOK_MS = 1_000;

/**
 * Creates a database on the shared server, which is started where it does not run. `stop` drops the database; the server
 * ends after the last one.
 *
 * @throws {EmbeddedError} as `startPostgres`
 */
export async function startSharedPostgres(options: SharedOptions): Promise<EmbeddedPostgres> {
  const root = sharedFolder(options.temporary ?? tmpdir());
  const folder = join(root, `server-${createHash("sha256").update(options.key).digest("hex").slice(0, 12)}`);
  const member = await joinWith(folder, options) ?? await startMember(root, folder, options);
  const { pid, port } = member;
  const { lost, forget } = watchServer(member, options.log);
  const drop = async () => {
    forget();
    await withServer(folder, port, ({ sql }) => sql.unsafe(`drop database if exists "${options.name}" with (force)`))
      .catch((error) => options.log.warn("a database could not be dropped", { pid, reason: reason(error) }))
      .finally(() => member.leave());
  };
  let stopping: Promise<void> | undefined;
  return { url: urlIn(folder, port, options.name), port, lost, stop: () => stopping ??= drop() };
}

/** The folder that the processes of this user share. @throws {EmbeddedError} where another user has its name */
function sharedFolder(temporary: string): string {
  const folder = join(realpathSync(temporary), `arbor-postgres-${process.getuid?.() ?? 0}`);
  // PostgreSQL may run as another account, which has to pass through
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new EmbeddedError("not_reachable", `${folder} belongs to another user. Set TMPDIR to another folder.`);
  }
  return folder;
}

/** Joins the server of a folder and creates a database on it; undefined where it does not run. */
async function joinWith(folder: string, options: SharedOptions): Promise<Member | undefined> {
  const held = holdMembership(folder);
  if (held === undefined) return undefined;
  const leave = () => closeSync(held);
  const server = existsSync(join(folder, OPEN)) ? readPidFile(join(folder, "data")) : undefined;
  if (server?.ready && startTimeOf(server.pid) !== undefined) {
    try {
      await createDatabase(folder, server.port, options.name);
      return { folder, pid: server.pid, port: server.port, leave };
    } catch (error) {
      options.log.warn("the shared PostgreSQL cannot be used", { folder, reason: reason(error) });
    }
  }
  leave();
  return undefined;
}

/** Makes this process a member of a server, until the descriptor is closed; undefined where nothing guards the server. */
function holdMembership(folder: string): number | undefined {
  try {
    return openSync(join(folder, MEMBERS), constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (["ENXIO", "ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** Creates the database of a member, after those of processes that were killed are dropped. */
async function createDatabase(folder: string, port: number, name: string): Promise<void> {
  await withServer(folder, port, async ({ sql }) => {
    const others = await sql<{ name: string }[]>`select datname as name from pg_database`;
    for (const other of others.filter((other) => isAbandoned(other.name))) {
      await sql.unsafe(`drop database if exists "${other.name}" with (force)`);
    }
    // files are copied four times faster than their pages are written through the log
    await sql.unsafe(`create database "${name}" template ${TEMPLATE} strategy file_copy`);
  });
}

/** The URL of a database on a server. */
function urlIn(folder: string, port: number, database: string): string {
  const url = new URL(urlOf(readPassword(folder), port));
  url.pathname = `/${database}`;
  return url.href;
}

/** Uses a connection to a server. */
async function withServer<T>(folder: string, port: number, use: (store: Store) => Promise<T>): Promise<T> {
  const store = openStore(urlIn(folder, port, "postgres"), { max: 1, application: "arbor shared" });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Starts the server of a folder and joins it, unless another process does so meanwhile. */
async function startMember(root: string, folder: string, options: SharedOptions): Promise<Member> {
  const lock = await lockFolder(root, LOCK_MS);
  try {
    // a server that is about to end takes no member and is waited for
    for (const began = performance.now(); isGuarded(folder) && performance.now() - began < LOCK_MS;) {
      const joined = await joinWith(folder, options);
      if (joined !== undefined) return joined;
      await sleep(20);
    }
    await removeUnused(root, options.log);
    await stopLeftover(join(folder, "data"), options.log);
    if (!wasStopped(folder)) await prepareFolder(root, folder, options);
    return await startFirst(folder, options);
  } finally {
    lock.release();
  }
}

/** Whether a server has a guard: it runs, starts or ends. */
function isGuarded(folder: string): boolean {
  const held = holdMembership(folder);
  if (held !== undefined) closeSync(held);
  return held !== undefined;
}

/** Whether data were shut down in order since the machine has started: without a durable log others may be damaged. */
function wasStopped(folder: string): boolean {
  const file = join(folder, STOPPED);
  return existsSync(file) && readFileSync(file, "utf8").trim() === bootId();
}

/** Prepares the data of a server: those that are there are removed. */
async function prepareFolder(root: string, folder: string, { log, onProgress, prepare }: SharedOptions) {
  onProgress(`Preparing a PostgreSQL database in ${folder}, only now`);
  rmSync(folder, { recursive: true, force: true });
  const fresh = mkdtempSync(join(root, "fresh-"));
  try {
    // PostgreSQL may run as another account, which has to pass through
    chmodSync(fresh, 0o711);
    const server = await startPostgres({ folder: fresh, durable: false, log, onProgress: () => {} });
    try {
      await withServer(fresh, server.port, ({ sql }) => sql.unsafe(`create database ${TEMPLATE}`));
      await prepare(urlIn(fresh, server.port, TEMPLATE));
    } finally {
      await server.stop();
    }
    writeFileSync(join(fresh, STOPPED), bootId());
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Starts the server of a folder, with this process as its first member. */
async function startFirst(folder: string, options: SharedOptions): Promise<Member> {
  const leave = await guardShared(folder, bootId());
  try {
    rmSync(join(folder, STOPPED), { force: true });
    utimesSync(folder, new Date(), new Date());
    const account = serverAccount(join(folder, "data"));
    const place = { account, native: findBinaries(account, folder, options.onProgress) };
    const use = { service: "PostgreSQL", port: 0, option: "--postgres-port" };
    const { child, pid, port } = await startServer({ ...options, place, folder, durable: false, shared: true }, use);
    child.unref();
    await createDatabase(folder, port, options.name);
    writeFileSync(join(folder, OPEN), "");
    return { folder, pid, port, leave };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Removes folders of servers that no process has used for days, and those of interrupted starts. Called under the lock. */
async function removeUnused(root: string, log: Log): Promise<void> {
  for (
    const folder of readdirSync(root).filter((name) => /^(server|fresh)-/.test(name)).map((name) => join(root, name))
  ) {
    const unused = basename(folder).startsWith("fresh-") || Date.now() - statSync(folder).mtimeMs > UNUSED_MS;
    if (!unused || isGuarded(folder)) continue;
    await stopLeftover(join(folder, "data"), log);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Looks whether a server still runs, until `forget`. `lost` resolves with a message when it has ended. */
function watchServer({ folder, pid }: Member, log: Log): { readonly lost: Promise<string>; forget(): void } {
  const started = startTimeOf(pid);
  let timer: ReturnType<typeof setInterval> | undefined;
  const forget = () => clearInterval(timer);
  const lost = new Promise<string>((resolve) => {
    timer = setInterval(() => {
      if (started !== undefined && startTimeOf(pid) === started) return;
      forget();
      const sentence = `PostgreSQL ended unexpectedly; see ${join(folder, "server.log")}.`;
      log.error(sentence);
      resolve(sentence);
    }, LOOK_MS);
    timer.unref();
  });
  return { lost, forget };
}
