/**
 * PostgreSQL for one machine: real server programs from npm, under a folder of ours, on a loopback port.
 *
 * Hypotheses: one process at a time has the folder open (`lock.ts`); the server is a process of its own session, so that a
 * Ctrl-C reaches us alone and the services end before their database; whatever an earlier process left running is stopped, and
 * the server recovers by itself from any way it was killed, because fsync and synchronous_commit stay on.
 */
import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { serverAccount } from "#src/embedded/account.ts";
import { findBinaries } from "#src/embedded/binaries.ts";
import { createCluster, DATABASE_USER, readPassword } from "#src/embedded/cluster.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";
import { guard } from "#src/embedded/guard.ts";
import { launch, type Place } from "#src/embedded/launch.ts";
import { holdFolder } from "#src/embedded/lock.ts";
import { checkPort, freePort, portTaken } from "#src/embedded/ports.ts";
import { endLeftover, endServer, markOf, readPidFile } from "#src/embedded/postmaster.ts";

export interface PostgresOptions {
  /** Where the data, the password and the server's log are kept; made where missing. */
  readonly folder: string;
  /** Port on 127.0.0.1; a free one where not given. */
  readonly port?: number;
  /** How a person chooses the port, for the sentence when it is taken. */
  readonly portOption?: string;
  readonly log: Log;
  /** A line for a person about something that takes a while. */
  readonly onProgress?: (line: string) => void;
}

/** A running server. */
export interface EmbeddedPostgres {
  /** `postgres://…` with the password, for the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** Resolves with a sentence when the server ends without `stop`; it stays pending otherwise. */
  readonly lost: Promise<string>;
  /** Stops the server in order, with everything written, and lets go of the folder. */
  stop(): Promise<void>;
}

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=100",
  "shared_buffers=64MB",
  "max_wal_size=512MB",
  "io_method=sync",
  "max_logical_replication_workers=0",
  "jit=off",
  "timezone=UTC",
  "log_timezone=UTC",
  "log_checkpoints=off",
  // An error of a statement goes to the client that sent it; here its values could be secrets.
  "log_min_messages=log",
];

/** How long the server may take before a line says that it is still at work (recovery after a crash can be long). */
const PATIENCE_MS = 5_000;

/** Starts one server; resolves when it takes connections, rejects with the reason when it ends before. */
async function startServer(
  place: Place,
  folder: string,
  port: number,
  onProgress: (line: string) => void,
): Promise<ChildProcess> {
  const data = join(folder, "data");
  const logFile = join(folder, "server.log");
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  const output = openSync(logFile, "a", 0o600);
  let child: ChildProcess;
  try {
    const settings = [`port=${port}`, markOf(data), ...SETTINGS].flatMap((setting) => ["-c", setting]);
    child = launch(place, "postgres", data, settings, { output, detached: true });
  } finally {
    closeSync(output);
  }
  let ended = false;
  child.once("exit", () => ended = true);
  child.once("error", () => ended = true);
  const began = performance.now();
  for (let told = began; !ended; await sleep(10)) {
    const file = readPidFile(data);
    if (file?.ready && file.pid === child.pid) return child;
    if (performance.now() - told > PATIENCE_MS) {
      told = performance.now();
      onProgress(`PostgreSQL is still starting (${Math.round((told - began) / 1000)} s)`);
    }
  }
  const said = readFileSync(logFile, "utf8").trim().slice(-2_000);
  if (/could not (bind|create any TCP\/IP sockets)/.test(said)) {
    throw portTaken({ service: "PostgreSQL", port, option: "another value" });
  }
  throw new EmbeddedError("start_failed", `PostgreSQL ended before it was ready: ${said || "it said nothing"}`);
}

/** Starts the server on a free or the given port, again where a port was lost to another program or old processes linger. */
async function startSomewhere(
  place: Place,
  folder: string,
  options: PostgresOptions,
  onProgress: (line: string) => void,
) {
  const use = { service: "PostgreSQL", port: options.port ?? 0, option: options.portOption ?? "--postgres-port" };
  if (use.port !== 0) await checkPort(use);
  for (let attempt = 1;; attempt++) {
    const port = use.port || await freePort();
    try {
      return { child: await startServer(place, folder, port, onProgress), port };
    } catch (error) {
      if (!(error instanceof EmbeddedError)) throw error;
      if (error.code === "port_taken" && use.port !== 0) throw portTaken(use);
      // Processes of a server whose head was killed end within moments; until then PostgreSQL refuses their shared memory.
      const passing = error.code === "port_taken" || error.message.includes("shared memory block");
      if (!passing || attempt === 20) throw error;
      await sleep(250);
    }
  }
}

/**
 * Starts PostgreSQL on a folder, with the data that is there. Throws an `EmbeddedError`: `in_use` where another process has
 * the folder, `port_taken`, `no_binaries`, `not_reachable`, `start_failed`.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { log } = options;
  const onProgress = options.onProgress ?? (() => {});
  if (process.platform === "win32") {
    throw new EmbeddedError("no_binaries", "PostgreSQL is not embedded on Windows; set DATABASE_URL to use a server.");
  }
  try {
    mkdirSync(options.folder, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new EmbeddedError("not_reachable", `${resolve(options.folder)} cannot be made: ${reason(error)}`);
  }
  const folder = realpathSync(options.folder);
  const lock = await holdFolder(folder);
  try {
    const data = join(folder, "data");
    const account = serverAccount(data);
    const place = { account, native: findBinaries(account, folder, onProgress) };
    if (existsSync(join(data, "PG_VERSION"))) await endLeftover(data, log);
    else onProgress(`Creating a PostgreSQL database in ${folder}`);
    await createCluster(folder, place);
    const password = readPassword(folder);
    const { child, port } = await startSomewhere(place, folder, options, onProgress);
    const pid = child.pid!;
    const guarding = guard(pid, account, log);
    let stopping: Promise<void> | undefined;
    const lost = new Promise<string>((resolve) => {
      const gone = (code: number | null, signal: string | null) => {
        guarding.dismiss();
        if (stopping) return;
        lock.release();
        const sentence = `PostgreSQL ended unexpectedly (${signal ?? code}); see ${join(folder, "server.log")}.`;
        log.error(sentence);
        resolve(sentence);
      };
      if (child.exitCode !== null || child.signalCode !== null) gone(child.exitCode, child.signalCode);
      else child.once("exit", gone);
    });
    child.unref();
    const stop = async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.ref();
        if (!await endServer(pid, log)) log.error("PostgreSQL could not be stopped", { pid });
      }
      guarding.dismiss();
      lock.release();
    };
    log.debug("PostgreSQL takes connections", { port, pid, folder });
    return {
      url: `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/postgres`,
      port,
      lost,
      stop: () => stopping ??= stop(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
