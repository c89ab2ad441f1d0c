/**
 * Limits of effects: how many attempts with the same key run at once, and how many start within an interval, over all
 * workers. An effect waits in the queue of its key; its worker starts it when it is among the first for which slots are
 * free. A worker that frees a slot whose next effect belongs to another worker tells the others; a lost message delays
 * the start until the next sweep.
 *
 * At any time the database counts at most `atOnce` slots of a key, and in each interval at most `count` starts. A slot
 * ends when its attempt has failed, when the turn with its outcome or its cancellation is committed, and when the
 * worker loses the partition. So a limit is exceeded only outside of the database: by an attempt that ignores its
 * signal, or by a worker that lost a lease and has not noticed it, because its process was suspended.
 */
import { type Log, reason } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { OpenEffect } from "#src/runtime/effects/openRows.ts";
import { enqueueEffect, type LimitKey, readQueuedKeys, takeSlots } from "#src/runtime/effects/slots.ts";
import { effectId, limitKey } from "#src/runtime/turns/fold.ts";
import { effectWaitSeconds } from "#src/runtime/metrics.ts";
import type { ActorKind, EffectLimit } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** Subject of the message that says that effects of other workers may start. */
const LIMITS_SUBJECT = "arbor.limits";

export interface LimitsOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly worker: string;
  readonly kinds: ReadonlyMap<string, ActorKind>;
  readonly epochOf: (partition: number) => number | undefined;
  /** Starts the effects that `read` takes slots for, without those that end meanwhile. */
  readonly start: (read: () => Promise<readonly OpenEffect[]>) => Promise<void>;
  readonly log: Log;
}

export interface Limits {
  /** Whether an effect has to wait for a slot; then it starts when it gets one. */
  holds(effect: OpenEffect): boolean;
  /** Call when an attempt with a slot has ended; `ms`: when it may be tried again. */
  ended(effect: OpenEffect, ms?: number): void;
  /** Starts what may start in some partitions, from their rows; `all`: they are all that this worker serves. */
  sweep(partitions: readonly number[], all: boolean): Promise<void>;
  stop(): void;
}

/** Most slots that one statement takes, and most keys that one sweep tries. */
const MOST = 64;
/** Longest timer, in milliseconds: later starts are found by a sweep. */
const LONGEST_MS = 3_600_000;

const NO_LIMIT: EffectLimit = {};

export function createLimits(options: LimitsOptions): Limits {
  const { store, bus, worker, kinds, epochOf, log } = options;
  /** Keys of which this worker may have effects in the queue, as the last sweep found them; the one tried longest ago is first. */
  const queued = new Map<string, LimitKey>();
  /** Keys of which slots are being taken: whether to take again, and whether to tell the others. */
  const taking = new Map<string, { again: boolean; tell: boolean }>();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  let stopped = false;

  const textOf = ({ kind, name, key }: LimitKey) => `${kind} ${name} ${key}`;
  const keyOf = ({ entity, name, key = "" }: OpenEffect): LimitKey => ({ kind: entity.kind, name, key });

  const take = async (key: LimitKey, state: { again: boolean; tell: boolean }): Promise<void> => {
    const limit = kinds.get(key.kind)?.limits?.[key.name] ?? NO_LIMIT;
    const { tell } = state;
    state.again = state.tell = false;
    await options.start(async () => {
      const taken = await takeSlots(store, worker, key, limit, MOST);
      for (const ms of taken.waitedMs) effectWaitSeconds.of(key.kind, key.name).observe(ms / 1_000);
      if (taken.others && tell) bus.publish(LIMITS_SUBJECT, { worker, ...key });
      if (taken.againMs !== undefined) later(key, taken.againMs);
      if (taken.conflict || taken.waitedMs.length === MOST) Object.assign(state, { again: true, tell });
      return taken.effects;
    });
  };
  /**
   * Takes slots of a key, one taking at a time. A message does not cause another (`tell`): the effects that are next may
   * belong to a worker that is gone.
   */
  const wake = (key: LimitKey, tell = true): void => {
    const text = textOf(key);
    if (stopped || !kinds.has(key.kind)) return;
    queued.delete(text);
    queued.set(text, key);
    const running = taking.get(text);
    if (running !== undefined) return void Object.assign(running, { again: true, tell: tell || running.tell });
    const state = { again: true, tell };
    taking.set(text, state);
    const run = async () => {
      while (state.again && !stopped) await take(key, state);
    };
    run().catch((error) => log.warn("slots of effects could not be taken", { ...key, reason: reason(error) }))
      .finally(() => taking.delete(text));
  };
  /** Takes again in `ms` milliseconds; replaces the timer of that name. */
  const later = (key: LimitKey, ms: number, name = textOf(key)): void => {
    clearTimeout(timers.get(name));
    if (stopped) return;
    timers.set(
      name,
      setTimeout(() => {
        timers.delete(name);
        wake(key);
      }, Math.min(Math.max(0, Math.ceil(ms)), LONGEST_MS)),
    );
  };
  const unsubscribe = bus.subscribe(LIMITS_SUBJECT, (body) => {
    const key = queued.get(["kind", "name", "key"].map((name) => String(memberOf(body, name))).join(" "));
    if (key !== undefined && memberOf(body, "worker") !== worker) wake(key, false);
  });
  /** Puts an effect into its queue that is not there yet. */
  const enqueue = async (kind: ActorKind, effect: OpenEffect): Promise<void> => {
    const key = limitKey(kind, effect);
    const epoch = epochOf(effect.partition);
    if (key === undefined || epoch === undefined) return;
    await enqueueEffect(store, effect, epoch, key);
    wake(keyOf({ ...effect, key }));
  };

  return {
    holds: (effect) => {
      if (effect.held === true) return false;
      const kind = kinds.get(effect.entity.kind);
      if (effect.key !== undefined) wake(keyOf(effect));
      else if (kind?.limits === undefined || !Object.hasOwn(kind.limits, effect.name)) return false;
      else {
        enqueue(kind, effect).catch((error) =>
          log.warn("an effect could not be queued", { effect: effect.name, reason: reason(error) })
        );
      }
      return true;
    },
    ended: (effect, ms) => {
      wake(keyOf(effect));
      if (ms !== undefined) later(keyOf(effect), ms, effectId(effect.entity, effect.n));
    },
    sweep: async (partitions, all) => {
      const before = [...queued.keys()];
      const found = new Map((await readQueuedKeys(store, partitions)).map((key) => [textOf(key), key]));
      if (all) { for (const text of before) if (!found.has(text) && !taking.has(text)) queued.delete(text); }
      for (const [text, key] of found) if (!queued.has(text)) queued.set(text, key);
      for (const key of [...queued.values()].slice(0, MOST)) wake(key);
    },
    stop: () => {
      stopped = true;
      unsubscribe();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
