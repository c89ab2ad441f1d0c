/** NATS servers that are stopped and restarted on the same address: installed ones, and the embedded endpoint. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { connect, type ConnectionOptions } from "nats";
import { sleep } from "#src/base/clock.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { endChild, runScript } from "../base/processes.ts";

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** Whether a nats-server is installed; prints a message if there is none. */
export function hasNatsServer(): boolean {
  const found = spawnSync("nats-server", ["--version"], { env }).status === 0;
  if (!found) {
    console.warn(
      "SKIPPED: no nats-server is installed, what needs JetStream is not tested. On Debian: apt-get install nats-server.",
    );
  }
  return found;
}

export interface NatsServer {
  readonly url: string;
  /** The token that grants all permissions; undefined if none is required. */
  readonly token: string | undefined;
  /** Restarts it after `kill` or `end`; with JetStream, if the server has it, unless `jetstream` is false. */
  start(jetstream?: boolean): Promise<void>;
  /** Sends its process a signal: stopped, it keeps its connections and answers nothing. */
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM. */
  end(): Promise<void>;
  /** Stops it and deletes its files. */
  stop(): Promise<void>;
}

/** A server that a function starts, on a fixed port. */
async function serverOf(
  port: number,
  token: string | undefined,
  spawned: (jetstream: boolean) => ChildProcess,
  jetstream: boolean,
  client: ConnectionOptions = {},
): Promise<NatsServer> {
  const url = `nats://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const start = async (withStream = true) => {
    child = spawned(withStream);
    for (let tries = 0;; tries++) {
      try {
        const connection = await connect({
          servers: url,
          reconnect: false,
          timeout: 1_000,
          ...client,
          ...(token === undefined ? {} : { token }),
        });
        await connection.close();
        return;
      } catch (error) {
        if (tries > 100) throw error;
        await sleep(50);
      }
    }
  };
  const leave = async (signal: "SIGKILL" | "SIGTERM") => {
    if (child === undefined) return;
    const ending = child;
    child = undefined;
    await endChild(ending, signal);
  };
  await start(jetstream);
  return {
    url,
    token,
    start,
    // Deno's own kill of a child sends only the first signal
    signal: (name) => {
      if (child) process.kill(child.pid!, name);
    },
    kill: () => leave("SIGKILL"),
    end: () => leave("SIGTERM"),
    stop: () => leave("SIGKILL"),
  };
}

const output = process.env.ARBOR_TEST_OUTPUT ? "inherit" : "ignore";

/** Starts a nats-server on a free port of loopback. */
export async function startNatsServer(
  jetstream = true,
  more: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
  /** With what its readiness is checked, where a client without credentials cannot connect. */
  client: ConnectionOptions = {},
): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-nats-"));
  const port = await freePort();
  const server = await serverOf(
    port,
    undefined,
    (withStream) => {
      const stream = withStream ? ["-js", "-sd", folder] : [];
      const args = ["-a", "127.0.0.1", "-p", String(port), ...stream, ...more];
      return spawn("nats-server", args, { stdio: ["ignore", "ignore", output], env: { ...env, ...variables } });
    },
    jetstream,
    client,
  );
  return {
    ...server,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a cluster of nats-servers with JetStream. */
export async function startNatsCluster(size: number): Promise<readonly NatsServer[]> {
  const routes: number[] = [];
  while (routes.length < size) routes.push(await freePort());
  const urls = routes.map((port) => `nats://127.0.0.1:${port}`);
  return await Promise.all(urls.map((url, i) =>
    startNatsServer(true, [
      ...["-n", `nats${i + 1}`, "--cluster_name", "arbor-test"],
      ...["--cluster", url, "--routes", urls.join(",")],
    ])
  ));
}

/** Starts the product's embedded endpoint, as a process. */
export async function startEndpointProcess(): Promise<NatsServer> {
  const port = await freePort();
  const token = randomBytes(16).toString("hex");
  return await serverOf(port, token, () => runScript("infra/natsProcess.ts", "ARBOR_TEST_NATS", { port, token }), true);
}
