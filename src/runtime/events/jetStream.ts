/**
 * The JetStream streams that store transitions, where the server has JetStream: one for all, and one with the content
 * that guests may not read. They are created, updated to the current limits, and checked again after each reconnection.
 * Transitions go over core NATS only where the streams have never existed, because the server has no JetStream, or where
 * an embedded endpoint serves them from the log. A stream that is away for any other reason is waited for.
 *
 * JetStream's API is plain requests (`$JS.API.>`) and replies to messages, so the bus is enough. At most one transition
 * of an entity is in flight at a time: a server that loses the first of two and stores the second would reverse their
 * order.
 */
import { Buffer } from "node:buffer";
import { isObject, type Json, toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import { type Bus, BusError } from "#src/runtime/bus/bus.ts";
import type { Contents } from "#src/runtime/events/content.ts";
import { eventHeaders, type EventMessage, eventMessages, type Transition } from "#src/runtime/events/transition.ts";
import { GENERATION_SUBJECT } from "#src/runtime/events/generation.ts";
import type { StreamRecord } from "#src/runtime/events/streamRecord.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";

/** Name of the stream of all transitions. */
export const STREAM = "ARBOR_EVENTS";
/** Name of the stream of transitions with content that guests may not read. */
export const CONTENT_STREAM = "ARBOR_CONTENT";
/** The subject of a stream's messages. */
export const SUBJECT = "arbor.event.>";
export const CONTENT_SUBJECT = "arbor.content.>";
/** Subjects of the streams, by name. */
export const STREAMS = { [STREAM]: [SUBJECT], [CONTENT_STREAM]: [CONTENT_SUBJECT] };
/** Metadata of a stream that Arbor's embedded endpoint serves from the log of transitions: nothing is stored in it. */
export const SERVED_FROM_LOG = ["arbor.served-from", "log"] as const;
/** Metadata of a stream that is being rebuilt: nothing else may be stored in it until that is done. */
export const REBUILDING = "arbor.rebuilding";

export interface StreamOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly contents: Contents;
  /** How long the stream stores a transition, in milliseconds. */
  readonly maxAgeMs: number;
  /** What the database remembers of the streams. */
  readonly record: StreamRecord;
  /** Id of the database's generation, empty for the first. */
  readonly generation: () => string;
  /** Interval at which a missing stream is looked for, in milliseconds; 10,000 by default. */
  readonly checkMs?: number;
}

export interface EventStream {
  /** Whether transitions go to the stream. Rejects while it is unavailable: they wait for it. */
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
export interface JetStreamReply {
  readonly error?: { readonly code: unknown; readonly description: string } | undefined;
  readonly config?: { readonly [name: string]: Json } | undefined;
  /** Number of the stored message, and its stream. */
  readonly seq?: number | undefined;
  readonly stream?: string | undefined;
  /** Whether the stream had the message already, by its id. */
  readonly duplicate?: boolean | undefined;
  /** When the stream was created, and the number of its last message. */
  readonly created?: string | undefined;
  readonly lastSeq?: number | undefined;
}

function replyOf(json: Json): JetStreamReply {
  const { error, config, seq, stream, duplicate, created, state } = isObject(json) ? json : {};
  const lastSeq = memberOf(state, "last_seq");
  const description = memberOf(error, "description");
  return {
    error: error === undefined
      ? undefined
      : { code: memberOf(error, "err_code"), description: typeof description === "string" ? description : NO_REPLY },
    config: isObject(config) ? config : undefined,
    seq: typeof seq === "number" ? seq : undefined,
    stream: typeof stream === "string" ? stream : undefined,
    duplicate: duplicate === true,
    created: typeof created === "string" ? created : undefined,
    lastSeq: typeof lastSeq === "number" ? lastSeq : undefined,
  };
}

/** A stream that exists; `served` from the log by an embedded endpoint; or `none`, because there is no JetStream. */
type Found = JetStreamReply | "served" | "none";

/** Creates a stream, or updates it to the current limits. Rejects while it is not available. */
export async function ensureStream(
  { bus, log, maxAgeMs }: Pick<StreamOptions, "bus" | "log" | "maxAgeMs">,
  stream: string,
  subjects: readonly string[],
): Promise<Found> {
  let info: JetStreamReply;
  try {
    info = await callApi(bus, `STREAM.INFO.${stream}`, null);
  } catch (error) {
    // A server with JetStream that does not answer is still starting.
    if (error instanceof BusError && error.code === "no_responders" && !bus.hasJetStream()) return "none";
    throw error;
  }
  const code = info.error?.code;
  if (code === NOT_FOR_ACCOUNT || code === NOT_ENABLED) return "none";
  const wanted = { subjects: [...subjects], ...limits(maxAgeMs) };
  if (code === NOT_FOUND) return await createStream(bus, log, stream, wanted);
  if (info.error !== undefined || info.config === undefined) throw new Error(describe(info));
  const { config } = info;
  const [name, value] = SERVED_FROM_LOG;
  if (memberOf(config.metadata, name) === value) return "served";
  if (memberOf(config.metadata, REBUILDING) !== undefined) throw new Error("the stream is being rebuilt");
  const same = Object.entries(wanted).every(([name, value]) => toJson(config[name]) === toJson(value));
  if (same) return info;
  // Other settings by an operator (replicas, sizes, placement) stay.
  const updated = await callApi(bus, `STREAM.UPDATE.${stream}`, { ...config, ...wanted });
  if (updated.error !== undefined) throw new Error(describe(updated));
  log.info("the stream of events has new limits", { stream });
  return info;
}

async function createStream(
  bus: Bus,
  log: Log,
  stream: string,
  wanted: { readonly [name: string]: Json },
): Promise<JetStreamReply> {
  const body = { name: stream, ...wanted, storage: "file", retention: "limits", discard: "old" };
  for (const replicas of bus.clustered() ? [3, 1] : [1]) {
    const made = await callApi(bus, `STREAM.CREATE.${stream}`, { ...body, num_replicas: replicas });
    const code = made.error?.code;
    if (made.error === undefined) {
      log.info("the stream of events was created", { stream, replicas });
      return made;
    }
    if (code === OVERLAP) {
      log.info("events are stored by an existing stream of the server", { reason: describe(made) });
      return {};
    }
    if (code !== NO_CLUSTER && code !== NO_PEERS) throw new Error(describe(made));
  }
  throw new Error("the server has no room for the stream");
}

/** Calls JetStream's API. @throws {BusError} */
export async function callApi(bus: Bus, subject: string, body: Json): Promise<JetStreamReply> {
  return replyOf(await bus.request(`$JS.API.${subject}`, body, API_MS));
}

/** Knows whether there is a stream, and checks it again when that may have changed. */
class StreamWatch {
  #state: "unknown" | "there" | "none" = "unknown";
  #checkAt = -Infinity;
  #checking: Promise<boolean> | undefined;
  /** Number of the newest message that each stream has confirmed here. */
  readonly #confirmed = new Map<string, number>();

  constructor(private readonly options: StreamOptions) {}

  /** As `EventStream.ready`. */
  async ready(): Promise<boolean> {
    if (this.#state === "there") return true;
    if (this.#state === "none" && performance.now() < this.#checkAt) return false;
    this.#checking ??= this.#check().finally(() => this.#checking = undefined);
    return await this.#checking;
  }

  /** Has the stream checked before it is used again: it may have been deleted, or lost messages. */
  doubt(): void {
    this.#state = "unknown";
  }

  /** To be called when a stream stored a message. */
  confirmed(stream: string, seq: number): void {
    this.#confirmed.set(stream, Math.max(seq, this.#confirmed.get(stream) ?? 0));
  }

  async #check(): Promise<boolean> {
    const { log, record, checkMs = 10_000 } = this.options;
    for (const [stream, subjects] of Object.entries(STREAMS)) {
      const found = await ensureStream(this.options, stream, subjects);
      if (stream === STREAM && typeof found !== "string" && found.lastSeq) {
        await this.#compare(found.created ?? "", found.lastSeq);
      }
      if (found === "none" && await record.isKnown()) {
        throw new Error("the server has no JetStream, and earlier transitions are in its stream");
      }
      if (typeof found === "string") {
        if (this.#state !== "none" && found === "none") {
          log.info("the server has no JetStream: events are published over core NATS");
        }
        this.#state = "none";
        this.#checkAt = performance.now() + checkMs;
        return false;
      }
      const lost = (found.lastSeq ?? 0) < (this.#confirmed.get(stream) ?? 0);
      if (lost) this.#confirmed.delete(stream);
      if (await record.found(stream, found.created ?? "", lost)) {
        log.warn("the stream lacks earlier events; `arbor events rebuild` writes it from the database", { stream });
      }
    }
    this.#state = "there";
    return true;
  }

  /** Throws where the newest transition of the stream is not in the database: the database was restored. */
  async #compare(created: string, seq: number): Promise<void> {
    const { bus, log, record } = this.options;
    const reply = await bus.request(`$JS.API.STREAM.MSG.GET.${STREAM}`, { seq }, API_MS).catch((error) => {
      // Not allowed to this user, or not answered now: nothing says that the database was restored.
      log.debug("the newest message of the stream cannot be read", { reason: reason(error) });
    });
    const data = memberOf(memberOf(reply, "message"), "data");
    // It may be deleted meanwhile.
    if (typeof data !== "string" || !await record.isAhead(STREAM, created, Buffer.from(data, "base64").toString())) {
      return;
    }
    log.error("the database was restored to an earlier point: the stream has transitions that it lacks");
    bus.publish(GENERATION_SUBJECT, null);
    throw new Error("the stream has transitions that the database lacks");
  }
}

/** Stores messages in streams and waits for the confirmations. */
export interface StreamWriter {
  /** As `EventStream.store`. */
  store(transitions: readonly Transition[]): Promise<{ left: readonly Transition[]; reason?: string }>;
  stop(): void;
}

/** Creates a writer. `place` gives a message's subject; `confirmed` is called with each confirmation. */
export function createStreamWriter(
  { bus, contents, generation }: Pick<StreamOptions, "bus" | "contents" | "generation">,
  place: (subject: string) => string = (subject) => subject,
  confirmed: (stream: string, seq: number, duplicate: boolean) => void = () => {},
): StreamWriter {
  /**
   * Called at a reconnection, one for each transition in flight. A shared promise would retain memory for each of them.
   */
  const inFlight = new Set<() => void>();
  const unlisten = bus.onReconnect(() => {
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
      const stored = bus.request(place(subject), body, ACK_MS, eventHeaders(id, generation())).then(replyOf);
      const answer = await Promise.race([stored, reconnected]);
      if (answer.error !== undefined || answer.seq === undefined) return describe(answer);
      confirmed(answer.stream ?? "", answer.seq, answer.duplicate === true);
      return undefined;
    } catch (error) {
      return reason(error);
    } finally {
      inFlight.delete(lost);
    }
  };

  return {
    store: async (transitions) => {
      let left = transitions;
      while (left.length > 0) {
        const wave = firstOfEach(left);
        const refusals = await Promise.all(wave.map(put));
        const kept = new Set(wave.filter((_, i) => refusals[i] === undefined));
        left = left.filter((transition) => !kept.has(transition));
        const refused = refusals.find((one) => one !== undefined);
        if (refused !== undefined) return { left, reason: refused };
      }
      return { left };
    },
    stop: unlisten,
  };
}

/** Creates the events' stream. */
export function createEventStream(options: StreamOptions): EventStream {
  const watch = new StreamWatch(options);
  const writer = createStreamWriter(options, undefined, (stream, seq) => watch.confirmed(stream, seq));
  const unlisten = options.bus.onReconnect(() => watch.doubt());
  return {
    ready: () => watch.ready(),
    store: async (transitions) => {
      const stored = await writer.store(transitions);
      // The stream may have been deleted: the next attempt checks first.
      if (stored.reason !== undefined) watch.doubt();
      return stored;
    },
    stop: () => {
      writer.stop();
      unlisten();
    },
  };
}

/** The limits of a stream, as members of its configuration. */
export function limits(maxAgeMs: number): { [name: string]: Json } {
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

/** Why a reply is no success. */
export function describe({ error }: JetStreamReply): string {
  return error?.description ?? NO_REPLY;
}
