/**
 * A restore to a point in time, as a drill: a server with archived WAL is backed up, used, lost, and restored on a second
 * server to a point before its last transitions. A subscriber follows all the time, and may take no event for another one.
 *
 * The server is a new one, or a copy of a given database, which is read only: it is backed up, and its copy runs without
 * workers, so that nothing is sent to a network, to wallets or to webhooks.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "#src/base/log.ts";
import { dataOf, follow } from "#src/client/sse.ts";
import { schemaMigrations } from "#src/app/schema.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import type { TransitionEvent } from "#src/operators/api/events.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import type { Generation } from "#src/runtime/events/generation.ts";
import { checkGeneration } from "#src/runtime/events/restored.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { until } from "../support/base/until.ts";
import {
  type PostgresServer,
  startFromBackup,
  startInstalledServer,
  takeBackup,
  walArchive,
} from "../support/infra/postgresServer.ts";
import { accountMachine } from "../support/runtime/account.ts";
import { serveParts } from "../support/runtime/operatorParts.ts";

export interface DrillOptions {
  /** Folder above `bin` with PostgreSQL's programs, of the major version of `databaseUrl`. */
  readonly native: string;
  /** A database to back up, by an account that may replicate; by default a new one. */
  readonly databaseUrl?: string | undefined;
  /** Called with each step when it has ended, and its duration in milliseconds. */
  readonly onStep?: (step: string, ms: number) => void;
}

export interface DrillReport {
  /** What was checked, and whether it held. */
  readonly checks: readonly { readonly what: string; readonly held: boolean }[];
  /** Time from the loss of the server to the answers of the restored one, in milliseconds. */
  readonly restoreMs: number;
  readonly generation: Generation;
}

const KIND = "drill";
const POINT = "arbor_drill";

/** A subscriber: the newest event of each actor, and what each id meant when it was first received. */
class Subscriber {
  readonly newest = new Map<string, TransitionEvent>();
  readonly restored: string[] = [];
  /** Ids that came with two different events. */
  readonly confused: string[] = [];
  last: string | undefined;
  readonly #meanings = new Map<string, string>();
  #ended = new AbortController();
  #done = Promise.resolve();

  follow(service: string): void {
    this.#ended = new AbortController();
    const url = `${service}/events?kind=${KIND}&from=start`;
    this.#done = this.#read(follow(url, { signal: this.#ended.signal, after: this.last, retryMs: 50 }));
  }

  async #read(items: ReturnType<typeof follow>): Promise<void> {
    for await (const item of items) {
      if (item.type === "restored") {
        this.restored.push(item.restoredTo);
        this.newest.clear();
      }
      if (item.type !== "event" || item.event.event !== "transition") continue;
      const event = dataOf<TransitionEvent>(item);
      const meaning = JSON.stringify([event.data, event.time]);
      if ((this.#meanings.get(event.id) ?? meaning) !== meaning) this.confused.push(event.id);
      this.#meanings.set(event.id, meaning);
      this.newest.set(event.data.entity.id, event);
      this.last = item.event.id;
    }
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#done;
  }
}

/** The event service on a database, without workers. */
async function serveEvents(url: string) {
  const store = openStore(url, { max: 4, application: "arbor drill" });
  const migrated = await migrateWhole(store, schemaMigrations);
  if (!migrated.ok) throw new Error(migrated.error.message);
  const generation = await checkGeneration(store);
  const endpoint = await startNatsEndpoint({ port: 0, token: "drill", log: silentLog });
  const bus = await connectBus({ url: endpoint.url, token: "drill" });
  const events = createEventLog({ store, bus, log: silentLog, pollMs: 50 });
  const service = await serveParts(eventRoutes({ events, kinds: [{ kind: KIND, machine: accountMachine }] }));
  const stop = async () => {
    events.close();
    await service.stop();
    await bus.close();
    await endpoint.stop();
    await store.close();
  };
  return { store, generation, url: service.url, stop };
}

/** Writes the next transition of some actors, as turns do. */
async function write({ sql }: Store, actors: readonly string[], cause: string): Promise<void> {
  for (const id of actors) {
    await sql`
      insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, published)
      select ${KIND}, ${id}, coalesce(max(version), 0) + 1, 0, 'a', 'b', 'GO', ${cause}, '{"type":"GO"}',
        clock_timestamp(), true from outbox where kind = ${KIND} and id = ${id}`;
  }
}

/** The newest transition of each actor in a database, as a subscriber knows it. */
async function newestIn({ sql }: Store): Promise<string> {
  const rows = await sql<{ id: string; version: bigint; cause: string }[]>`
    select distinct on (id) id, version, cause from outbox where kind = ${KIND} order by id, version desc`;
  return rows.map(({ id, version, cause }) => `${id} ${version} ${cause}`).join();
}

const newestOf = ({ newest }: Subscriber) =>
  [...newest.values()].map(({ data: { entity, version, cause } }) => `${entity.id} ${version} ${cause}`).sort().join();

/** Runs the drill; it stops its servers and deletes their data. */
export async function drillRestore({ native, databaseUrl, onStep = () => {} }: DrillOptions): Promise<DrillReport> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-drill-"));
  const archive = await walArchive();
  const stops: (() => Promise<unknown>)[] = [
    ...[folder, archive.folder].map((one) => () => rm(one, { recursive: true, force: true })),
  ];
  let began = performance.now();
  const step = (name: string) => {
    onStep(name, performance.now() - began);
    began = performance.now();
  };
  const on = async (server: PostgresServer, path: string) => {
    stops.push(() => server.stop());
    const url = new URL(server.url);
    url.pathname = path;
    const served = await serveEvents(url.href);
    stops.push(() => served.stop());
    return served;
  };
  const subscriber = new Subscriber();
  try {
    let original: PostgresServer;
    const given = databaseUrl === undefined ? undefined : new URL(databaseUrl);
    const path = given?.pathname ?? "/postgres";
    if (databaseUrl === undefined || given === undefined) {
      original = await startInstalledServer(native, archive.settings);
      step("a new server with archived WAL");
    } else {
      await takeBackup(native, databaseUrl, join(folder, "copy"));
      original = await startFromBackup(native, join(folder, "copy"), given.password, archive.settings);
      step("a base backup of the database, and a copy of it with archived WAL");
    }
    if (given) original = { ...original, url: withAccount(original.url, given) };
    const first = await on(original, path);
    await takeBackup(native, original.url, join(folder, "base"));
    step("a base backup");

    subscriber.follow(first.url);
    await write(first.store, ["kept", "both"], "before");
    await until("the subscriber has them", async () => newestOf(subscriber) === await newestIn(first.store));
    const early = subscriber.last;
    await first.store.sql`select pg_create_restore_point(${POINT})`;
    await write(first.store, ["both", "lost", "both"], "lost");
    await until("the subscriber has them", async () => newestOf(subscriber) === await newestIn(first.store));
    const lost = subscriber.last;
    await subscriber.stop();
    await archived(first.store);
    step("transitions before and after the point, which the subscriber has seen");

    const lostAt = performance.now();
    for (const stop of stops.splice(2).reverse()) await stop();
    const password = new URL(original.url).password;
    const point = { archive: archive.folder, name: POINT };
    let restored = await startFromBackup(native, join(folder, "base"), password, [], point);
    if (given) restored = { ...restored, url: withAccount(restored.url, given) };
    const second = await on(restored, path);
    const restoreMs = performance.now() - lostAt;
    step("the server is lost, and restored to the point on a second one");

    const statusAt = async (position: string | undefined) => {
      const { status, body } = await fetch(`${second.url}/events`, { headers: { "last-event-id": position ?? "" } });
      await body?.cancel();
      return status;
    };
    const statuses = [await statusAt(early), await statusAt(lost)];
    subscriber.follow(second.url);
    await write(second.store, ["both", "kept", "new"], "after");
    const agrees = await until(
      "the subscriber agrees",
      async () => newestOf(subscriber) === await newestIn(second.store),
      20_000,
    ).then(() => true, () => false);
    step("transitions after the restore");
    return {
      restoreMs,
      generation: second.generation,
      checks: [
        {
          what: "the start noticed the restore and began a generation",
          held: second.generation.n > first.generation.n,
        },
        { what: "a position from before the point goes on", held: statuses[0] === 200 },
        { what: "a position from after the point is refused (409 restored)", held: statuses[1] === 409 },
        { what: "the server told the subscriber once to begin again", held: subscriber.restored.length === 1 },
        { what: "no id named two different events", held: subscriber.confused.length === 0 },
        { what: "the subscriber's state equals the database", held: agrees },
      ],
    };
  } finally {
    await subscriber.stop();
    for (const stop of stops.reverse()) await stop();
  }
}

/** The URL of a copy with the account of the original. */
function withAccount(copy: string, { username, password }: URL): string {
  const url = new URL(copy);
  Object.assign(url, { username, password });
  return url.href;
}

/** Closes the current segment of WAL, and waits until it is in the archive. */
async function archived({ sql }: Store): Promise<void> {
  const [row] = await sql<{ segment: string }[]>`select pg_walfile_name(pg_switch_wal()) as segment`;
  await until(
    "the WAL is archived",
    async () => (await sql`select from pg_stat_archiver where last_archived_wal >= ${row?.segment ?? ""}`).length > 0,
    30_000,
  );
}
