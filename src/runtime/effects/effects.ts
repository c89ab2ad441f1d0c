/**
 * Runs the effects that turns requested, after their commit and at least once. The row of an effect stays open until
 * the turn that applies its outcome is committed. If the worker dies before that, or loses the partition, the next
 * owner runs it.
 */
import { systemClock, type Timers } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { endSpan, refOf, type TraceRef, within } from "#src/base/trace.ts";
import type { Cancel } from "#src/base/turn.ts";
import { type EffectEnd, effectId, isCancelled, type TurnItem } from "#src/runtime/turns/fold.ts";
import { type OpenEffect, postponeEffect } from "#src/runtime/effects/openRows.ts";
import { createLimits, type LimitsOptions } from "#src/runtime/effects/limits.ts";
import { effects as counted, effectSeconds } from "#src/runtime/metrics.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import { effectSpan } from "#src/runtime/spans.ts";
import { type ActorKind, type EntityRef, type Event, Unfinished, type WorkerStage } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export interface EffectsOptions {
  readonly store: Store;
  readonly kinds: ReadonlyMap<string, ActorKind>;
  readonly epochOf: (partition: number) => number | undefined;
  readonly deliver: (
    kind: ActorKind,
    entity: EntityRef,
    item: TurnItem | EffectEnd,
    trace: TraceRef | undefined,
  ) => Promise<boolean>;
  readonly onStep?: ((step: WorkerStage) => void | Promise<void>) | undefined;
  readonly log: Log;
  /** Without it no effect is limited. */
  readonly limits?: Pick<LimitsOptions, "bus" | "worker">;
  /** Timeout of one attempt, in milliseconds; 30,000 by default. */
  readonly attemptMs?: number;
  /** Most effects that run at the same time, 64 by default. */
  readonly atOnce?: number;
  /** The clock of timeouts, by default the machine's. */
  readonly timers?: Timers;
  /** Numbers in [0, 1), for the jitter of retries. */
  readonly random?: () => number;
}

export interface Effects {
  /** Runs effects, except those already running. */
  start(effects: readonly OpenEffect[]): void;
  /**
   * Runs the open effects that `read` finds in their rows. An effect that ended while `read` was under way is left out:
   * its row may have been read before the commit of its end.
   */
  resume(read: () => Promise<readonly OpenEffect[]>): Promise<void>;
  /** Aborts and forgets effects of an entity that were cancelled. */
  cancel(entity: EntityRef, cancelled: readonly Cancel[]): void;
  /** Aborts and forgets the effects of partitions that moved to another worker. */
  leave(partitions: ReadonlySet<number>): void;
  /** Starts effects that wait for a slot in some partitions; `all`: they are all that this worker serves. */
  resumeQueued(partitions: readonly number[], all: boolean): Promise<void>;
  /** Starts no further effects that wait for a slot. */
  stop(): void;
  /** Number of effects that run or wait to run in this process. */
  count(): number;
}

/** Most effects in memory; further ones wait in their rows. */
const QUEUED = 10_000;

/** Backoff after the n-th failure, in milliseconds: 100, 200, 400 … up to 30,000, with a jitter of ±25 %. */
export function backoffMs(failures: number, random: number = Math.random()): number {
  return Math.min(100 * 2 ** (failures - 1), 30_000) * (0.75 + random / 2);
}

/** Why a running attempt is aborted. */
const CANCELLED = new Error("the effect was cancelled");
const MOVED = new Error("the entity moved to another worker");

/** What happened to effects while their rows were read. */
interface Since {
  readonly ended?: Set<string>;
  readonly cancelled: [EntityRef, readonly Cancel[]][];
}

/** Whether an effect has ended or was cancelled. */
function isOver(effect: OpenEffect, { ended, cancelled }: Since): boolean {
  const { entity, n } = effect;
  return ended?.has(effectId(entity, n)) === true ||
    cancelled.some(([{ kind, id }, some]) => kind === entity.kind && id === entity.id && isCancelled(some, effect));
}

/** Creates the runner of effects. One function, because its parts share the queue and the effects in memory. */
export function createEffects(options: EffectsOptions): Effects {
  const { store, kinds, epochOf, deliver, onStep, log, timers = systemClock, random = Math.random } = options;
  const known = new Map<string, { effect: OpenEffect; lost: AbortController }>();
  /** One for each read of rows under way. */
  const reads = new Set<Since>();
  /** When effects with a slot are attempted again, in milliseconds. */
  const again = new WeakMap<OpenEffect, number>();
  let queue: string[] = [];
  let running = 0;

  const pump = () => {
    while (running < (options.atOnce ?? 64)) {
      const key = queue.shift();
      if (key === undefined) return;
      const entry = known.get(key);
      if (entry === undefined) continue;
      running++;
      run(entry.effect, entry.lost.signal).catch((error) =>
        log.error("an effect was left to another worker", { effect: key, reason: reason(error) })
      ).finally(() => {
        running--;
        if (known.get(key) === entry) known.delete(key);
        for (const { ended } of reads) ended?.add(key);
        const { effect } = entry;
        // Without an epoch it has not run.
        if (effect.held === true && epochOf(effect.partition) !== undefined) limits?.ended(effect, again.get(effect));
        pump();
      });
    }
  };

  const run = async (effect: OpenEffect, lost: AbortSignal) => {
    const { entity, n } = effect;
    const id = effectId(entity, n);
    const kind = kinds.get(entity.kind);
    const epoch = epochOf(effect.partition);
    if (kind === undefined || epoch === undefined || lost.aborted) return;
    await onStep?.({ at: "before-effect", entity, causes: [id] });
    let event: Event | Unfinished | undefined;
    const span = effectSpan(effect);
    const begun = performance.now();
    const ended = (outcome: "done" | "unfinished" | "failed" | "left" | "cancelled") => {
      counted.of(entity.kind, effect.name, outcome).inc();
      effectSeconds.of(entity.kind, effect.name).since(begun);
      endSpan(span, outcome === "done" || outcome === "unfinished" ? undefined : outcome);
    };
    try {
      event = await within(span, () => attempt(kind, effect, id, lost));
      ended(event instanceof Unfinished ? "unfinished" : "done");
    } catch (error) {
      ended(!lost.aborted ? "failed" : lost.reason === CANCELLED ? "cancelled" : "left");
      if (!lost.aborted) await retryLater(effect, epoch, reason(error));
      return;
    }
    await onStep?.({ at: "after-effect", entity, causes: [id] });
    if (lost.aborted) return;
    if (event instanceof Unfinished) return await postpone(effect, epoch, event.againMs, null);
    const item: TurnItem | EffectEnd = event === undefined
      ? { from: "ended", n }
      : { from: "outcome", n, event, effect };
    if (!(await deliver(kind, entity, item, refOf(span))) && !lost.aborted) {
      await retryLater(effect, epoch, "the entity did not take the outcome");
    }
  };

  const attempt = async (kind: ActorKind, effect: OpenEffect, id: string, lost: AbortSignal) => {
    const code = kind.effects?.[effect.name];
    if (code === undefined) throw new Error(`${kind.kind} has no effect "${effect.name}"`);
    const ms = options.attemptMs ?? 30_000;
    const ended = new AbortController();
    const endTimeout = timers.after(ms, () => ended.abort(new Error(`no outcome within ${ms} ms`)));
    const leave = () => ended.abort(lost.reason);
    lost.addEventListener("abort", leave, { once: true });
    try {
      const context = {
        entity: effect.entity,
        id,
        attempt: effect.attempts + 1,
        signal: ended.signal,
        deadline: timers.now() + ms,
      };
      const event = await Promise.race([
        code(effect.input, context),
        new Promise<never>((_, reject) => ended.signal.addEventListener("abort", () => reject(ended.signal.reason))),
      ]);
      if (event === undefined || event instanceof Unfinished) return event;
      const parsed = kind.outcomes.safeParse(event);
      if (!parsed.success) throw new Error(`the outcome of the effect "${effect.name}" is not valid for ${kind.kind}`);
      return parsed.data;
    } finally {
      endTimeout();
      lost.removeEventListener("abort", leave);
    }
  };

  const retryLater = async (effect: OpenEffect, epoch: number, why: string) => {
    const { entity, name, n, attempts } = effect;
    log.warn("an effect failed and will be retried", {
      entity: entityKey(entity),
      effect: name,
      n,
      attempts,
      reason: why,
    });
    await postpone(effect, epoch, backoffMs(attempts + 1, random()), why.replaceAll("\0", ""));
  };

  const postpone = async (effect: OpenEffect, epoch: number, ms: number, error: string | null) => {
    if (effect.held === true) again.set(effect, ms);
    await postponeEffect(store, effect, epoch, ms, error);
  };

  const start: Effects["start"] = (effects) => {
    for (const effect of effects) {
      const key = effectId(effect.entity, effect.n);
      if (known.has(key) || limits?.holds(effect) === true) continue;
      if (known.size >= QUEUED) break;
      known.set(key, { effect, lost: new AbortController() });
      queue.push(key);
    }
    pump();
  };

  const resume: Effects["resume"] = async (read) => {
    const since = { ended: new Set<string>(), cancelled: [] };
    reads.add(since);
    try {
      const found = await read();
      start(found.filter((effect) => !isOver(effect, since)));
    } finally {
      reads.delete(since);
    }
  };
  const limits = options.limits && createLimits({ ...options.limits, store, kinds, epochOf, log, start: resume });

  return {
    start,
    resume,
    resumeQueued: async (partitions, all) => await limits?.sweep(partitions, all),
    stop: () => limits?.stop(),
    cancel: (entity, cancelled) => {
      for (const read of reads) read.cancelled.push([entity, cancelled]);
      for (const [key, { effect, lost }] of known) {
        if (!isOver(effect, { cancelled: [[entity, cancelled]] })) continue;
        lost.abort(CANCELLED);
        known.delete(key);
      }
    },
    leave: (partitions) => {
      for (const [key, { effect, lost }] of known) {
        if (!partitions.has(effect.partition)) continue;
        lost.abort(MOVED);
        known.delete(key);
      }
      queue = queue.filter((key) => known.has(key));
    },
    count: () => known.size,
  };
}
