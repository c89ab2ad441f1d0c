/**
 * The JetStream stream that stores transitions, where the server has JetStream. The stream is created, updated to the
 * current limits, and checked again after each reconnection. Without JetStream transitions go over core NATS.
 *
 * JetStream's API is plain requests (`$JS.API.>`) and replies to messages, so the bus is enough. At most one transition
 * of an entity is in flight at a time: a server that loses the first of two and stores the second would reverse their
 * order.
 */
import { type Json, toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { type Bus, BusError } from "#src/runtime/bus/bus.ts";
import { cloudEvent, eventId, eventSubject, type Transition } from "#src/runtime/events/transition.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";

/** Name of the stream. */
export const STREAM = "ARBOR_EVENTS";
const SUBJECTS = ["arbor.event.>"];

export interface StreamOptions {
  readonly bus: Bus;
  readonly log: Log;
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

interface JetStreamReply {
  readonly error?: { readonly code?: number; readonly err_code?: number; readonly description?: string };
  readonly config?: { readonly [name: string]: Json };
  readonly stream?: string;
  readonly seq?: number;
}

/** Creates the stream's writer. One function, because its parts share what is known of the stream. */
export function createEventStream(options: StreamOptions): EventStream {
  const { bus, log, maxAgeMs, graceMs = 10_000, checkMs = 10_000 } = options;
  let state: "unknown" | "there" | "none" = "unknown";
  /** The state that was logged last, so that each change is logged once. */
  let logged: "there" | "none" | undefined;
  let awaySince: number | undefined;
  let checkAt = -Infinity;
  let checking: Promise<boolean> | undefined;
  /**
   * Called at a reconnection, one for each transition in flight. A shared promise would retain memory for each of them.
   */
  const inFlight = new Set<() => void>();

  const api = async (subject: string, body: Json): Promise<JetStreamReply> =>
    await bus.request(`$JS.API.${subject}`, body, API_MS) as unknown as JetStreamReply;

  /** Resolves to whether the stream exists, after creating or updating it; rejects when that is unknown. */
  const ensure = async (): Promise<boolean> => {
    let info: JetStreamReply;
    try {
      info = await api(`STREAM.INFO.${STREAM}`, null);
    } catch (error) {
      if (error instanceof BusError && error.code === "no_responders") return false;
      throw error;
    }
    const code = info.error?.err_code;
    if (code === NOT_FOR_ACCOUNT || code === NOT_ENABLED) return false;
    if (code === NOT_FOUND) return await create();
    if (info.error !== undefined || info.config === undefined) throw new Error(describe(info));
    const { config } = info;
    const wanted = limits(maxAgeMs);
    const same = Object.entries(wanted).every(([name, value]) => toJson(config[name]) === toJson(value));
    if (same) return true;
    // Other settings by an operator (replicas, sizes, placement) stay.
    const updated = await api(`STREAM.UPDATE.${STREAM}`, { ...config, ...wanted });
    if (updated.error !== undefined) throw new Error(describe(updated));
    log.info("the stream of events has new limits", { stream: STREAM });
    return true;
  };
  const create = async (): Promise<boolean> => {
    const body = { name: STREAM, ...limits(maxAgeMs), storage: "file", retention: "limits", discard: "old" };
    for (const replicas of bus.clustered() ? [3, 1] : [1]) {
      const made = await api(`STREAM.CREATE.${STREAM}`, { ...body, num_replicas: replicas });
      const code = made.error?.err_code;
      if (made.error === undefined) {
        log.info("the stream of events was created", { stream: STREAM, replicas });
        return true;
      }
      if (code === OVERLAP) {
        log.info("events are stored by an existing stream of the server", { reason: describe(made) });
        return true;
      }
      if (code !== NO_CLUSTER && code !== NO_PEERS) throw new Error(describe(made));
    }
    throw new Error("the server has no room for the stream");
  };

  /** Records that the stream is unavailable; throws while it may come back within `graceMs`. */
  const unavailable = (why: string, sure: boolean): false => {
    awaySince ??= performance.now();
    const mayReturn = logged === "there" || (logged === undefined && !sure);
    if (mayReturn && performance.now() - awaySince < graceMs) {
      state = "unknown";
      throw new Error(`the stream of events is not available: ${why}`);
    }
    if (mayReturn) log.warn("events are not stored in a stream; they are published over core NATS", { reason: why });
    logged = "none";
    state = "none";
    checkAt = performance.now() + checkMs;
    return false;
  };
  const confirmed = () => {
    awaySince = undefined;
    if (logged === "none") log.info("events are stored in the stream again", { stream: STREAM });
    logged = "there";
  };
  const check = async (): Promise<boolean> => {
    let there: boolean;
    try {
      there = await ensure();
    } catch (error) {
      return unavailable(reason(error), false);
    }
    if (!there) return unavailable("the server has no JetStream", true);
    state = "there";
    return true;
  };

  const unlisten = bus.onReconnect(() => {
    if (state === "there") state = "unknown";
    checkAt = -Infinity;
    for (const lost of inFlight) lost();
  });

  const ready = async () => {
    if (state === "there") return true;
    if (state === "none" && performance.now() < checkAt) return false;
    checking ??= check().finally(() => checking = undefined);
    return await checking;
  };

  /** Stores one transition. Resolves to the reason when the stream did not confirm it. */
  const put = async (transition: Transition): Promise<string | undefined> => {
    let lost = () => {};
    const reconnected = new Promise<JetStreamReply>((resolve) => {
      lost = () => resolve({ error: { description: "the connection was lost" } });
    });
    inFlight.add(lost);
    try {
      const answer = await Promise.race([
        bus.request(eventSubject(transition), cloudEvent(transition), ACK_MS, { "Nats-Msg-Id": eventId(transition) }),
        reconnected,
      ]) as unknown as JetStreamReply;
      if (answer?.error !== undefined || typeof answer?.seq !== "number") return describe(answer);
      return undefined;
    } catch (error) {
      return reason(error);
    } finally {
      inFlight.delete(lost);
    }
  };

  return {
    ready,
    store: async (transitions) => {
      let left = transitions;
      while (left.length > 0) {
        const wave = firstOfEach(left);
        const refusals = await Promise.all(wave.map(put));
        const kept = new Set(wave.filter((_, i) => refusals[i] === undefined));
        left = left.filter((transition) => !kept.has(transition));
        if (kept.size > 0) confirmed();
        const refused = refusals.find((one) => one !== undefined);
        if (refused === undefined) continue;
        try {
          // The stream may have been deleted: the next attempt checks first.
          if (kept.size > 0) state = "unknown";
          else unavailable(refused, false);
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
    subjects: SUBJECTS,
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

function describe(reply: JetStreamReply | null): string {
  return reply?.error?.description ?? "the server's reply is not an acknowledgement";
}
