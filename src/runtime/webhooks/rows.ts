/**
 * Rows of webhooks and their deliveries.
 *
 * A secret is stored in plain text, because it signs messages: access to the database is access to it. It is shown
 * once, in the response to the request that created it. Only `webhookSecret` reads it.
 */
import { randomBytes } from "node:crypto";
import type { Json } from "#src/base/json.ts";
import { parsePosition, type Position, positionText } from "#src/runtime/events/position.ts";
import type { EventFilter } from "#src/runtime/events/replay.ts";
import type { Store } from "#src/store/store.ts";

/** `failing`: the last attempt failed and is retried. `disabled`: no attempts until an operator resumes it. */
export type WebhookStatus = "active" | "failing" | "disabled";

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly filter: EventFilter;
  readonly status: WebhookStatus;
  /** Why it is failing or disabled. */
  readonly reason: string | null;
  /** After the last transition that has a delivery or does not pass the filter. */
  readonly position: Position;
  readonly created: Date;
  /** Number of pending deliveries. */
  readonly pending: number;
}

export interface Delivery {
  /** Serial number within the webhook, in the order of commits. */
  readonly n: number;
  /** Id of the CloudEvent. */
  readonly event: string;
  readonly status: "pending" | "delivered";
  readonly attempts: number;
  /** Null once delivered. */
  readonly nextAttempt: Date | null;
  /** HTTP status of the last response, if there was one. */
  readonly code: number | null;
  readonly error: string | null;
  /** Start of the last response that was not a success. */
  readonly answer: string | null;
  readonly created: Date;
  readonly delivered: Date | null;
}

/** Most webhooks of an application. */
export const MOST_WEBHOOKS = 100;

/** Adds a webhook; `undefined` when there are `MOST_WEBHOOKS` already. */
export async function addWebhook(
  store: Store,
  { url, filter, position, secret }: { url: string; filter: EventFilter; position: Position; secret: Uint8Array },
): Promise<Webhook | undefined> {
  const id = `wh_${randomBytes(9).toString("base64url").replace(/[-_]/g, "x")}`;
  await store.sql`
    insert into webhook (id, url, kind, entity, transition, secret, position)
    select ${id}, ${url}, ${filter.kind ?? null}, ${filter.id ?? null}, ${filter.transition ?? null}, ${secret},
      ${positionText(position)} where (select count(*) from webhook) < ${MOST_WEBHOOKS}`;
  return await findWebhook(store, id);
}

export async function findWebhook(store: Store, id: string): Promise<Webhook | undefined> {
  return (await select(store, id))[0];
}

/** All webhooks, oldest first. */
export async function listWebhooks(store: Store): Promise<Webhook[]> {
  return await select(store, null);
}

async function select(store: Store, id: string | null): Promise<Webhook[]> {
  const rows = await store.sql<WebhookRow[]>`
    select w.id, w.url, w.kind, w.entity, w.transition, w.status, w.reason, w.position, w.created,
      (select count(*)::int from webhook_delivery d where d.webhook = w.id and d.status = 'pending') as pending
    from webhook w where ${id}::text is null or w.id = ${id} order by w.created, w.id`;
  return rows.map(webhookOf);
}

/** Decodes a row of `webhook`. @throws Error for a position that this program did not write. */
function webhookOf({ kind, entity, transition, position: text, ...row }: WebhookRow): Webhook {
  const position = parsePosition(text);
  if (position === undefined) throw new Error(`the webhook ${row.id} has no position`);
  const filter = { kind: kind ?? undefined, id: entity ?? undefined, transition: transition ?? undefined };
  return { ...row, filter, position };
}

/** The secret that signs a webhook's messages. */
export async function webhookSecret(store: Store, id: string): Promise<Uint8Array | undefined> {
  return (await store.sql<{ secret: Uint8Array }[]>`select secret from webhook where id = ${id}`)[0]?.secret;
}

/** Deletes a webhook and its deliveries; whether it existed. */
export async function removeWebhook(store: Store, id: string): Promise<boolean> {
  return (await store.sql`delete from webhook where id = ${id} returning 1`).length === 1;
}

/** Resumes a webhook: its pending deliveries are due now, with all their attempts. Whether it existed. */
export async function resumeWebhook(store: Store, id: string): Promise<boolean> {
  const rows = await store.sql`
    with resumed as (update webhook set status = 'active', reason = null where id = ${id} returning id),
      again as (update webhook_delivery d set attempts = 0, next_attempt = now() from resumed
        where d.webhook = resumed.id and d.status = 'pending')
    select 1 from resumed`;
  return rows.length === 1;
}

/** Deliveries of a webhook with numbers below `before`, newest first. */
export async function listDeliveries(
  store: Store,
  id: string,
  { status, before, limit }: { status?: Delivery["status"] | undefined; before?: number | undefined; limit: number },
): Promise<Delivery[]> {
  const rows = await store.sql<DeliveryRow[]>`
    select n, event->>'id' as event, status, attempts, next_attempt, code, error, answer, created, delivered
    from webhook_delivery where webhook = ${id} and (${status ?? null}::text is null or status = ${status ?? null})
      and n < ${before ?? 2 ** 52}::bigint order by n desc limit ${limit}`;
  return rows.map(({ n, next_attempt, ...row }) => ({
    ...row,
    n: Number(n),
    nextAttempt: row.status === "pending" ? next_attempt : null,
  }));
}

/** A delivery to send. */
export interface DueDelivery {
  readonly n: number;
  readonly event: Json;
  readonly attempts: number;
}

/** The first pending delivery of each entity, if it is due; and the time until the next one is due, in milliseconds. */
export async function dueDeliveries(
  store: Store,
  id: string,
  limit: number,
): Promise<{ due: DueDelivery[]; nextMs: number | null }> {
  const rows = await store.sql<{ n: bigint; event: string; attempts: number; wait: number }[]>`
    select n, event::text as event, attempts, wait from (
      select distinct on (kind, id) n, event, attempts,
        (extract(epoch from next_attempt - now()) * 1000)::float8 as wait
      from webhook_delivery where webhook = ${id} and status = 'pending' order by kind, id, n) heads
    order by greatest(wait, 0), n limit ${limit}`;
  const due = rows.filter(({ wait }) => wait <= 0);
  const later = rows.find(({ wait }) => wait > 0);
  return {
    due: due.map(({ n, event, attempts }): DueDelivery => ({ n: Number(n), event: JSON.parse(event), attempts })),
    nextMs: later === undefined ? null : Math.ceil(later.wait),
  };
}

/** A row of `webhook`, with the number of its pending deliveries. */
interface WebhookRow extends Omit<Webhook, "filter" | "position"> {
  readonly kind: string | null;
  readonly entity: string | null;
  readonly transition: string | null;
  readonly position: string;
}

/** A row of `webhook_delivery`. */
interface DeliveryRow extends Omit<Delivery, "n" | "nextAttempt"> {
  readonly n: bigint;
  readonly next_attempt: Date;
}
