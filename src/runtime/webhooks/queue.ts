/** Writes of the holder of the lease `webhooks`; each statement is fenced by the lease's epoch. */
import { fence } from "#src/runtime/placement/namedLease.ts";
import type { PostResult } from "#src/runtime/webhooks/post.ts";
import type { WebhookStatus } from "#src/runtime/webhooks/rows.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/** Name of the lease. */
export const WEBHOOKS_LEASE = "webhooks";
/** Delivered rows that are kept for lists. */
const KEPT = 1_000;

/**
 * Inserts deliveries and moves the webhook's position, in one statement. False when it is not at `from`, or the lease
 * is lost.
 */
export async function queueEvents(
  store: Store,
  { id, epoch, from, to, reset, events }: {
    id: string;
    epoch: number;
    from: string;
    to: string;
    /** Whether transitions before these were deleted. */
    reset: boolean;
    /** CloudEvents as JSON, in the order of commits. */
    events: readonly { readonly entity: EntityRef; readonly event: string }[];
  },
): Promise<boolean> {
  const row = await onlyRow(store.sql<{ moved: number }[]>`
    with held as (${fence(store.sql, WEBHOOKS_LEASE, epoch)}),
      moved as (
        update webhook w set position = ${to}, last = w.last + ${events.length},
          reason = case when ${reset} then 'Transitions were deleted before they were delivered.' else w.reason end
        from held where w.id = ${id} and w.position = ${from} returning w.last),
      queued as (
        insert into webhook_delivery (webhook, n, kind, id, event)
        select ${id}, moved.last - ${events.length} + x.place, x.kind, x.id, x.event::jsonb
        from moved, unnest(${events.map(({ entity }) => entity.kind)}::text[], ${
    events.map(({ entity }) => entity.id)
  }::text[], ${events.map(({ event }) => event)}::text[]) with ordinality as x(kind, id, event, place))
    select count(*)::int as moved from moved`);
  return row.moved === 1;
}

/** Outcome of one attempt. */
export interface DeliveryOutcome {
  readonly n: number;
  readonly posted: PostResult;
  readonly attempts: number;
  /** Time until the next attempt after a failure, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Stores outcomes and the resulting status of the webhook. False when the webhook was removed, or the lease is lost.
 */
export async function noteOutcomes(
  store: Store,
  { id, epoch, outcomes, status, reason }: {
    id: string;
    epoch: number;
    outcomes: readonly DeliveryOutcome[];
    status: WebhookStatus;
    reason: string | null;
  },
): Promise<boolean> {
  const rows = outcomes.map(({ n, posted, attempts, waitMs }) => ({ n, attempts, wait: waitMs, ...posted }));
  const row = await onlyRow(store.sql<{ noted: number }[]>`
    with held as (${fence(store.sql, WEBHOOKS_LEASE, epoch)}),
      noted as (
        update webhook w set status = ${status}, reason = ${reason} from held where w.id = ${id} returning w.id),
      outcomes as (
        update webhook_delivery d set status = case when x.ok = 1 then 'delivered' else 'pending' end, attempts = x.attempts,
          next_attempt = now() + x.wait * interval '1 ms', code = x.code, error = x.error, answer = x.answer,
          delivered = case when x.ok = 1 then now() end
        from noted, unnest(${rows.map(({ n }) => n)}::bigint[], ${rows.map(({ ok }) => Number(ok))}::int[],
          ${rows.map(({ attempts }) => attempts)}::int[], ${rows.map(({ wait }) => wait)}::int[],
          ${rows.map(({ code }) => code)}::int[], ${rows.map(({ error }) => error)}::text[],
          ${rows.map(({ answer }) => answer)}::text[]) as x(n, ok, attempts, wait, code, error, answer)
        where d.webhook = noted.id and d.n = x.n and d.status = 'pending')
    select count(*)::int as noted from noted`);
  return row.noted === 1;
}

/** Deletes all but the last `KEPT` delivered rows. */
export async function trimDeliveries(store: Store, id: string): Promise<void> {
  await store.sql`
    delete from webhook_delivery d using webhook w
    where w.id = ${id} and d.webhook = w.id and d.status = 'delivered' and d.n <= w.last - ${KEPT}`;
}
