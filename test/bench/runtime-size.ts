/** Memory of a worker, and how soon workers answer again after a restart of all, by the number of entities. */
import { startCluster } from "./runtime-cluster.ts";
import { residentMb } from "./runtime-cpu.ts";

export interface Sizes {
  readonly known: number;
  readonly active: number;
  /** Resident memory of the worker, in MB. */
  readonly memory: number;
  /** The rows of the entities and their indexes, in MB. */
  readonly rows: number;
}

export interface Restart {
  readonly known: number;
  readonly after: "SIGTERM" | "SIGKILL";
  /** From the start of the new process, in milliseconds. */
  readonly first: number;
  readonly thousand: number;
}

/** Measures one worker without entities, with `active` ones in memory, and with `known` ones in the database. */
export async function measureSizes(
  serverUrl: string,
  active: number,
  known: number,
): Promise<{ sizes: Sizes[]; restarts: Restart[] }> {
  const cluster = await startCluster(serverUrl, "bench_sizes", 1);
  const sizes: Sizes[] = [];
  const restarts: Restart[] = [];
  const ask = (prefix: string, entities: number) =>
    cluster.clients.ask({ prefix, entities, clients: 64, ms: 0, once: true });
  const memory = async (known: number, active: number) => {
    const [row] = await cluster.store.sql<{ mb: number }[]>`
      select pg_total_relation_size('actor') / 1048576.0::float8 as mb`;
    sizes.push({ known, active, memory: residentMb(cluster.workers[0]!.pid), rows: row!.mb });
  };
  const restart = async (known: number, after: "SIGTERM" | "SIGKILL") => {
    const [old] = cluster.workers.splice(0);
    old!.signal(after);
    await old!.exited;
    const begun = performance.now();
    const fresh = cluster.addWorker();
    const loaded = await ask("e", 1_000);
    const thousand = performance.now() - begun;
    restarts.push({ known, after, first: thousand - loaded.seconds * 1_000 + loaded.first, thousand });
    await fresh;
    await cluster.settled(1);
  };
  try {
    await ask("warm", 500);
    await memory(500, 500);
    await ask("e", active);
    await memory(active + 500, active + 500);
    await restart(active, "SIGTERM");
    await restart(active, "SIGKILL");
    // The rows that this many commands would have left, without waiting for them.
    await cluster.store.sql`
      insert into actor (kind, id, partition, version, input_seq, snapshot, machine_version, state)
      select kind, 'x' || n, n % 64, version, input_seq, snapshot, machine_version, state
      from (select * from actor where id = 'e0') a, generate_series(1, ${known - active}::int) n`;
    await restart(known, "SIGTERM");
    await memory(known, 1_000);
    await restart(known, "SIGKILL");
    return { sizes, restarts };
  } finally {
    await cluster.stop();
  }
}
