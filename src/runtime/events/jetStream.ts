/**
 * The JetStream streams that store transitions, where the server has JetStream: one for all, and one with the content
 * that guests may not read. They are created, updated to the current limits, and checked again after each reconnection.
 * Without JetStream transitions go over core NATS; also where an embedded endpoint serves these streams from the log.
 *
 * JetStream's API is plain requests (`$JS.API.>`) and replies to messages, so the bus is enough. At most one transition
 * of an entity is in flight at a time: a server that loses the first of two and stores the second would reverse their
 * order.
 */
import { isObject, type Json, toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import { type Bus, BusError } from "#src/runtime/bus/bus.ts";
import type { Contents } from "#src/runtime/events/content.ts";
import { type EventMessage, eventMessages, type Transition } from "#src/runtime/events/transition.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";

/** Name of the stream of all transitions. */
export const STREAM = "ARBOR_EVENTS";
/** Name of the stream of transitions with content that guests may not read. */
export const CONTENT_STREAM = "ARBOR_CONTENT";
/** The subject of a stream's messages. */
export const SUBJECT = "arbor.event.>";
export const CONTENT_SUBJECT = "arbor.content.>";
/** Subjects of the streams, by name. */
const STREAMS = { [STREAM]: [SUBJECT], [CONTENT_STREAM]: [CONTENT_SUBJECT] };
/** Metadata of a stream that Arbor's embedded endpoint serves from the log of transitions: nothing is stored in it. */
export const SERVED_FROM_LOG = ["arbor.served-from", "log"] as const;

export interface StreamOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly contents: Contents;
  /** How long the stream stores a transition, in milliseconds. */
  readonly maxAgeMs: number;
  /**
   * How long a stream that existed may be unavailable before transitions go over core NATS, in milliseconds; 10,000 by
   * default.
   */
  readonly graceMs?: number;
  /** Interval at which a missing stream is looked for, in milliseconds; 10,000 by default. */
  readonly checkMs?: number;
}

export interface EventStream {
  /**
   * Whether transitions go to the stream. Rejects while a stream that existed is unavailable for less than `graceMs`.
   */
  ready(): Promise<boolean>;
  /** Stores transitions in order. Resolves to those that the stream did not confirm, in order, and the reason. */
  store(transitions: readonly Transition[]): Promise<{ left: readonly Transition[]; reason?: string }>;
  stop(): void;
}

const API_MS = 3_000;
const ACK_MS = 5_000;
const DUPLICATES_MS = 120_000;

/** Error codes of JetStream. */
const NOT_FOUND = 10_059;
const NOT_FOR_ACCOUNT = 10_039;
const NOT_ENABLED = 10_076;
const OVERLAP = 10_065;
const NO_CLUSTER = 10_074;
const NO_PEERS = 10_005;

/** A reply of JetStream's API, or the acknowledgement of a message. */
interface JetStreamReply {
  readonly error?: { readonly code: unknown; readonly description: string } | undefined;
  readonly config?: { readonly [name: string]: Json } | undefined;
  /** Number of the stored message. */
  readonly seq?: number | undefined;
}

function replyOf(json: Json): JetStreamReply {
  const { error, config, seq } = isObject(json) ? json : {};
  const description = memberOf(error, "description");
  return {
    error: error === undefined
      ? undefined
      : { code: memberOf(error, "err_code"), description: typeof description === "string" ? description : NO_REPLY },
    config: isObject(config) ? config : undefined,
    seq: typeof seq === "number" ? seq : undefined,
  };
}

/**
 * Creates a stream, or updates it to the current limits. Resolves to whether it exists; rejects when that is unknown.
 */
async function ensureStream(
  { bus, log, maxAgeMs }: StreamOptions,
  stream: string,
  subjects: readonly string[],
): Promise<boolean> {
  let info: JetStreamReply;
  try {
    info = await callApi(bus, `STREAM.INFO.${stream}`, null);
  } catch (error) {
    if (error instanceof BusError && error.code === "no_responders") return false;
    throw error;
  }
  const code = info.error?.code;
  if (code === NOT_FOR_ACCOUNT || code === NOT_ENABLED) return false;
  const wanted = { subjects: [...subjects], ...limits(maxAgeMs) };
  if (code === NOT_FOUND) return await createStream(bus, log, stream, wanted);
  if (info.error !== undefined || info.config === undefined) throw new Error(describe(info));
  const { config } = info;
  const [name, value] = SERVED_FROM_LOG;
  if (memberOf(config.metadata, name) === value) return false;
  const same = Object.entries(wanted).every(([name, value]) => toJson(config[name]) === toJson(value));
  if (same) return true;
  // Other settings by an operator (replicas, sizes, placement) stay.
  const updated = await callApi(bus, `STREAM.UPDATE.${stream}`, { ...config, ...wanted });
  if (updated.error !== undefined) throw new Error(describe(updated));
  log.info("the stream of events has new limits", { stream });
  return true;
}

async function createStream(
  bus: Bus,
  log: Log,
  stream: string,
  wanted: { readonly [name: string]: Json },
): Promise<boolean> {
  const body = { name: stream, ...wanted, storage: "file", retention: "limits", discard: "old" };
  for (const replicas of bus.clustered() ? [3, 1] : [1]) {
    const made = await callApi(bus, `STREAM.CREATE.${stream}`, { ...body, num_replicas: replicas });
    const code = made.error?.code;
    if (made.error === undefined) {
      log.info("the stream of events was created", { stream, replicas });
      return true;
    }
    if (code === OVERLAP) {
      log.info("events are stored by an existing stream of the server", { reason: describe(made) });
      return true;
    }
    if (code !== NO_CLUSTER && code !== NO_PEERS) throw new Error(describe(made));
  }
  throw new Error("the server has no room for the stream");
}

async function callApi(bus: Bus, subject: string, body: Json): Promise<JetStreamReply> {
  return replyOf(await bus.request(`$JS.API.${subject}`, body, API_MS));
}

/** Knows whether there is a stream, and checks it again when that may have changed. */
class StreamWatch {
  private state: "unknown" | "there" | "none" = "unknown";
  /** The state that was logged last, so that each change is logged once. */
  private logged: "there" | "none" | undefined;
  private awaySince: number | undefined;
  private checkAt = -Infinity;
  private checking: Promise<boolean> | undefined;

  constructor(private readonly options: StreamOptions) {}

  /** As `EventStream.ready`. */
  async ready(): Promise<boolean> {
    if (this.state === "there") return true;
    if (this.state === "none" && performance.now() < this.checkAt) return false;
    this.checking ??= this.check().finally(() => this.checking = undefined);
    return await this.checking;
  }

  /** To be called at a reconnection: the stream is checked before it is used again. */
  reconnected(): void {
    if (this.state === "there") this.doubt();
    this.checkAt = -Infinity;
  }

  /** Has the stream checked before it is used again: it may have been deleted. */
  doubt(): void {
    this.state = "unknown";
  }

  /** To be called when the stream stored a transition. */
  confirmed(): void {
    this.awaySince = undefined;
    if (this.logged === "none") this.options.log.info("events are stored in the stream again", { stream: STREAM });
    this.logged = "there";
  }

  /** Records that the stream is unavailable; throws while it may come back within `graceMs`. */
  unavailable(why: string, sure: boolean): false {
    const { log, graceMs = 10_000, checkMs = 10_000 } = this.options;
    this.awaySince ??= performance.now();
    const mayReturn = this.logged === "there" || (this.logged === undefined && !sure);
    if (mayReturn && performance.now() - this.awaySince < graceMs) {
      this.state = "unknown";
      throw new Error(`the stream of events is not available: ${why}`);
    }
    if (mayReturn) log.warn("events are not stored in a stream; they are published over core NATS", { reason: why });
    this.logged = "none";
    this.state = "none";
    this.checkAt = performance.now() + checkMs;
    return false;
  }

  private async check(): Promise<boolean> {
    let there: boolean;
    try {
      there = true;
      for (const [stream, subjects] of Object.entries(STREAMS)) {
        there = await ensureStream(this.options, stream, subjects) && there;
      }
    } catch (error) {
      return this.unavailable(reason(error), false);
    }
    if (!there) return this.unavailable("the server has no JetStream", true);
    this.state = "there";
    return true;
  }
}

/** Creates the stream's writer. */
export function createEventStream(options: StreamOptions): EventStream {
  const { bus, contents } = options;
  const watch = new StreamWatch(options);
  /**
   * Called at a reconnection, one for each transition in flight. A shared promise would retain memory for each of them.
   */
  const inFlight = new Set<() => void>();
  const unlisten = bus.onReconnect(() => {
    watch.reconnected();
    for (const lost of inFlight) lost();
  });

  /** Stores one transition. Resolves to the reason when a stream did not confirm it. */
  const put = async (transition: Transition): Promise<string | undefined> => {
    for (const message of eventMessages(transition, contents)) {
      const refused = await putMessage(message);
      if (refused !== undefined) return refused;
    }
    return undefined;
  };
  const putMessage = async ({ subject, body, id }: EventMessage): Promise<string | undefined> => {
    let lost = () => {};
    const reconnected = new Promise<JetStreamReply>((resolve) => {
      lost = () => resolve({ error: { code: undefined, description: "the connection was lost" } });
    });
    inFlight.add(lost);
    try {
      const stored = bus.request(subject, body, ACK_MS, { "Nats-Msg-Id": id }).then(replyOf);
      const answer = await Promise.race([stored, reconnected]);
      return answer.error !== undefined || answer.seq === undefined ? describe(answer) : undefined;
    } catch (error) {
      return reason(error);
    } finally {
      inFlight.delete(lost);
    }
  };

  return {
    ready: () => watch.ready(),
    store: async (transitions) => {
      let left = transitions;
      while (left.length > 0) {
        const wave = firstOfEach(left);
        const refusals = await Promise.all(wave.map(put));
        const kept = new Set(wave.filter((_, i) => refusals[i] === undefined));
        left = left.filter((transition) => !kept.has(transition));
        if (kept.size > 0) watch.confirmed();
        const refused = refusals.find((one) => one !== undefined);
        if (refused === undefined) continue;
        try {
          // The stream may have been deleted: the next attempt checks first.
          if (kept.size > 0) watch.doubt();
          else watch.unavailable(refused, false);
        } catch {
          // Within the grace time: the reason is returned with the rest.
        }
        return { left, reason: refused };
      }
      return { left };
    },
    stop: unlisten,
  };
}

function limits(maxAgeMs: number): { [name: string]: Json } {
  return {
    // In nanoseconds.
    max_age: Math.round(maxAgeMs) * 1_000_000,
    duplicate_window: Math.min(DUPLICATES_MS, Math.round(maxAgeMs)) * 1_000_000,
  };
}

/** The first transition of each entity. */
function firstOfEach(transitions: readonly Transition[]): readonly Transition[] {
  const seen = new Set<string>();
  return transitions.filter(({ entity }) => {
    const key = entityKey(entity);
    return !seen.has(key) && seen.add(key);
  });
}

const NO_REPLY = "the server's reply is not an acknowledgement";

function describe({ error }: JetStreamReply): string {
  return error?.description ?? NO_REPLY;
}
