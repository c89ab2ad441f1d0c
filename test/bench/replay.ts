/**
 * Benchmark of replays over JetStream: events in the log, read by ordered consumers of the client library. The embedded
 * endpoint reads them from PostgreSQL; a nats-server, where one is installed, has them in its own files.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { connect, headers } from "nats";
import { schemaMigrations } from "#src/app/schema.ts";
import { silentLog } from "#src/base/log.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { createEventStream, STREAM } from "#src/runtime/events/jetStream.ts";
import { cloudEvent, eventId, eventSubject, type Transition } from "#src/runtime/events/transition.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { openStore } from "#src/store/store.ts";
import { endChild, runScript } from "../support/base/processes.ts";
import { hasNatsServer, startNatsServer } from "../support/infra/natsServer.ts";
import { until } from "../support/base/until.ts";

const ACTORS = 100;
const SUBSCRIBERS = [1, 10, 100];

interface Server {
  readonly name: string;
  readonly url: string;
  readonly token?: string;
  stop(): Promise<void>;
}

const transition = (n: number): Transition => ({
  entity: { kind: "token", id: `actor${n % ACTORS}` },
  version: Math.floor(n / ACTORS) + 1,
  from: "idle",
  to: "busy",
  type: "UPDATED",
  cause: `command${n}`,
  at: 1_700_000_000_000 + n,
});

/** Events in a database, 1,000 in a transaction as under load, and an endpoint in a process of its own. */
async function embedded(events: number): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder: join(folder, "postgres"), log: silentLog });
  const store = openStore(postgres.url, { max: 2 });
  await migrateWhole(store, schemaMigrations);
  for (let from = 0; from < events; from += 1_000) {
    await store.sql`
      insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, published)
      select 'token', 'actor' || n % ${ACTORS}, n / ${ACTORS} + 1, 0, 'idle', 'busy', 'UPDATED', 'command' || n,
        '{"type": "UPDATED"}', now(), true
      from generate_series(${from}::int, ${Math.min(events, from + 1_000) - 1}::int) n`;
  }
  await store.sql`analyze outbox`;
  await store.close();
  const [port, token] = [await freePort(), randomBytes(16).toString("hex")];
  const child = runScript("./replay-server.ts", "ARBOR_TEST_NATS", { databaseUrl: postgres.url, port, token });
  const url = `nats://127.0.0.1:${port}`;
  await until("the endpoint serves the stream", async () => {
    try {
      const connection = await connect({ servers: url, token, reconnect: false });
      // The first request waits until the whole log has numbers.
      const known = await connection.jetstreamManager({ timeout: 2_000 }).then((manager) =>
        manager.streams.info(STREAM)
      )
        .then(() => true, () => false);
      await connection.close();
      return known;
    } catch {
      return false;
    }
  });
  return {
    name: "embedded endpoint",
    url,
    token,
    stop: async () => {
      await endChild(child, "SIGTERM");
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The same events in a stream of a nats-server. */
async function natsServer(events: number): Promise<Server> {
  const server = await startNatsServer();
  const bus = await connectBus({ url: server.url });
  const record = {
    isKnown: () => Promise.resolve(false),
    found: () => Promise.resolve(false),
    isAhead: () => Promise.resolve(false),
  };
  const stream = createEventStream({
    bus,
    log: silentLog,
    contents: NO_CONTENTS,
    maxAgeMs: 86_400_000,
    record,
    generation: () => "",
  });
  await stream.ready();
  stream.stop();
  await bus.close();
  const connection = await connect({ servers: server.url });
  for (let n = 0; n < events; n++) {
    const fields = headers();
    fields.set("Nats-Msg-Id", eventId(transition(n)));
    connection.publish(eventSubject(transition(n)), JSON.stringify(cloudEvent(transition(n))), { headers: fields });
    if (n % 1_000 === 999) await connection.flush();
  }
  const manager = await connection.jetstreamManager();
  await until("all are stored", async () => (await manager.streams.info(STREAM)).state.messages === events);
  await connection.close();
  return { name: "nats-server", url: server.url, stop: server.stop };
}

/** Reads everything with some ordered consumers, each with its own connection; gives the seconds. */
async function replay({ url, token }: Server, subscribers: number, events: number): Promise<number> {
  const connections = await Promise.all(
    Array.from({ length: subscribers }, () => connect({ servers: url, ...(token === undefined ? {} : { token }) })),
  );
  const began = performance.now();
  await Promise.all(connections.map(async (connection) => {
    const messages = await (await connection.jetstream().consumers.get(STREAM)).consume({ max_messages: 1_000 });
    let next = 1;
    for await (const { seq } of messages) {
      if (seq !== next) throw new Error(`message ${next} is missing`);
      if (next++ === events) break;
    }
  }));
  const seconds = (performance.now() - began) / 1_000;
  await Promise.all(connections.map((connection) => connection.close()));
  return seconds;
}

/** `--events N` (100,000 by default); with many subscribers each reads a smaller log. */
export async function benchReplay(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    strict: false,
    options: { events: { type: "string" }, quick: { type: "boolean" } },
  });
  const events = values.events === undefined ? values.quick === true ? 10_000 : 100_000 : Number(values.events);
  const started = [embedded, ...(hasNatsServer() ? [natsServer] : [])];
  console.log("| server | events | subscribers | seconds | events/s to each | events/s in total |");
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const subscribers of SUBSCRIBERS) {
    const count = Math.max(1_000, Math.round(events / subscribers));
    for (const start of started) {
      const server = await start(count);
      try {
        const seconds = await replay(server, subscribers, count);
        const rate = (n: number) => Math.round(n / seconds).toLocaleString("en");
        const cells = [
          server.name,
          count.toLocaleString("en"),
          subscribers,
          seconds.toFixed(1),
          rate(count),
          rate(count * subscribers),
        ];
        console.log(`| ${cells.join(" | ")} |`);
      } finally {
        await server.stop();
      }
    }
  }
}
