/** A real nats-server, where one is installed: with JetStream, ended and started again at the same place. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { connect } from "nats";
import { sleep } from "#src/base/clock.ts";

/** Whether there is a nats-server to start; says aloud when there is none. */
export function hasNatsServer(): boolean {
  const found = [...(process.env.PATH ?? "").split(":"), "/usr/sbin"].some((folder) =>
    spawnSync(join(folder, "nats-server"), ["--version"]).status === 0
  );
  if (!found) console.warn("SKIPPED: no nats-server is installed; what needs JetStream is not tested");
  return found;
}

export interface NatsServer {
  readonly url: string;
  /** Starts it again after `kill` or `end`; with JetStream unless said otherwise. */
  start(jetstream?: boolean): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM. */
  end(): Promise<void>;
  /** Ends it and deletes its files. */
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a nats-server on a free port of loopback. */
export async function startNatsServer(jetstream = true): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-nats-"));
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  let child: ReturnType<typeof spawn> | undefined;
  const start = async (withStream = true) => {
    child = spawn(
      "nats-server",
      ["-a", "127.0.0.1", "-p", String(port), ...(withStream ? ["-js", "-sd", folder] : [])],
      {
        stdio: ["ignore", "ignore", process.env.ARBOR_TEST_OUTPUT ? "inherit" : "ignore"],
        env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
      },
    );
    for (let tries = 0;; tries++) {
      try {
        const connection = await connect({ servers: url, reconnect: false, timeout: 1_000 });
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
    if (ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, "exit");
    process.kill(ending.pid!, signal);
    await exited;
  };
  await start(jetstream);
  return {
    url,
    start,
    kill: () => leave("SIGKILL"),
    end: () => leave("SIGTERM"),
    stop: async () => {
      await leave("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
