/**
 * Hears every transition the way subscribers do (server-sent events, core NATS, a JetStream consumer) and compares what was
 * heard with the outbox: nothing missing, and each entity's versions first heard in their order.
 */
import { connect, DeliverPolicy, type JetStreamClient } from "nats";
import { expect } from "vitest";
import type { TransitionEvent } from "#src/api/events.ts";
import { sleep } from "#src/base/clock.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** What one subscriber has heard since it began. */
export interface Ear {
  /** Event ids (`kind/id:version`) in the order in which each was first heard. */
  readonly first: readonly string[];
  /** How many came again. */
  readonly again: number;
  /** How often the connection was made anew, where that is counted. */
  readonly connections: number;
  /** Times at which the stream began anew behind deleted transitions. */
  readonly resets: number;
  stop(): Promise<void>;
}

function notebook() {
  const seen = new Set<string>();
  const ear = {
    first: [] as string[],
    again: 0,
    connections: 0,
    resets: 0,
    note: (event: TransitionEvent) => {
      if (seen.has(event.id)) return void ear.again++;
      seen.add(event.id);
      ear.first.push(event.id);
    },
  };
  return ear;
}

/** One server-sent event. */
export interface Sent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** The events of a stream, until it ends or the signal aborts. */
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
 * Hears `GET <url>/events` from the start. With `cutEvery` it drops the connection after about so many transitions and goes on
 * with Last-Event-ID; it comes back by itself when the service goes away.
 */
export function hearSse(url: string, options: { cutEvery?: number; token?: string } = {}): Ear {
  const ear = notebook();
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
        ear.connections++;
        for await (const sent of readSse(response)) {
          if (sent.id !== undefined) last = sent.id;
          if (sent.event === "reset") ear.resets++;
          if (sent.event !== "transition") continue;
          ear.note(JSON.parse(sent.data!) as TransitionEvent);
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
  return Object.assign(ear, {
    stop: async () => {
      stopped.abort();
      await loop;
    },
  });
}

/** Hears `arbor.event.>` on core NATS from now on. */
export async function hearCore(natsUrl: string, token?: string): Promise<Ear> {
  const ear = notebook();
  const bus = await connectBus({ url: natsUrl, ...(token === undefined ? {} : { token }) });
  bus.subscribe("arbor.event.>", (body) => ear.note(body as unknown as TransitionEvent));
  await bus.flush();
  return Object.assign(ear, { stop: () => bus.close() });
}

/**
 * Hears the JetStream stream from its first message, through an ordered consumer that is made anew when it fails, or when it skips
 * messages: in a cluster of nats-server 2.9 it was seen to, while the stream had them all.
 */
export async function hearStream(natsUrl: string, token?: string, stream = "ARBOR_EVENTS"): Promise<Ear> {
  const ear = notebook();
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
        ear.connections++;
        while (!stopped) {
          const messages = await consumer.fetch({ max_messages: 500, expires: 1_000 });
          for await (const message of messages) {
            if (message.seq < next) continue;
            if (message.seq > next) throw new Error(`${message.seq} came instead of ${next}`);
            next = message.seq + 1;
            ear.note(message.json<TransitionEvent>());
          }
        }
      } catch {
        await sleep(100);
      }
    }
  })();
  return Object.assign(ear, {
    stop: async () => {
      stopped = true;
      await Promise.race([loop, sleep(2_000)]);
      await connection.close();
    },
  });
}

/**
 * Waits until an ear has heard everything of the outbox (or of the entities whose `kind/id` begins so), and holds what it heard
 * against the rows; gives how many they are.
 */
export async function expectHeardAll(
  store: Store,
  ear: Ear,
  { ms = 30_000, prefix = "" }: { ms?: number; prefix?: string } = {},
): Promise<number> {
  const end = Date.now() + ms;
  const rows = async () => {
    const keys = await store.sql<{ key: string }[]>`
      select kind || '/' || id || ':' || version as key from outbox
      where starts_with(kind || '/' || id, ${prefix}) order by tx, kind, id, version`;
    return keys.map(({ key }) => key);
  };
  const first = () => ear.first.filter((key) => key.startsWith(prefix));
  let all = await rows();
  while (first().length < all.length && Date.now() < end) {
    await sleep(50);
    all = await rows();
  }
  const heard = new Set(first());
  const missing = all.filter((key) => !heard.has(key));
  expect({ missing: missing.length, such: missing.slice(0, 20) }).toEqual({ missing: 0, such: [] });
  expectInOrder(first());
  return all.length;
}

/** Each entity's versions were first heard as 1, 2, 3 … */
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
