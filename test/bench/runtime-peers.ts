/**
 * The systems that the runtime is compared with, each in its published form, behind HTTP: Restate's server with a virtual
 * object that counts, a service with steps and delayed calls; DBOS workflows on the same PostgreSQL. Their packages are listed in
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

/** What can be called over HTTP: an addition to a counter, a workflow of steps, a timer. */
export type Call = "counter" | "workflow" | "alarm";

/** Timers that have fired so far, and when the last did, in milliseconds since 1970. */
export interface Fired {
  readonly count: number;
  readonly last: number;
}

export interface Peer {
  readonly name: string;
  /** URL of a call; `ID` stands for an entity's id, `MS` for the time until a timer is due. */
  url(call: Call): string;
  /** Body of a call that sets a timer, due at milliseconds since 1970. */
  alarm(at: number): string;
  fired(): Promise<Fired>;
  /** Its processes, without PostgreSQL. */
  pids(): readonly number[];
  /** Kills what holds the state, and starts it again; resolves at the start. */
  restart(): Promise<void>;
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
  const start = () =>
    spawn(join(cwd, binary), ["--no-logo", "--listen-mode", "tcp"], {
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
  let server = start();
  const failed = once(server, "error").then(([error]) => error as Error);
  const kill = async () => {
    const exited = once(server, "exit");
    if (server.exitCode !== null || server.signalCode !== null) return;
    process.kill(server.pid!, "SIGKILL");
    await exited;
  };
  const stop = async () => {
    await kill();
    await rm(data, { recursive: true, force: true });
  };
  try {
    const service = await startChild<{ port: number }, null, Fired>("restate", null, ["node", join(cwd, "service.js")]);
    const uri = `http://127.0.0.1:${service.ready.port}`;
    const register = async () =>
      await fetch(`http://127.0.0.1:${admin}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uri }),
      });
    const urls: Readonly<Record<Call, string>> = {
      counter: "/counter/ID/add",
      workflow: "/workflow/run",
      alarm: "/alarm/ring/send?delay=MSms",
    };
    const url = (call: Call) => `http://127.0.0.1:${ingress}${urls[call]}`;
    await answers(async () => (await register()).ok, failed);
    await answers(async () => (await add(url("counter"))).ok, failed);
    return {
      name: "Restate",
      url,
      alarm: () => "{}",
      fired: () => service.ask(null),
      pids: () => [server.pid!, service.pid],
      restart: async () => {
        await kill();
        server = start();
      },
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
  const [port] = await freePorts(1) as [number];
  const start = () =>
    startChild<null, null, Fired>("dbos", null, ["node", "--no-deprecation", join(cwd, "app.js")], {
      PEER_DATABASE_URL: url.href,
      PEER_PORT: String(port),
    });
  let app = await start();
  const urls: Readonly<Record<Call, string>> = { counter: "add", workflow: "run", alarm: "set" };
  return {
    name: "DBOS",
    url: (call) => `http://127.0.0.1:${port}/${call}/ID/${urls[call]}`,
    alarm: (at) => JSON.stringify({ at }),
    fired: () => app.ask(null),
    pids: () => [app.pid],
    restart: async () => {
      app.signal("SIGKILL");
      await app.exited;
      void start().then((fresh) => app = fresh);
    },
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
