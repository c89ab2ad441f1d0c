/** A pgbouncer in front of a PostgreSQL server, with Debian's defaults but for the size of its pool. */
import { spawn, spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { until } from "../base/until.ts";
import { endChild } from "../base/processes.ts";

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** The version of the installed pgbouncer; undefined, with a message, if there is none. */
export function findPgbouncer(): string | undefined {
  const { status, stdout } = spawnSync("pgbouncer", ["--version"], { env });
  if (status === 0) return stdout.toString().split("\n")[0];
  console.warn("SKIPPED: no pgbouncer is installed. On Debian: apt-get install pgbouncer.");
  return undefined;
}

export interface Pgbouncer {
  /** URL of the server's database `postgres` through it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts one for the server at a URL. */
export async function startPgbouncer(url: string, mode: "session" | "transaction" | "statement"): Promise<Pgbouncer> {
  const { username, password, port: server } = new URL(url);
  const folder = await mkdtemp(join(tmpdir(), "arbor-pgbouncer-"));
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  await writeFile(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${server} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 80
`,
  );
  const child = spawn("pgbouncer", [...process.getuid?.() === 0 ? ["-u", "nobody"] : [], "-q", file], {
    env,
    stdio: ["ignore", "ignore", process.env.ARBOR_TEST_OUTPUT ? "inherit" : "ignore"],
  });
  await until("pgbouncer listens", async () => {
    const socket = connect(port, "127.0.0.1");
    const listens = await once(socket, "connect").then(() => true, () => false);
    socket.destroy();
    return listens;
  });
  return {
    url: `postgres://${username}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await endChild(child, "SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
