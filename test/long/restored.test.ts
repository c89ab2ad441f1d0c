/**
 * Restores of real servers: to a point in time from archived WAL, to an older copy of the data, and onto a new timeline
 * without a loss; with the whole service, a nats-server and subscribers.
 */
import { connect, type NatsConnection } from "nats";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLog, silentLog } from "#src/base/log.ts";
import { type ActorEvent, FactReplica } from "#src/client/factReplica.ts";
import { OperatorClient } from "#src/client/operators.ts";
import { dataOf, follow } from "#src/client/sse.ts";
import { TokenClient } from "#src/client/tokens.ts";
import type { TransitionEvent } from "#src/operators/api/events.ts";
import { schemaMigrations } from "#src/app/schema.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { checkGeneration, watchRestores } from "#src/runtime/events/restored.ts";
import { readIncompleteStreams } from "#src/runtime/events/streamRecord.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { drillRestore } from "../drill/restore.ts";
import { until } from "../support/base/until.ts";
import { insertTransitions } from "../support/infra/jetStream.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../support/infra/natsServer.ts";
import {
  findPostgres,
  type PostgresServer,
  startFromBackup,
  startInstalledServer,
  takeBackup,
  walArchive,
} from "../support/infra/postgresServer.ts";
import { storedMessages } from "../support/runtime/storedStream.ts";
import { Arbor } from "../support/service/arbor.ts";
import { fund, http, land, User } from "../support/service/user.ts";

const native = findPostgres();

/** What each event id meant when it was first received, by any subscriber. */
class Meanings {
  readonly #known = new Map<string, string>();
  readonly confused: string[] = [];

  note({ id, time, data: { entity, version, from, to, cause } }: TransitionEvent): void {
    const meaning = JSON.stringify([time, entity, version, from, to, cause]);
    if ((this.#known.get(id) ?? meaning) !== meaning) this.confused.push(id);
    this.#known.set(id, meaning);
  }
}

/** A replica of all facts that follows the operator service, also another one after a restore. */
class Replica {
  readonly facts = new FactReplica();
  restored = 0;
  last: string | undefined;
  #ended = new AbortController();
  #done = Promise.resolve();

  constructor(private readonly meanings: Meanings) {}

  follow(operator: string): void {
    this.#ended = new AbortController();
    this.#done = (async () => {
      const url = `${operator}/events?kind=token&from=start`;
      for await (const item of follow(url, { signal: this.#ended.signal, after: this.last })) {
        if (item.type === "restored") {
          this.restored++;
          this.facts.clear();
        }
        if (item.type !== "event") continue;
        this.meanings.note(dataOf<TransitionEvent>(item));
        this.facts.apply(dataOf<ActorEvent>(item));
        this.last = item.event.id;
      }
    })();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#done;
  }
}

describe.skipIf(native === undefined || !hasNatsServer())("a restored service", () => {
  const folder = mkdtempSync(join(tmpdir(), "arbor-restored-"));
  const meanings = new Meanings();
  const replica = new Replica(meanings);
  const user = new User();
  let archive: Awaited<ReturnType<typeof walArchive>>;
  let postgres: PostgresServer;
  let nats: NatsServer;
  let connection: NatsConnection;
  let arbor: Arbor;
  let store: Store;
  let token: string;

  const start = async () => {
    store = openStore(postgres.url, { max: 2 });
    const infra = { databaseUrl: postgres.url, natsUrl: nats.url, natsToken: "", stop: async () => {} };
    arbor = await Arbor.start({ infra, mining: "submit" });
    replica.follow(arbor.operator);
  };
  const stop = async () => {
    await replica.stop();
    await arbor.end();
    await store.close();
    await postgres.stop();
  };
  const carry = async (method: string, path: string, body?: unknown) => {
    const built = await http(arbor.tokens, method, path, body);
    if (built.status !== 200) throw new Error(`${path}: ${built.status} ${JSON.stringify(built.body)}`);
    await land(arbor.tokens, user.sign(built.body.unsignedTransaction));
    return built.body;
  };
  const insert = async (key: string) => {
    await carry("POST", `/transaction/${user.address}/request-insert/${token}`, { key, value: `${key} value` });
    await carry("GET", `/transaction/${user.address}/update-token/${token}`);
  };
  const keys = () => (replica.facts.facts(token) ?? []).map(({ key }) => key).sort();
  const hasFacts = (wanted: readonly string[]) =>
    until(`the facts ${wanted}`, async () => keys().join() === wanted.join(), 60_000);
  const inDatabase = async () => {
    const rows = await store.sql<{ id: string }[]>`
      select kind || '/' || id || ':' || version || case generation when '' then '' else '@' || generation end as id
      from outbox`;
    return rows.map(({ id }) => id).sort();
  };
  /** Waits until the stream has the transitions of the database, and nothing else. */
  const streamIsEqual = () =>
    until(
      "the stream equals the outbox",
      async () => {
        const messages = await storedMessages(await connection.jetstreamManager({ checkAPI: false })).catch(() => []);
        for (const { event } of messages) meanings.note(event);
        return messages.map(({ event }) => event.id).sort().join() === (await inDatabase()).join();
      },
      60_000,
      250,
    );
  /** The facts of the replica are those of the service, and lead to the root. */
  const expectEqual = async () => {
    const facts = Object.keys(await new TokenClient(arbor.tokens).facts(token)).sort();
    expect(keys()).toEqual(facts);
    expect(replica.facts.verify(token)).toBe(true);
    expect(meanings.confused).toEqual([]);
  };

  beforeAll(async () => {
    archive = await walArchive();
    [postgres, nats] = await Promise.all([startInstalledServer(native!, archive.settings), startNatsServer()]);
    connection = await connect({ servers: nats.url });
    // What is published live, over core NATS, whatever becomes of the stream.
    void (async () => {
      for await (const message of connection.subscribe("arbor.event.>")) meanings.note(message.json<TransitionEvent>());
    })();
    await start();
    await fund(arbor.devnet, arbor.tokens, user, 5_000_000_000);
    token = (await carry("GET", `/transaction/${user.address}/boot-token`)).value;
    await insert("before");
  });
  afterAll(async () => {
    await stop();
    await connection?.close();
    await nats?.stop();
    for (const one of [folder, archive?.folder ?? folder]) rmSync(one, { recursive: true, force: true });
  });

  it("to a point in time: subscribers begin again, no id names two events, the stream equals the outbox", async () => {
    await takeBackup(native!, postgres.url, join(folder, "base"));
    await hasFacts(["before"]);
    await store.sql`select pg_create_restore_point('here')`;
    await insert("lost");
    await hasFacts(["before", "lost"]);
    await streamIsEqual();
    const [row] = await store.sql<{ segment: string }[]>`select pg_walfile_name(pg_switch_wal()) as segment`;
    await until(
      "the WAL is archived",
      async () => (await store.sql`select from pg_stat_archiver where last_archived_wal >= ${row!.segment}`).length > 0,
    );
    const password = new URL(postgres.url).password;
    await stop();

    const point = { archive: archive.folder, name: "here" };
    postgres = await startFromBackup(native!, join(folder, "base"), password, [], point);
    await start();
    expect(arbor.printed).toContain("The database was restored");
    await until("the replica begins again", async () => replica.restored === 1);
    await hasFacts(["before"]);
    await insert("other");
    await hasFacts(["before", "other"]);
    await expectEqual();
    await streamIsEqual();
    expect(await readIncompleteStreams(store)).toEqual([]);
    const { generation, n } = await new OperatorClient(arbor.operator).generation();
    expect(n).toBe(1);
    const message = await (await connection.jetstreamManager()).streams.getMessage("ARBOR_EVENTS", {
      last_by_subj: ">",
    });
    expect(message.header.get("Arbor-Generation")).toBe(generation);
    expect(message.header.get("Nats-Msg-Id")).toMatch(new RegExp(`:[0-9]+@${generation}$`));
  });

  it("to an older copy of the data folder, which only the stream can show", async () => {
    await takeBackup(native!, postgres.url, join(folder, "copy"));
    await insert("lost again");
    await streamIsEqual();
    const password = new URL(postgres.url).password;
    await stop();
    postgres = await startFromBackup(native!, join(folder, "copy"), password);
    store = openStore(postgres.url, { max: 2 });
    const infra = { databaseUrl: postgres.url, natsUrl: nats.url, natsToken: "", stop: async () => {} };
    arbor = await Arbor.start({ infra, mining: "submit" });
    const operator = new OperatorClient(arbor.operator);
    const { reason } = await until("the generation", async () => {
      const now = await operator.generation();
      return now.n === 2 && now;
    }, 30_000);
    expect(reason).toContain("stream");
    replica.follow(arbor.operator);
    await until("the replica begins again", async () => replica.restored === 2);
    await insert("third");
    await hasFacts(["before", "other", "third"]);
    await expectEqual();
    await streamIsEqual();
  });
});

describe.skipIf(native === undefined)("a running process whose server goes to another timeline", () => {
  let postgres: PostgresServer;
  let store: Store;
  beforeAll(async () => {
    postgres = await startInstalledServer(native!);
    store = openStore(postgres.url, { max: 2 });
    await migrateWhole(store, schemaMigrations);
  });
  afterAll(async () => {
    await store?.close();
    await postgres?.stop();
  });
  const insert = (version: number) =>
    insertTransitions(store, [{
      ...{ entity: { kind: "other", id: "x" }, version, from: "a", to: "b", type: "GO", cause: "c" },
      at: Date.now(),
    }]);
  /** Restarts the server through a recovery: its timeline is another one then, as after the promotion of a replica. */
  const promote = async () => {
    const [row] = await store.sql<{ data: string }[]>`select current_setting('data_directory') as data`;
    await store.sql`alter system set restore_command = 'false'`;
    writeFileSync(join(row!.data, "recovery.signal"), "");
    await postgres.restart("SIGQUIT");
  };
  const timeline = async () => {
    const [row] = await store.sql<{ timeline: number }[]>`select timeline from event_server`.catch(() => []);
    return row?.timeline;
  };

  it("keeps the generation where every transition is there, and begins one where one is missing", async () => {
    const endpoint = await startNatsEndpoint({ port: 0, token: "t", log: silentLog });
    const bus = await connectBus({ url: endpoint.url, token: "t" });
    const lines: string[] = [];
    const watch = watchRestores({
      ...{ store, bus, contents: NO_CONTENTS, maxAgeMs: 1, everyMs: 1_000 },
      log: createLog("info", {}, (line) => lines.push(line)),
      generation: await checkGeneration(store),
    });
    try {
      await insert(1);
      await until("it was seen", async () => watch.newest()?.version === 1);
      await promote();
      await until("the timeline is known", async () => await timeline() === 2);
      expect(watch.generation().n).toBe(0);
      expect((await checkGeneration(store)).n).toBe(0);

      await insert(2);
      await until("it was seen", async () => watch.newest()?.version === 2);
      await store.sql`delete from outbox where version = 2`;
      await promote();
      await until("the generation", async () => watch.generation().n === 1);
      expect(lines.join()).toContain("The database was restored (transitions were lost");
      expect(await timeline()).toBe(3);
    } finally {
      await watch.stop();
      await bus.close();
      await endpoint.stop();
    }
  });
});

describe.skipIf(native === undefined)("the drill", () => {
  it.each(["a new server", "a copy of a database"])("holds on %s", async (kind) => {
    const given = kind === "a new server" ? undefined : await startInstalledServer(native!);
    try {
      const { checks } = await drillRestore({ native: native!, databaseUrl: given?.url });
      expect(checks.filter(({ held }) => !held)).toEqual([]);
    } finally {
      await given?.stop();
    }
  });
});
