/**
 * The systems that the runtime is compared with, each in its published form, with a counter behind HTTP: Restate's
 * server and a virtual object, and a DBOS workflow with one step on the same PostgreSQL. Their packages are listed in
 * test/peers and installed from npm if missing.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { sleep } from "#src/base/clock.ts";
import { openStore } from "#src/store/store.ts";
import { startChild } from "./runtime-child.ts";

export interface Peer {
  readonly name: string;
  /** URL of its counters; `ID` stands for a counter's id. */
  readonly url: string;
  /** Its processes, without PostgreSQL. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const folder = (name: string) => fileURLToPath(new URL(`../peers/${name}/`, import.meta.url));

/** Starts the available peers; prints which are not. */
export async function startPeers(databaseUrl: string, print: (line: string) => void): Promise<Peer[]> {
  const peers: Peer[] = [];
  for (const [name, start] of [["Restate", startRestate], ["DBOS", startDbos]] as const) {
    try {
      peers.push(await start(databaseUrl));
    } catch (error) {
      print(`${name} is SKIPPED: ${error instanceof Error ? error.message : error}`);
    }
  }
  return peers;
}

/** Installs a peer's packages with npm, once. */
async function install(peer: string): Promise<string> {
  const cwd = folder(peer);
  if (existsSync(join(cwd, "node_modules"))) return cwd;
  const npm = spawn("npm", ["install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await Promise.race([once(npm, "exit"), once(npm, "error").then(([error]) => Promise.reject(error))]);
  if (code !== 0) {
    await rm(join(cwd, "node_modules"), { recursive: true, force: true });
    throw new Error(`npm could not install ${peer}`);
  }
  return cwd;
}

async function startRestate(): Promise<Peer> {
  const cwd = await install("restate");
  const data = await mkdtemp(join(tmpdir(), "arbor-restate-"));
  const [ingress, admin, node] = await freePorts(3) as [number, number, number];
  // The package's own script would leave the server running when it is killed.
  const binary = `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
  const server = spawn(join(cwd, binary), ["--no-logo", "--listen-mode", "tcp"], {
    stdio: "ignore",
    env: {
      ...process.env,
      RESTATE_BASE_DIR: data,
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LOG_FILTER: "error",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
    },
  });
  const failed = once(server, "error").then(([error]) => error as Error);
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) process.kill(server.pid!, "SIGKILL");
    await rm(data, { recursive: true, force: true });
  };
  try {
    const service = await startChild<{ port: number }>("restate", null, ["node", join(cwd, "service.js")]);
    const uri = `http://127.0.0.1:${service.ready.port}`;
    const register = async () =>
      await fetch(`http://127.0.0.1:${admin}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uri }),
      });
    const url = `http://127.0.0.1:${ingress}/counter/ID/add`;
    await answers(async () => (await register()).ok, failed);
    await answers(async () => (await add(url)).ok, failed);
    return {
      name: "Restate",
      url,
      pids: [server.pid!, service.pid],
      stop: async () => {
        service.signal("SIGKILL");
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startDbos(databaseUrl: string): Promise<Peer> {
  const cwd = await install("dbos");
  const url = new URL(databaseUrl);
  const name = "peer_dbos";
  const admin = openStore(databaseUrl, { max: 1 });
  await admin.sql.unsafe(`create database ${name}`);
  await admin.close();
  url.pathname = `/${name}`;
  const app = await startChild<{ port: number }>("dbos", null, ["node", "--no-deprecation", join(cwd, "app.js")], {
    PEER_DATABASE_URL: url.href,
  });
  return {
    name: "DBOS",
    url: `http://127.0.0.1:${app.ready.port}/counter/ID/add`,
    pids: [app.pid],
    stop: () => Promise.resolve(app.signal("SIGKILL")),
  };
}

async function add(url: string): Promise<Response> {
  return await fetch(url.replace("ID", "first"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"amount":1}',
  });
}

async function answers(holds: () => Promise<boolean>, failed: Promise<Error>): Promise<void> {
  let gone: Error | undefined;
  failed.then((error) => gone = error);
  for (let tries = 0; tries < 200; tries++) {
    if (gone !== undefined) throw gone;
    if (await holds().catch(() => false)) return;
    await sleep(100);
  }
  throw new Error("it does not answer");
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
