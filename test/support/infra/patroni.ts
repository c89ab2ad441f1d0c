/** Two PostgreSQL servers that Patroni manages, with one etcd. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { serverAccount } from "#src/embedded/postgres/account.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { until } from "../base/until.ts";
import { endChild } from "../base/processes.ts";

/** Whether Patroni and etcd are installed; prints a message if not. */
export function hasPatroni(): boolean {
  const found = ["patroni", "etcd"].every((program) => spawnSync(program, ["--version"]).status === 0);
  if (!found) console.warn("SKIPPED: no Patroni is installed. On Debian: apt-get install patroni etcd-server.");
  return found;
}

export interface PatroniCluster {
  /** Both servers. */
  readonly url: string;
  /** SIGKILL of the PostgreSQL that is the primary; Patroni goes on. */
  killPrimary(): Promise<void>;
  /** SIGKILL of the primary and its Patroni, as when a machine is lost. */
  killMachine(): Promise<void>;
  /** A planned change of the primary. */
  switchOver(): Promise<void>;
  stop(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly port: number;
  readonly rest: number;
  readonly data: string;
  readonly patroni: ChildProcess;
}

/** Time in s after which a leader that does not renew its lock is replaced; Patroni takes no less. */
const TTL_S = 20;

/** Starts them with synchronous replication; resolves when the replica is synchronous. */
export async function startPatroni(native: string): Promise<PatroniCluster> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-patroni-"));
  await chmod(folder, 0o755);
  const account = serverAccount(folder);
  const own = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  const place = async (name: string) => {
    const path = join(folder, name);
    await mkdir(path, { mode: 0o700 });
    if (account) chownSync(path, account.uid, account.gid);
    return path;
  };
  const stdio = ["ignore", "ignore", process.env.ARBOR_TEST_OUTPUT ? "inherit" : "ignore"] as const;
  const start = (program: string, ...args: string[]) =>
    spawn(program, args, { ...own, stdio: [...stdio], cwd: folder });
  const [clients, peers] = [await freePort(), await freePort()];
  const at = `http://127.0.0.1:${clients}`;
  const etcd = start("etcd", ...[
    ...["--data-dir", await place("etcd"), "--listen-client-urls", at, "--advertise-client-urls", at],
    ...[
      "--listen-peer-urls",
      `http://127.0.0.1:${peers}`,
      "--initial-advertise-peer-urls",
      `http://127.0.0.1:${peers}`,
    ],
    ...["--initial-cluster", `default=http://127.0.0.1:${peers}`],
  ]);
  const member = async (name: string): Promise<Member> => {
    const home = await place(name);
    const [port, rest] = [await freePort(), await freePort()];
    const file = join(folder, `${name}.json`);
    // JSON is YAML
    await writeFile(
      file,
      JSON.stringify({
        scope: "arbor",
        name,
        restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
        etcd3: { host: `127.0.0.1:${clients}` },
        bootstrap: {
          dcs: {
            ttl: TTL_S,
            loop_wait: 1,
            retry_timeout: 3,
            master_start_timeout: 0,
            synchronous_mode: true,
            postgresql: { use_pg_rewind: true, parameters: { max_connections: 200 } },
          },
          initdb: [{ encoding: "UTF8" }, "data-checksums"],
          pg_hba: ["host all all 127.0.0.1/32 scram-sha-256", "host replication all 127.0.0.1/32 scram-sha-256"],
        },
        postgresql: {
          listen: `127.0.0.1:${port}`,
          connect_address: `127.0.0.1:${port}`,
          data_dir: join(home, "data"),
          bin_dir: join(native, "bin"),
          pgpass: join(home, "pgpass"),
          authentication: {
            superuser: { username: "arbor", password: "secret" },
            replication: { username: "replicator", password: "secret" },
          },
          parameters: { unix_socket_directories: home, password_encryption: "scram-sha-256" },
        },
      }),
    );
    return { name, port, rest, data: join(home, "data"), patroni: start("patroni", file) };
  };
  const hasRole = async ({ rest }: Member, role: string) =>
    await fetch(`http://127.0.0.1:${rest}/${role}`).then(({ status }) => status === 200, () => false);
  const members = [await member("one")];
  await until("a primary", () => hasRole(members[0]!, "primary"), 90_000);
  members.push(await member("two"));
  await until("a synchronous replica", () => hasRole(members[1]!, "synchronous"), 90_000);
  const primary = async () => {
    for (const one of members) {
      if (await hasRole(one, "primary")) return one;
    }
    throw new Error("no member is the primary");
  };
  const endServer = ({ data }: Member) => {
    const file = join(data, "postmaster.pid");
    if (!existsSync(file)) return;
    const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
    if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
  };
  return {
    url: `postgres://arbor:secret@${members.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres`,
    killPrimary: async () => endServer(await primary()),
    killMachine: async () => {
      const member = await primary();
      await endChild(member.patroni, "SIGKILL");
      endServer(member);
    },
    switchOver: async () => {
      const { name, rest } = await primary();
      const answer = await fetch(`http://127.0.0.1:${rest}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: name }),
      });
      if (!answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`);
    },
    stop: async () => {
      for (const member of members) {
        await endChild(member.patroni, "SIGKILL");
        endServer(member);
      }
      await endChild(etcd, "SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
