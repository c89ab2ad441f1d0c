/**
 * PostgreSQL for one machine: real server programs from npm, under a folder of ours, on a loopback port.
 *
 * Hypotheses: one process at a time has the folder open (`lock.ts`); the server is a process of its own session, so that a
 * Ctrl-C reaches us alone and the services end before their database; whatever an earlier process left running is stopped, and
 * the server recovers by itself from any way it was killed, because fsync and synchronous_commit stay on.
 */
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { type Log, reason } from "#src/base/log.ts";
import { serverAccount } from "#src/embedded/account.ts";
import { findBinaries } from "#src/embedded/binaries.ts";
import { createCluster, DATABASE_USER, readPassword } from "#src/embedded/cluster.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";
import { holdFolder } from "#src/embedded/lock.ts";
import { endLeftover, endServer } from "#src/embedded/postmaster.ts";
import { startServer } from "#src/embedded/server.ts";

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

/**
 * Starts PostgreSQL on a folder, with the data that is there. Throws an `EmbeddedError`: `in_use` where another process has
 * the folder, `port_taken`, `no_binaries`, `not_reachable`, `no_space`, `other_version`, `start_failed`.
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
    const use = { service: "PostgreSQL", port: options.port ?? 0, option: options.portOption ?? "--postgres-port" };
    const { child, pid, port, dismissGuard } = await startServer({ place, folder, log, onProgress }, use);
    let stopping: Promise<void> | undefined;
    const lost = new Promise<string>((resolve) => {
      const gone = (code: number | null, signal: string | null) => {
        dismissGuard();
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
      dismissGuard();
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
