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

/** Starts deliveries to a webhook. */
export function startEndpoint(options: EndpointOptions): Endpoint {
  return new RunningEndpoint(options);
}

class RunningEndpoint implements Endpoint {
  private readonly log: Log;
  private readonly retries: Retries;
  private readonly stopped = new AbortController();
  private readonly over: AbortSignal;
  private readonly run: Promise<unknown>;
  private waker = new AbortController();
  /** Number of pending delivery rows. */
  private waiting: number;
  private status: Webhook["status"];

  constructor(private readonly options: EndpointOptions) {
    const { webhook, log, retries = RETRIES, signal } = options;
    this.log = log.with({ webhook: webhook.id });
    this.retries = retries;
    this.over = AbortSignal.any([signal, this.stopped.signal]);
    this.waiting = webhook.pending;
    this.status = webhook.status;
    this.run = Promise.all([this.fill(), this.send()]).catch((error) => {
      this.log.error("a webhook's deliveries stopped", { reason: reason(error) });
      this.stopped.abort();
    });
  }

  wake(): void {
    this.waker.abort();
  }

  ended(): boolean {
    return this.stopped.signal.aborted;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.run;
  }

  /** Repeats work until it succeeds; `undefined` when deliveries end first. */
  private async retry<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    while (!this.over.aborted) {
      try {
        return await work();
      } catch (error) {
        this.log.warn(what, { reason: reason(error) });
        await sleep(1_000, this.over);
      }
    }
    return undefined;
  }

  /** Turns transitions into delivery rows. */
  private async fill(): Promise<void> {
    const { over, options: { store, webhook, epoch, events } } = this;
    let at: Position = webhook.position;
    let storedAt = performance.now();
    const follow = events.follow(at, webhook.filter, over);
    for await (const batch of follow) {
      if (batch.events.length === 0 && !batch.reset && performance.now() - storedAt < STORE_MS) continue;
      if (batch.reset) this.log.warn("transitions were deleted before they were delivered");
      const from = at;
      const queued = await this.retry(
        "deliveries could not be queued",
        () => queueEvents(store, queueOf(webhook.id, epoch, from, batch)),
      );
      // The webhook was removed, or the lease was lost.
      if (queued === undefined || !queued) break;
      at = batch.position;
      storedAt = performance.now();
      this.waiting += batch.events.length;
      if (batch.events.length > 0) this.wake();
      while (this.waiting >= WAITING && !over.aborted) await sleep(50, over);
    }
    this.stopped.abort();
  }

  /** Sends due deliveries, a few at a time. */
  private async send(): Promise<void> {
    const { over, options: { store, webhook } } = this;
    const secret = await this.retry("the secret is not read yet", () => webhookSecret(store, webhook.id));
    let trimmedAt = performance.now();
    while (!over.aborted && secret !== undefined) {
      this.waker = new AbortController();
      const batch = await this.retry("deliveries not read yet", () => dueDeliveries(store, webhook.id, IN_FLIGHT));
      if (batch === undefined) break;
      if (batch.due.length === 0) {
        const wait = Math.min(batch.nextMs ?? IDLE_MS, IDLE_MS);
        await sleep(wait, this.waker.signal, over);
        continue;
      }
      const outcomes = (await Promise.all(batch.due.map((due) => this.attempt(due, secret)))).flat();
      if (over.aborted && outcomes.length === 0) break;
      if (!(await this.note(outcomes))) break;
      if (performance.now() - trimmedAt > TRIM_MS) {
        trimmedAt = performance.now();
        await trimDeliveries(store, webhook.id).catch((error) =>
          this.log.warn("deliveries could not be deleted", { reason: reason(error) })
        );
      }
    }
    this.stopped.abort();
  }

  private async attempt({ n, event, attempts }: DueDelivery, secret: Uint8Array): Promise<DeliveryOutcome[]> {
    const { over, options: { webhook } } = this;
    const posted = await sendEvent({ ...this.options, signal: over }, webhook, secret, `${webhook.id}_${n}`, event);
    // Aborted by this process: not an attempt that the receiver failed.
    if (over.aborted && !posted.ok) return [];
    const tries = attempts + 1;
    return [{ n, posted, attempts: tries, waitMs: waitAfter(tries, this.retries, posted.retryAfterMs) }];
  }

  /** Stores outcomes and the resulting status. Resolves to whether deliveries go on. */
  private async note(outcomes: readonly DeliveryOutcome[]): Promise<boolean> {
    const { store, webhook: { id }, epoch } = this.options;
    const next = statusAfter(outcomes, this.retries);
    const noted = await this.retry(
      "outcomes of deliveries could not be stored",
      () => noteOutcomes(store, { id, epoch, outcomes, ...next }),
    );
    if (noted === undefined || !noted) return false;
    this.waiting = Math.max(0, this.waiting - outcomes.filter(({ posted }) => posted.ok).length);
    if (next.status !== this.status) logStatus(this.log, next.status, outcomes);
    this.status = next.status;
    return next.status !== "disabled";
  }
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
