/** Reads what hangs, for operators: effects whose attempts fail. */
import type { EntityRef } from "#src/runtime/types.ts";
import { MOST } from "#src/runtime/operations/counts.ts";
import type { Store } from "#src/store/store.ts";

/** Open effects of one name that fail alike. */
export interface FailingEffects {
  readonly kind: string;
  readonly name: string;
  readonly error: string;
  /** Number of actors that wait for one. */
  readonly actors: number;
  /** Failed attempts of the one with the most. */
  readonly attempts: number;
  /** When the first of them is attempted next. */
  readonly nextAttempt: Date;
  /** Some of the actors, those with the most attempts first. */
  readonly some: readonly EntityRef[];
}

/** Actors that an answer names. */
const NAMED = 5;

/** Open effects with at least `attempts` failed attempts, by kind, name and error: the most affected actors first. */
export async function readFailingEffects(
  { sql }: Store,
  { attempts, limit }: { readonly attempts: number; readonly limit: number },
): Promise<FailingEffects[]> {
  const rows = await sql<(Omit<FailingEffects, "some" | "nextAttempt"> & { next_attempt: Date; ids: string[] })[]>`
    select kind, name, error, count(distinct id)::int as actors, max(attempts) as attempts,
      min(next_attempt) as next_attempt, (array_agg(id order by attempts desc, id))[1:${NAMED}] as ids
    from (select kind, id, name, coalesce(error, '') as error, attempts, next_attempt from effect
        where not done and not queued
      union all select f.kind, f.id, f.name, coalesce(f.error, ''), f.attempts, f.next_attempt
        from effect_queue q join effect f using (kind, id, n) limit ${MOST}) open
    where attempts >= ${attempts} group by kind, name, error order by actors desc, kind, name, error limit ${limit}`;
  return rows.map(({ ids, next_attempt: nextAttempt, ...row }) => ({
    ...row,
    nextAttempt,
    some: [...new Set(ids)].map((id) => ({ kind: row.kind, id })),
  }));
}
