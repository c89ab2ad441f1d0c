/** Delivers to one webhook while this process holds the lease: turns transitions into delivery rows and sends them. */
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

/** Source of deliveries, and how they are sent. */
export interface DeliveryOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly log: Log;
  /** Whether webhooks may go to this machine, to private networks and over http. */
  readonly allowPrivate: boolean;
  readonly retries?: Retries;
  /** Timeout of one attempt, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
  /** Certificates to trust instead of the system's, PEM. */
  readonly ca?: string;
  /** Clock of signatures, which receivers compare with their own; by default the system clock. */
  readonly clock?: Clock;
}

export interface EndpointOptions extends DeliveryOptions {
  readonly webhook: Webhook;
  /** Epoch of the lease. */
  readonly epoch: number;
  readonly signal: AbortSignal;
}

export interface Endpoint {
  /** Has due deliveries read now. */
  wake(): void;
  /** Whether it has ended by itself: the webhook was disabled or removed, or the lease was lost. */
  ended(): boolean;
  stop(): Promise<void>;
}

/** Most pending delivery rows; further transitions wait in the log. */
const WAITING = 500;
/** Most deliveries in flight to one receiver, each of another entity. */
const IN_FLIGHT = 8;
const TIMEOUT_MS = 10_000;
const IDLE_MS = 5_000;
/** How often the position of a webhook without new deliveries is stored, in milliseconds. */
const STORE_MS = 60_000;
/** How often old delivered rows are deleted, in milliseconds. */
const TRIM_MS = 60_000;

/** Starts deliveries to a webhook. One function, because its parts share what waits and the webhook's status. */
export function startEndpoint(options: EndpointOptions): Endpoint {
  const { store, webhook, epoch, retries = RETRIES } = options;
  const log = options.log.with({ webhook: webhook.id });
  const stopped = new AbortController();
  const over = AbortSignal.any([options.signal, stopped.signal]);
  let waker = new AbortController();
  let waiting = webhook.pending;
  let status = webhook.status;

  const retry = async <T>(what: string, write: () => Promise<T>): Promise<T | undefined> => {
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

  /** Turns transitions into delivery rows. */
  const fill = async () => {
    let at: Position = webhook.position;
    let storedAt = performance.now();
    const follow = options.events.follow(at, webhook.filter, over);
    for await (const batch of follow) {
      if (batch.events.length === 0 && !batch.reset && performance.now() - storedAt < STORE_MS) continue;
      if (batch.reset) log.warn("transitions were deleted before they were delivered");
      const from = at;
      const queued = await retry(
        "deliveries could not be queued",
        () => queueEvents(store, queueOf(webhook.id, epoch, from, batch)),
      );
      // The webhook was removed, or the lease was lost.
      if (queued === undefined || !queued) break;
      at = batch.position;
      storedAt = performance.now();
      waiting += batch.events.length;
      if (batch.events.length > 0) waker.abort();
      while (waiting >= WAITING && !over.aborted) await sleep(50, over);
    }
    stopped.abort();
  };

  /** Sends due deliveries, a few at a time. */
  const send = async () => {
    const secret = await retry("the secret is not read yet", () => webhookSecret(store, webhook.id));
    let trimmedAt = performance.now();
    while (!over.aborted && secret !== undefined) {
      waker = new AbortController();
      const batch = await retry("deliveries not read yet", () => dueDeliveries(store, webhook.id, IN_FLIGHT));
      if (batch === undefined) break;
      if (batch.due.length === 0) {
        const wait = Math.min(batch.nextMs ?? IDLE_MS, IDLE_MS);
        await Promise.race([sleep(wait, waker.signal), sleep(wait, over)]);
        continue;
      }
      const outcomes = (await Promise.all(batch.due.map((due) => attempt(due, secret)))).flat();
      if (over.aborted && outcomes.length === 0) break;
      const next = statusAfter(outcomes, retries);
      const noted = await retry(
        "outcomes of deliveries could not be stored",
        () => noteOutcomes(store, { id: webhook.id, epoch, outcomes, ...next }),
      );
      if (noted === undefined || !noted) break;
      waiting = Math.max(0, waiting - outcomes.filter(({ posted }) => posted.ok).length);
      if (next.status !== status) logStatus(log, next.status, outcomes);
      status = next.status;
      if (status === "disabled") break;
      if (performance.now() - trimmedAt > TRIM_MS) {
        trimmedAt = performance.now();
        await trimDeliveries(store, webhook.id).catch((error) =>
          log.warn("deliveries could not be deleted", { reason: reason(error) })
        );
      }
    }
    stopped.abort();
  };

  const attempt = async ({ n, event, attempts }: DueDelivery, secret: Uint8Array): Promise<DeliveryOutcome[]> => {
    const posted = await sendEvent({ ...options, signal: over }, webhook, secret, `${webhook.id}_${n}`, event);
    // Aborted by this process: not an attempt that the receiver failed.
    if (over.aborted && !posted.ok) return [];
    const tries = attempts + 1;
    return [{ n, posted, attempts: tries, waitMs: waitAfter(tries, retries, posted.retryAfterMs) }];
  };

  const run = Promise.all([fill(), send()]).catch((error) => {
    log.error("a webhook's deliveries stopped", { reason: reason(error) });
    stopped.abort();
  });
  return {
    wake: () => waker.abort(),
    ended: () => stopped.signal.aborted,
    stop: async () => {
      stopped.abort();
      await run;
    },
  };
}

/** The status of a webhook after some attempts. */
function statusAfter(
  outcomes: readonly DeliveryOutcome[],
  retries: Retries,
): { status: Webhook["status"]; reason: string | null } {
  const failed = outcomes.filter(({ posted }) => !posted.ok);
  const [first] = failed;
  if (first === undefined) return { status: "active", reason: null };
  const gone = failed.find(({ posted }) => posted.code === 410);
  if (gone !== undefined) return { status: "disabled", reason: "The receiver responded with 410 (Gone)." };
  const last = failed.find(({ attempts }) => attempts >= retries.most);
  if (last === undefined) return { status: "failing", reason: first.posted.error };
  return { status: "disabled", reason: `Delivery ${last.n} failed ${last.attempts} times. ${last.posted.error}` };
}

/** Logs a new status. The text of a receiver's error is untrusted: only its status is logged. */
function logStatus(log: Log, status: Webhook["status"], outcomes: readonly DeliveryOutcome[]): void {
  const codes = [...new Set(outcomes.flatMap(({ posted }) => posted.ok ? [] : posted.code ?? "no answer"))];
  if (status === "active") log.info("a webhook accepts deliveries again");
  else log.warn(status === "failing" ? "a webhook fails" : "a webhook is disabled", { codes });
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
