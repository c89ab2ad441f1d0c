/**
 * The JetStream stream that keeps transitions, where the server has JetStream: created, brought up to date, looked for again
 * after each reconnection, and done without where the server says that it has none.
 *
 * JetStream is plain requests (`$JS.API.>`) and answers to messages, so that the bus serves as it is. Of one entity at most one
 * transition is on its way at a time: a server that loses the first of two and keeps the second would turn their order round.
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
  /** How long the stream keeps a transition, in milliseconds. */
  readonly maxAgeMs: number;
  /** How long a stream that was there may be away before transitions go without it, in milliseconds. */
  readonly graceMs?: number;
  /** Time between two looks whether there is one now, in milliseconds. */
  readonly lookMs?: number;
}

export interface EventStream {
  /** Whether transitions are to be kept in the stream. Rejects while it was there a moment ago and is away. */
  ready(): Promise<boolean>;
  /** Hands over transitions in order; gives those that the stream did not confirm, in order, and why. */
  store(transitions: readonly Transition[]): Promise<{ left: readonly Transition[]; reason?: string }>;
  stop(): void;
}

const API_MS = 3_000;
const ACK_MS = 5_000;
const DUPLICATES_MS = 120_000;

/** Codes of JetStream's refusals. */
const NOT_FOUND = 10_059;
const NOT_FOR_ACCOUNT = 10_039;
const NOT_ENABLED = 10_076;
const OVERLAP = 10_065;
const NO_CLUSTER = 10_074;
const NO_PEERS = 10_005;

interface Answer {
  readonly error?: { readonly code?: number; readonly err_code?: number; readonly description?: string };
  readonly config?: { readonly [name: string]: Json };
  readonly stream?: string;
  readonly seq?: number;
}

export function createEventStream(options: StreamOptions): EventStream {
  const { bus, log, maxAgeMs, graceMs = 10_000, lookMs = 10_000 } = options;
  let state: "unknown" | "there" | "none" = "unknown";
  /** What was said last, so that it is said once. */
  let said: "there" | "none" | undefined;
  let awaySince: number | undefined;
  let lookAt = -Infinity;
  let looking: Promise<boolean> | undefined;
  /** Told of a reconnection, one for each transition on its way: a promise that they shared would keep something of each of them. */
  const onItsWay = new Set<() => void>();

  const api = async (subject: string, body: Json): Promise<Answer> =>
    await bus.request(`$JS.API.${subject}`, body, API_MS) as unknown as Answer;

  /** Resolves to whether the stream is there; rejects when nobody can say. */
  const ensure = async (): Promise<boolean> => {
    let info: Answer;
    try {
      info = await api(`STREAM.INFO.${STREAM}`, null);
    } catch (error) {
      if (error instanceof BusError && error.code === "no_responders") return false;
      throw error;
    }
    const code = info.error?.err_code;
    if (code === NOT_FOR_ACCOUNT || code === NOT_ENABLED) return false;
    if (code === NOT_FOUND) return await create();
    if (info.error !== undefined || info.config === undefined) throw new Error(sentence(info));
    const { config } = info;
    const wanted = limits(maxAgeMs);
    const same = Object.entries(wanted).every(([name, value]) => toJson(config[name]) === toJson(value));
    if (same) return true;
    // What an operator set beside these (replicas, sizes, placement) stays.
    const updated = await api(`STREAM.UPDATE.${STREAM}`, { ...config, ...wanted });
    if (updated.error !== undefined) throw new Error(sentence(updated));
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
        log.info("events are kept by a stream of the server's own", { reason: sentence(made) });
        return true;
      }
      if (code !== NO_CLUSTER && code !== NO_PEERS) throw new Error(sentence(made));
    }
    throw new Error("the server has no room for the stream");
  };

  /** Takes note that the stream is away; throws while it may come back soon. */
  const away = (why: string, sure: boolean): false => {
    awaySince ??= performance.now();
    const patient = said === "there" || (said === undefined && !sure);
    if (patient && performance.now() - awaySince < graceMs) {
      state = "unknown";
      throw new Error(`the stream of events is away: ${why}`);
    }
    if (patient) log.warn("events are not kept in a stream: they go over core NATS", { reason: why });
    said = "none";
    state = "none";
    lookAt = performance.now() + lookMs;
    return false;
  };
  const confirmed = () => {
    awaySince = undefined;
    if (said === "none") log.info("events are kept in the stream again", { stream: STREAM });
    said = "there";
  };
  const look = async (): Promise<boolean> => {
    let there: boolean;
    try {
      there = await ensure();
    } catch (error) {
      return away(reason(error), false);
    }
    if (!there) return away("the server has no JetStream", true);
    state = "there";
    return true;
  };

  const unlisten = bus.onReconnect(() => {
    if (state === "there") state = "unknown";
    lookAt = -Infinity;
    for (const lost of onItsWay) lost();
  });

  const ready = async () => {
    if (state === "there") return true;
    if (state === "none" && performance.now() < lookAt) return false;
    looking ??= look().finally(() => looking = undefined);
    return await looking;
  };

  /** Undefined when the stream has it, else why not. */
  const put = async (transition: Transition): Promise<string | undefined> => {
    let lost = () => {};
    const reconnected = new Promise<Answer>((resolve) => {
      lost = () => resolve({ error: { description: "the connection was lost" } });
    });
    onItsWay.add(lost);
    try {
      const answer = await Promise.race([
        bus.request(eventSubject(transition), cloudEvent(transition), ACK_MS, { "Nats-Msg-Id": eventId(transition) }),
        reconnected,
      ]) as unknown as Answer;
      if (answer?.error !== undefined || typeof answer?.seq !== "number") return sentence(answer);
      return undefined;
    } catch (error) {
      return reason(error);
    } finally {
      onItsWay.delete(lost);
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
          // Somebody may have deleted it: the next try looks first.
          if (kept.size > 0) state = "unknown";
          else away(refused, false);
        } catch {
          // Patience; the reason goes with what is left.
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

function sentence(answer: Answer | null): string {
  return answer?.error?.description ?? "the server's answer is no confirmation";
}
