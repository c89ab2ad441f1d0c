/** Servers with the stream of events: the embedded endpoint over a database, and nats-server. */
import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { eventStreams, type LoggedKind } from "#src/app/eventSource.ts";
import { schemaMigrations } from "#src/app/schema.ts";
import { Durables } from "#src/embedded/nats/jetstream/durables.ts";
import { type JetStreamOptions, JetStreamService } from "#src/embedded/nats/jetstream/service.ts";
import { type NatsEndpoint, type NatsEndpointOptions, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import type { Generation } from "#src/runtime/events/generation.ts";
import { createEventStream } from "#src/runtime/events/jetStream.ts";
import { streamRecord } from "#src/runtime/events/streamRecord.ts";
import { cloudEvent, eventId, eventSubject, type Transition } from "#src/runtime/events/transition.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import type {} from "./providedContext.ts";
import { startNatsServer } from "./natsServer.ts";

export interface StreamServer {
  readonly url: string;
  readonly token: string | undefined;
  /** Adds transitions to the stream, in their order, and publishes them. */
  write(transitions: readonly Transition[]): Promise<void>;
  stop(): Promise<void>;
}

/** Stores transitions as a turn does, in one transaction. */
export async function insertTransitions(store: Store, transitions: readonly Transition[]): Promise<void> {
  const rows = transitions.map(({ entity, at, ...rest }) => ({
    ...entity,
    ...rest,
    at: new Date(at).toISOString(),
    body: { type: rest.type, amount: String(rest.version), secret: "never shown" },
  }));
  await store.sql`
    insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, published)
    select kind, id, version, 0, "from", "to", type, cause, body, at, true
    from json_to_recordset(${rows as never}::json)
      as r(kind text, id text, version bigint, "from" text, "to" text, type text, cause text, at timestamptz, body jsonb)`;
}

/** A database of its own. */
export async function eventDatabase(): Promise<{ readonly url: string; readonly store: Store; drop(): Promise<void> }> {
  const name = `arbor_test_${randomBytes(8).toString("hex")}`;
  const admin = openStore(inject("databaseUrl"), { max: 1 });
  await admin.sql.unsafe(`create database ${name} template template0`);
  const url = new URL(inject("databaseUrl"));
  url.pathname = `/${name}`;
  const store = openStore(url.href, { max: 12, application: "test" });
  await migrateWhole(store, schemaMigrations);
  const drop = async () => {
    await store.close();
    await admin.sql.unsafe(`drop database if exists ${name} with (force)`);
    await admin.close();
  };
  return { url: url.href, store, drop };
}

/** An embedded endpoint that serves the log of a database. */
export interface ServedEndpoint {
  readonly endpoint: NatsEndpoint;
  readonly service: JetStreamService;
  readonly bus: Bus;
  stop(): Promise<void>;
}

export async function serveDatabase(
  store: Store,
  token: string,
  options: Partial<NatsEndpointOptions> = {},
  jetStream: Partial<JetStreamOptions> = {},
  kinds: readonly LoggedKind[] = [],
  generation?: Generation,
): Promise<ServedEndpoint> {
  const endpoint = await startNatsEndpoint({ port: 0, token, log: silentLog, ...options });
  const bus = await connectBus({ url: endpoint.url, token });
  const events = createEventLog({ store, bus, log: silentLog });
  const service = await JetStreamService.attach(endpoint.attach, {
    streams: eventStreams(store, events, kinds, 86_400_000, generation),
    durables: new Durables(store, silentLog),
    log: silentLog,
    ...jetStream,
  });
  const stop = async () => {
    await service.stop();
    events.close();
    await bus.close();
    await endpoint.stop();
  };
  return { endpoint, service, bus, stop };
}

/** The embedded endpoint over a database of its own. */
export async function startEmbeddedStream(): Promise<StreamServer & { readonly store: Store }> {
  const database = await eventDatabase();
  const token = randomBytes(16).toString("hex");
  const { endpoint, bus, stop } = await serveDatabase(database.store, token);
  return {
    url: endpoint.url,
    token,
    store: database.store,
    write: async (transitions) => {
      // The rows of a transaction are in the order of their actors.
      for (let rest = transitions; rest.length > 0;) {
        const [first] = rest;
        const other = rest.findIndex(({ entity }) =>
          entity.kind !== first?.entity.kind || entity.id !== first.entity.id
        );
        const end = other < 0 ? rest.length : other;
        await insertTransitions(database.store, rest.slice(0, end));
        rest = rest.slice(end);
      }
      for (const transition of transitions) {
        bus.publish(eventSubject(transition), cloudEvent(transition), { "Nats-Msg-Id": eventId(transition) });
      }
      await bus.flush();
    },
    stop: async () => {
      await stop();
      await database.drop();
    },
  };
}

/** A nats-server whose stream Arbor's publisher fills. */
export async function startServerStream(): Promise<StreamServer> {
  const server = await startNatsServer();
  const bus = await connectBus({ url: server.url });
  const database = await eventDatabase();
  const record = streamRecord(database.store);
  const stream = createEventStream({
    bus,
    log: silentLog,
    contents: NO_CONTENTS,
    maxAgeMs: 86_400_000,
    record,
    generation: () => "",
  });
  if (!await stream.ready()) throw new Error("nats-server has no JetStream");
  return {
    url: server.url,
    token: undefined,
    write: async (transitions) => {
      for (const transition of transitions) {
        const { reason } = await stream.store([transition]);
        if (reason !== undefined) throw new Error(reason);
      }
    },
    stop: async () => {
      stream.stop();
      await bus.close();
      await server.stop();
      await database.drop();
    },
  };
}
