/**
 * Receives every transition the way subscribers do (server-sent events, core NATS, a JetStream consumer) and compares
 * what was received with the outbox: nothing is missing, and each entity's versions are first received in order.
 */
import { connect, DeliverPolicy, type JetStreamClient } from "nats";
import { expect } from "vitest";
import type { TransitionEvent } from "#src/operators/api/events.ts";
import { sleep } from "#src/base/clock.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** What one subscriber has received since it started. */
export interface Subscriber {
  /** Event ids (`kind/id:version`) in the order in which each was first received. */
  readonly first: readonly string[];
  /** Number of duplicates. */
  readonly again: number;
  /** Number of reconnections, where that is counted. */
  readonly connections: number;
  /** Times at which the stream restarted after deleted transitions. */
  readonly resets: number;
  stop(): Promise<void>;
}

function notebook() {
  const seen = new Set<string>();
  const subscriber = {
    first: [] as string[],
    again: 0,
    connections: 0,
    resets: 0,
    note: (event: TransitionEvent) => {
      if (seen.has(event.id)) return void subscriber.again++;
      seen.add(event.id);
      subscriber.first.push(event.id);
    },
  };
  return subscriber;
}

/** One server-sent event. */
export interface Sent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** The events of a stream, until the stream ends or the signal aborts. */
export async function* readSse(response: Response, signal?: AbortSignal): AsyncGenerator<Sent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  signal?.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true });
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) {
        const fields = new Map(
          block.split("\n").map((line) => {
            const colon = line.indexOf(":");
            return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const;
          }),
        );
        yield { event: fields.get("event") ?? "message", id: fields.get("id"), data: fields.get("data") };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/**
 * Receives `GET <url>/events` from the start. With `cutEvery` it drops the connection after about this many transitions
 * and continues with Last-Event-ID; it reconnects by itself when the service goes away.
 */
export function subscribeSse(url: string, options: { cutEvery?: number; token?: string } = {}): Subscriber {
  const subscriber = notebook();
  const stopped = new AbortController();
  let last: string | undefined;
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      const ended = new AbortController();
      const signal = AbortSignal.any([stopped.signal, ended.signal]);
      let left = options.cutEvery ?? Infinity;
      try {
        const response = await fetch(`${url}/events?from=start`, {
          signal,
          headers: {
            ...(last === undefined ? {} : { "last-event-id": last }),
            ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
          },
        });
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
        subscriber.connections++;
        for await (const sent of readSse(response)) {
          if (sent.id !== undefined) last = sent.id;
          if (sent.event === "reset") subscriber.resets++;
          if (sent.event !== "transition") continue;
          subscriber.note(JSON.parse(sent.data!) as TransitionEvent);
          if (--left <= 0) break;
        }
      } catch (error) {
        if (stopped.signal.aborted) break;
        void error;
        await sleep(50, stopped.signal);
      }
      ended.abort();
    }
  })();
  return Object.assign(subscriber, {
    stop: async () => {
      stopped.abort();
      await loop;
    },
  });
}

/** Receives `arbor.event.>` on core NATS from now on. */
export async function subscribeCore(natsUrl: string, token?: string): Promise<Subscriber> {
  const subscriber = notebook();
  const bus = await connectBus({ url: natsUrl, ...(token === undefined ? {} : { token }) });
  bus.subscribe("arbor.event.>", (body) => subscriber.note(body as unknown as TransitionEvent));
  await bus.flush();
  return Object.assign(subscriber, { stop: () => bus.close() });
}

/**
 * Receives the JetStream stream from its first message, through an ordered consumer that is created again when it
 * fails, or when it skips messages: that was observed in a cluster of nats-server 2.9, while the stream had all of
 * them.
 */
export async function subscribeStream(natsUrl: string, token?: string, stream = "ARBOR_EVENTS"): Promise<Subscriber> {
  const subscriber = notebook();
  const connection = await connect({
    servers: natsUrl.split(","),
    ...(token === undefined ? {} : { token }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
  });
  const client: JetStreamClient = connection.jetstream();
  let stopped = false;
  let next = 1;
  const loop = (async () => {
    while (!stopped) {
      try {
        const consumer = await client.consumers.get(stream, {
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: next,
        } as never);
        subscriber.connections++;
        while (!stopped) {
          const messages = await consumer.fetch({ max_messages: 500, expires: 1_000 });
          for await (const message of messages) {
            if (message.seq < next) continue;
            if (message.seq > next) throw new Error(`${message.seq} came instead of ${next}`);
            next = message.seq + 1;
            subscriber.note(message.json<TransitionEvent>());
          }
        }
      } catch {
        await sleep(100);
      }
    }
  })();
  return Object.assign(subscriber, {
    stop: async () => {
      stopped = true;
      await Promise.race([loop, sleep(2_000)]);
      await connection.close();
    },
  });
}

/**
 * Waits until a subscriber has received everything in the outbox (or everything of the entities whose `kind/id` has the
 * prefix), and compares that with the rows; returns their number.
 */
export async function expectAllReceived(
  store: Store,
  subscriber: Subscriber,
  { ms = 30_000, prefix = "" }: { ms?: number; prefix?: string } = {},
): Promise<number> {
  const end = Date.now() + ms;
  const rows = async () => {
    const keys = await store.sql<{ key: string }[]>`
      select kind || '/' || id || ':' || version as key from outbox
      where starts_with(kind || '/' || id, ${prefix}) order by tx, kind, id, version`;
    return keys.map(({ key }) => key);
  };
  const first = () => subscriber.first.filter((key) => key.startsWith(prefix));
  let all = await rows();
  while (first().length < all.length && Date.now() < end) {
    await sleep(50);
    all = await rows();
  }
  const received = new Set(first());
  const missing = all.filter((key) => !received.has(key));
  expect({ missing: missing.length, such: missing.slice(0, 20) }).toEqual({ missing: 0, such: [] });
  expectInOrder(first());
  return all.length;
}

/** Each entity's versions were first received as 1, 2, 3 … */
export function expectInOrder(first: readonly string[]): void {
  const versions = new Map<string, number>();
  const wrong: string[] = [];
  for (const key of first) {
    const colon = key.lastIndexOf(":");
    const entity = key.slice(0, colon);
    const version = Number(key.slice(colon + 1));
    if (version !== (versions.get(entity) ?? 0) + 1) wrong.push(`${key} after ${versions.get(entity) ?? 0}`);
    versions.set(entity, version);
  }
  expect({ wrong: wrong.length, such: wrong.slice(0, 20) }).toEqual({ wrong: 0, such: [] });
}
