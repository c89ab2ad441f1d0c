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
import { startProxy } from "./tcpProxy.ts";

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

/** A server with JetStream of this machine. */
export interface InstalledNats extends NatsServer {
  /** Deletes what its streams hold, after `kill`. */
  wipe(): Promise<void>;
}

/** A member of a cluster. */
export interface NatsMember extends InstalledNats {
  /** Separates it from the other members, while its clients stay connected; ended by `rejoin`. */
  part(): void;
  rejoin(): Promise<void>;
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
): Promise<InstalledNats> {
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
    wipe: () => rm(folder, { recursive: true, force: true }),
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a cluster of nats-servers with JetStream. Each route from one to another has a proxy; they advertise an address
 * that does not answer, so that no server finds a way around it.
 */
export async function startNatsCluster(size: number): Promise<readonly NatsMember[]> {
  const routes: number[] = [];
  while (routes.length < size) routes.push(await freePort());
  const proxies = await Promise.all(
    routes.map((_, from) =>
      Promise.all(routes.map((port, to) => from === to ? undefined : startProxy({ host: "127.0.0.1", port })))
    ),
  );
  return await Promise.all(routes.map(async (port, i) => {
    const urls = proxies[i]!.flatMap((proxy) => proxy === undefined ? [] : `nats://127.0.0.1:${proxy.port}`);
    const server = await startNatsServer(true, [
      ...["-n", `nats${i + 1}`, "--cluster_name", "arbor-test", "--cluster", `nats://127.0.0.1:${port}`],
      ...["--routes", urls.join(","), "--cluster_advertise", `127.0.0.1:${await freePort()}`],
    ]);
    const between = [...proxies[i]!, ...proxies.map((row) => row[i])].filter((proxy) => proxy !== undefined);
    return {
      ...server,
      part: () => between.forEach((proxy) => proxy.freeze()),
      rejoin: async () => void await Promise.all(between.map((proxy) => proxy.mend())),
      stop: async () => {
        await server.stop();
        await Promise.all(proxies[i]!.map((proxy) => proxy?.cut()));
      },
    };
  }));
}

/** Starts the product's embedded endpoint, as a process. */
export async function startEndpointProcess(): Promise<NatsServer> {
  const port = await freePort();
  const token = randomBytes(16).toString("hex");
  return await serverOf(port, token, () => runScript("infra/natsProcess.ts", "ARBOR_TEST_NATS", { port, token }), true);
}
