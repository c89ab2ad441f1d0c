/**
 * PostgreSQL on one machine: server programs from npm, data in a folder, a loopback port.
 *
 * Assumptions: one process at a time uses the folder (`lock.ts`). The server runs in its own session, so that Ctrl-C
 * reaches only this process and services end before their database. A server left by an earlier process is stopped
 * first. The server recovers by itself from being killed, because fsync and synchronous_commit stay on.
 */
import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { createFolder } from "#src/base/createFolder.ts";
import { fileFault } from "#src/base/fileFault.ts";
import type { Log } from "#src/base/log.ts";
import { serverAccount } from "#src/embedded/postgres/account.ts";
import { findBinaries } from "#src/embedded/postgres/binaries.ts";
import { createCluster, DATABASE_USER, readPassword } from "#src/embedded/postgres/cluster.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { lockFolder } from "#src/embedded/postgres/lock.ts";
import { readPidFile, stopLeftover, stopServer } from "#src/embedded/postgres/postmaster.ts";
import { startServer } from "#src/embedded/postgres/server.ts";

interface PostgresOptions {
  /** Folder for the data, the password and the server's log; created if missing. */
  readonly folder: string;
  /** Port on 127.0.0.1; a free one by default. */
  readonly port?: number;
  /** The option that sets the port, for the message when it is taken. */
  readonly portOption?: string;
  /** Whether the data must survive a power failure; true by default. They survive the end of the server in any case. */
  readonly durable?: boolean;
  readonly log: Log;
  /** Gets a line for people when something takes long. */
  readonly onProgress?: (line: string) => void;
}

/** A running server. */
export interface EmbeddedPostgres {
  /** `postgres://…` with the password, for the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** Resolves with a message when the server ends without `stop`; otherwise stays pending. */
  readonly lost: Promise<string>;
  /** Shuts the server down with everything written, and unlocks the folder. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on a folder, with the data that is there.
 *
 * @throws EmbeddedError `in_use` (another process uses the folder), `port_taken`, `no_binaries`, `not_reachable`,
 *   `no_space`, `other_version`, `start_failed`
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { log } = options;
  const onProgress = options.onProgress ?? (() => {});
  if (process.platform === "win32") {
    throw new EmbeddedError("no_binaries", "PostgreSQL is not embedded on Windows; set DATABASE_URL to use a server.");
  }
  try {
    createFolder(options.folder, 0o755);
  } catch (error) {
    throw new EmbeddedError("not_reachable", `${resolve(options.folder)} cannot be created: ${fileFault(error)}.`);
  }
  const folder = realpathSync(options.folder);
  const lock = await lockFolder(folder);
  try {
    const data = join(folder, "data");
    const account = serverAccount(data);
    const place = { account, native: findBinaries(account, folder, onProgress) };
    if (existsSync(join(data, "PG_VERSION"))) await stopLeftover(data, log);
    else onProgress(`Creating a PostgreSQL database in ${folder}`);
    await createCluster(folder, place);
    const password = readPassword(folder);
    const use = { service: "PostgreSQL", port: options.port ?? 0, option: options.portOption ?? "--postgres-port" };
    const { child, pid, port, dismissGuard } = await startServer(
      { place, folder, durable: options.durable ?? true, log, onProgress },
      use,
    );
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
        if (!await stopServer(pid, log)) log.error("PostgreSQL could not be stopped", { pid });
      }
      dismissGuard();
      lock.release();
    };
    log.debug("PostgreSQL takes connections", { port, pid, folder });
    return {
      url: urlOf(password, port),
      port,
      lost,
      stop: () => stopping ??= stop(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * The URL of the server that another process runs on a folder, with the password; undefined where none takes connections.
 *
 * @throws EmbeddedError `not_reachable` where this user cannot read the password
 */
export function runningPostgres(folder: string): string | undefined {
  const server = readPidFile(join(folder, "data"));
  return server?.ready ? urlOf(readPassword(folder), server.port) : undefined;
}

/** The URL of a server's database `postgres`. */
export const urlOf = (password: string, port: number): string =>
  `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/postgres`;
