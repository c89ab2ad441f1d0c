/** One run of the server on a data folder: its settings, its log, and when it is ready. */
import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";
import { explainEnd } from "#src/embedded/explain.ts";
import { guard } from "#src/embedded/guard.ts";
import { launch, type Place } from "#src/embedded/launch.ts";
import { checkPort, freePort, portTaken, type PortUse } from "#src/embedded/ports.ts";
import { markOf, readPidFile } from "#src/embedded/postmaster.ts";

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=200",
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

/** How long the server may take before a line says that it is still at work; recovery after a crash can be long. */
const PATIENCE_MS = 5_000;

/** How long a start is tried again: a port was lost to another program, or processes of a killed server linger. */
const LINGER_MS = 60_000;

/** A server that takes connections. */
export interface Server {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /** Lets the process that watches over us go. */
  dismissGuard(): void;
}

/** What a start needs to know. */
export interface ServerOptions {
  readonly place: Place;
  /** Holds `data` and `server.log`. */
  readonly folder: string;
  readonly log: Log;
  readonly onProgress: (line: string) => void;
}

/** Starts a server on a port. Gives it once it takes connections, or what it said when it ended before. */
async function attempt(options: ServerOptions, port: number): Promise<Server | string> {
  const { place, folder, log, onProgress } = options;
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
  const { pid } = child;
  if (pid === undefined) return "it could not be started";
  const guarding = guard(pid, place.account, log);
  let ended = false;
  child.once("exit", () => ended = true);
  const began = performance.now();
  for (let told = began; !ended; await sleep(10)) {
    const file = readPidFile(data);
    if (file?.ready && file.pid === pid) return { child, pid, port, dismissGuard: guarding.dismiss };
    if (performance.now() - told > PATIENCE_MS) {
      told = performance.now();
      onProgress(`PostgreSQL is still starting (${Math.round((told - began) / 1000)} s)`);
    }
  }
  guarding.dismiss();
  return readFileSync(logFile, "utf8").trim().slice(-2_000) || "it said nothing";
}

/** Starts a server on the port asked for, or on a free one where that is 0. Throws `port_taken` or `start_failed`. */
export async function startServer(options: ServerOptions, use: PortUse): Promise<Server> {
  if (use.port !== 0) await checkPort(use);
  for (const began = performance.now();;) {
    const result = await attempt(options, use.port || await freePort());
    if (typeof result !== "string") return result;
    const lostPort = /could not (bind|create any TCP\/IP sockets)/.test(result);
    if (lostPort && use.port !== 0) throw portTaken(use);
    // Processes of a server whose head was killed end with their statement; until then the shared memory is theirs.
    const lingering = result.includes("shared memory block");
    if (!(lostPort || lingering) || performance.now() - began > LINGER_MS) {
      throw explainEnd(join(options.folder, "data"), result) ??
        new EmbeddedError("start_failed", `PostgreSQL ended before it was ready: ${result}`);
    }
    if (lingering) options.onProgress("Waiting for processes of a killed PostgreSQL server to end");
    await sleep(250);
  }
}
