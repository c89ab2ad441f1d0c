/** One webhook while this process holds the lease: its transitions become rows, its rows are sent. */
import { type Clock, sleep, systemClock } from "#src/base/clock.ts";
import { type Json, toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { cloudEvent } from "#src/runtime/events/transition.ts";
import type { EventBatch, EventLog } from "#src/runtime/events/eventLog.ts";
import { type Position, positionText } from "#src/runtime/events/position.ts";
import { type DeliveryOutcome, noteOutcomes, queueEvents, trimDeliveries } from "#src/runtime/webhooks/queue.ts";
import { post, type PostResult } from "#src/runtime/webhooks/post.ts";
import { RETRIES, type Retries, waitAfter } from "#src/runtime/webhooks/retries.ts";
import { dueDeliveries, type DueDelivery, type Webhook, webhookSecret } from "#src/runtime/webhooks/rows.ts";
import { signatureHeaders } from "#src/runtime/webhooks/sign.ts";
import type { Store } from "#src/store/store.ts";

/** Where deliveries are from, and how they are sent. */
export interface DeliveryOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly log: Log;
  /** Whether webhooks may lead to this machine and to private networks, and over http. */
  readonly allowPrivate: boolean;
  readonly retries?: Retries;
  /** Longest time for one attempt, in milliseconds. */
  readonly timeoutMs?: number;
  /** Certificates to trust instead of the usual ones, PEM. */
  readonly ca?: string;
  /** Time of signatures, which receivers hold against their own: the machine's clock unless given. */
  readonly clock?: Clock;
}

export interface EndpointOptions extends DeliveryOptions {
  readonly webhook: Webhook;
  /** Under which what is written counts. */
  readonly epoch: number;
  readonly signal: AbortSignal;
}

export interface Endpoint {
  /** Looks for deliveries now. */
  wake(): void;
  /** Whether it has come to an end by itself: disabled, removed, or no longer this process's. */
  ended(): boolean;
  stop(): Promise<void>;
}

/** Deliveries that may wait as rows; beyond them the transitions wait where they are. */
const WAITING = 500;
/** Messages on their way to one receiver at a time, each of another entity. */
const AT_ONCE = 8;
const TIMEOUT_MS = 10_000;
const IDLE_MS = 5_000;
/** How often the place of a webhook for which there is nothing is noted, in milliseconds. */
const NOTE_MS = 60_000;
/** How often deliveries that arrived long ago are deleted, in milliseconds. */
const TRIM_MS = 60_000;

export function startEndpoint(options: EndpointOptions): Endpoint {
  const { store, webhook, epoch, retries = RETRIES } = options;
  const log = options.log.with({ webhook: webhook.id });
  const stopped = new AbortController();
  const over = AbortSignal.any([options.signal, stopped.signal]);
  let bell = new AbortController();
  let waiting = webhook.pending;
  let status = webhook.status;

  const settled = async <T>(what: string, write: () => Promise<T>): Promise<T | undefined> => {
    while (!over.aborted) {
      try {
        return await write();
      } catch (error) {
        log.warn(what, { reason: reason(error) });
        await sleep(1_000, over);
      }
    }
    return undefined;
  };

  /** Makes rows of the transitions. */
  const fill = async () => {
    let at: Position = webhook.position;
    let notedAt = performance.now();
    const follow = options.events.follow(at, webhook.filter, over);
    for await (const batch of follow) {
      if (batch.events.length === 0 && !batch.reset && performance.now() - notedAt < NOTE_MS) continue;
      if (batch.reset) log.warn("transitions were deleted before they were delivered");
      const from = at;
      const queued = await settled(
        "deliveries not queued yet",
        () => queueEvents(store, queueOf(webhook.id, epoch, from, batch)),
      );
      // Removed, or somebody else holds the lease.
      if (queued === undefined || !queued) break;
      at = batch.position;
      notedAt = performance.now();
      waiting += batch.events.length;
      if (batch.events.length > 0) bell.abort();
      while (waiting >= WAITING && !over.aborted) await sleep(50, over);
    }
    stopped.abort();
  };

  /** Sends what is due, a few at a time. */
  const send = async () => {
    const secret = await settled("the secret is not read yet", () => webhookSecret(store, webhook.id));
    let trimmedAt = performance.now();
    while (!over.aborted && secret !== undefined) {
      bell = new AbortController();
      const look = await settled("deliveries not read yet", () => dueDeliveries(store, webhook.id, AT_ONCE));
      if (look === undefined) break;
      if (look.due.length === 0) {
        const wait = Math.min(look.nextMs ?? IDLE_MS, IDLE_MS);
        await Promise.race([sleep(wait, bell.signal), sleep(wait, over)]);
        continue;
      }
      const outcomes = (await Promise.all(look.due.map((due) => attempt(due, secret)))).flat();
      if (over.aborted && outcomes.length === 0) break;
      const next = judged(outcomes);
      const noted = await settled(
        "outcomes of deliveries not noted yet",
        () => noteOutcomes(store, { id: webhook.id, epoch, outcomes, ...next }),
      );
      if (noted === undefined || !noted) break;
      waiting = Math.max(0, waiting - outcomes.filter(({ posted }) => posted.ok).length);
      tell(next, outcomes);
      status = next.status;
      if (status === "disabled") break;
      if (performance.now() - trimmedAt > TRIM_MS) {
        trimmedAt = performance.now();
        await trimDeliveries(store, webhook.id).catch((error) =>
          log.warn("deliveries not deleted", { reason: reason(error) })
        );
      }
    }
    stopped.abort();
  };

  const attempt = async ({ n, event, attempts }: DueDelivery, secret: Uint8Array): Promise<DeliveryOutcome[]> => {
    const posted = await sendEvent({ ...options, signal: over }, webhook, secret, `${webhook.id}_${n}`, event);
    // Cut off by this process: it was no attempt of the receiver's to answer.
    if (over.aborted && !posted.ok) return [];
    const tries = attempts + 1;
    return [{ n, posted, attempts: tries, waitMs: waitAfter(tries, retries, posted.retryAfterMs) }];
  };

  const judged = (outcomes: readonly DeliveryOutcome[]): { status: Webhook["status"]; reason: string | null } => {
    const failed = outcomes.filter(({ posted }) => !posted.ok);
    if (failed.length === 0) return { status: "active", reason: null };
    const gone = failed.find(({ posted }) => posted.code === 410);
    if (gone !== undefined) return { status: "disabled", reason: "The receiver answered 410: it wants no more." };
    const last = failed.find(({ attempts }) => attempts >= retries.most);
    if (last === undefined) return { status: "failing", reason: failed[0]!.posted.error };
    return { status: "disabled", reason: `Delivery ${last.n} failed ${last.attempts} times. ${last.posted.error}` };
  };
  const tell = (next: { status: Webhook["status"]; reason: string | null }, outcomes: readonly DeliveryOutcome[]) => {
    if (next.status === status) return;
    // An error of a receiver may say anything: its status is enough for the log.
    const codes = [...new Set(outcomes.flatMap(({ posted }) => posted.ok ? [] : posted.code ?? "no answer"))];
    if (next.status === "active") log.info("a webhook takes its deliveries again");
    else log.warn(next.status === "failing" ? "a webhook fails" : "a webhook is disabled", { codes });
  };

  const run = Promise.all([fill(), send()]).catch((error) => {
    log.error("a webhook's deliveries stopped", { reason: reason(error) });
    stopped.abort();
  });
  return {
    wake: () => bell.abort(),
    ended: () => stopped.signal.aborted,
    stop: async () => {
      stopped.abort();
      await run;
    },
  };
}

function queueOf(id: string, epoch: number, from: Position, { events, position, reset }: EventBatch) {
  return {
    id,
    epoch,
    from: positionText(from),
    to: positionText(position),
    reset,
    events: events.map(({ transition }) => ({ entity: transition.entity, event: toJson(cloudEvent(transition)) })),
  };
}

/** Signs a CloudEvent and sends it, once. */
export async function sendEvent(
  options: Pick<DeliveryOptions, "allowPrivate" | "timeoutMs" | "ca" | "clock"> & { readonly signal?: AbortSignal },
  { url }: Pick<Webhook, "url">,
  secret: Uint8Array,
  id: string,
  event: Json,
): Promise<PostResult> {
  const body = toJson(event);
  const headers = {
    "content-type": "application/cloudevents+json; charset=utf-8",
    "user-agent": "arbor-webhooks",
    ...signatureHeaders(secret, { id, at: (options.clock ?? systemClock).now(), body }),
  };
  const { allowPrivate, timeoutMs = TIMEOUT_MS, ca, signal } = options;
  return await post(new URL(url), headers, body, { allowPrivate, timeoutMs, ca, signal });
}
