/** Runs the server on a data folder: settings, log, readiness. */
import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { explainOutput } from "#src/embedded/postgres/explain.ts";
import { guardProcess } from "#src/embedded/postgres/guard.ts";
import { launch, type ServerPrograms } from "#src/embedded/postgres/launch.ts";
import { checkPort, freePort, portTaken, type PortUse } from "#src/embedded/postgres/ports.ts";
import { readPidFile, serverMark } from "#src/embedded/postgres/postmaster.ts";

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "shared_buffers=64MB",
  "max_wal_size=512MB",
  "io_method=sync",
  "max_logical_replication_workers=0",
  "jit=off",
  "timezone=UTC",
  "log_timezone=UTC",
  "log_checkpoints=off",
  // errors of a statement go to the client that sent it; in the log, values in them could be secrets
  "log_min_messages=log",
];

/** Connections of a server that one process uses, and of one that many use. */
const CONNECTIONS = { own: "max_connections=200", shared: "max_connections=600" };

/** Settings of a server whose data need not survive a power failure; they survive the end of the server. */
const NOT_DURABLE = ["fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0"];

/** Milliseconds between two lines that the server is still starting; recovery after a crash can take long. */
const REPORT_EVERY_MS = 5_000;

/** Milliseconds that a start is retried: another program took the port, or processes of a killed server still run. */
const RETRY_FOR_MS = 60_000;

/** A server that accepts connections. */
interface RunningServer {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /** Ends the guard process. */
  dismissGuard(): void;
}

/** Options of a start. */
interface ServerOptions {
  readonly place: ServerPrograms;
  /** Folder of `data` and `server.log`. */
  readonly folder: string;
  /** Whether the data must survive a power failure. */
  readonly durable: boolean;
  /** Whether several processes use it: it does not end with this one. */
  readonly shared?: boolean;
  readonly log: Log;
  readonly onProgress: (line: string) => void;
}

/** Starts a server on a port. Gives it once it accepts connections, or its output if it ended before. */
async function tryStart(options: ServerOptions, port: number): Promise<RunningServer | string> {
  const { place, folder, durable, shared = false, log, onProgress } = options;
  const data = join(folder, "data");
  const logFile = join(folder, "server.log");
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  const output = openSync(logFile, "a", 0o600);
  let child: ChildProcess;
  try {
    const connections = CONNECTIONS[shared ? "shared" : "own"];
    const settings = [
      ...[`port=${port}`, serverMark(data), connections],
      ...(durable ? ["fsync=on"] : NOT_DURABLE),
      ...SETTINGS,
    ].flatMap((setting) => ["-c", setting]);
    child = launch(place, "postgres", data, settings, { output, detached: true });
  } finally {
    closeSync(output);
  }
  const { pid } = child;
  if (pid === undefined) return "it could not be started";
  const dismissGuard = shared ? () => {} : guardProcess(pid, place.account, log);
  let ended = false;
  child.once("exit", () => ended = true);
  const began = performance.now();
  for (let reported = began; !ended; await sleep(10)) {
    const file = readPidFile(data);
    if (file?.ready && file.pid === pid) return { child, pid, port, dismissGuard };
    if (performance.now() - reported > REPORT_EVERY_MS) {
      reported = performance.now();
      onProgress(`PostgreSQL is still starting (${Math.round((reported - began) / 1000)} s)`);
    }
  }
  dismissGuard();
  return readFileSync(logFile, "utf8").trim().slice(-2_000) || "no output";
}

/** Starts a server on the given port, or on a free one if that is 0. Throws `port_taken` or `start_failed`. */
export async function startServer(options: ServerOptions, use: PortUse): Promise<RunningServer> {
  if (use.port !== 0) await checkPort(use);
  for (const began = performance.now();;) {
    const result = await tryStart(options, use.port || await freePort());
    if (typeof result !== "string") return result;
    const lostPort = /could not (bind|create any TCP\/IP sockets)/.test(result);
    if (lostPort && use.port !== 0) throw portTaken(use);
    // processes of a server whose main process was killed end with their statement; until then they use the shared
    // memory
    const lingering = result.includes("shared memory block");
    if (!(lostPort || lingering) || performance.now() - began > RETRY_FOR_MS) {
      throw explainOutput(join(options.folder, "data"), result) ??
        new EmbeddedError("start_failed", `PostgreSQL ended before it was ready: ${result}`);
    }
    if (lingering) options.onProgress("Waiting for processes of a killed PostgreSQL server to end");
    await sleep(250);
  }
}
