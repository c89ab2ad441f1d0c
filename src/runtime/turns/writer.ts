/** Group commit: turns of different entities that are ready at the same moment share one statement. */
import { errorCode } from "#src/base/errorCode.ts";
import type { Json } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import { mapParallel } from "#src/base/parallel.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { endSpan } from "#src/base/trace.ts";
import { batched } from "#src/runtime/turns/batch.ts";
import { statementSeconds, statementTurns } from "#src/runtime/metrics.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import { statementSpan } from "#src/runtime/spans.ts";
import { type StatementResult, turnStatement, type TurnWrite } from "#src/runtime/turns/statement.ts";
import { isRetryable, type Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/** The outcome of writing a turn. Unless it is `written`, nothing of it was written. */
export type Verdict =
  | { readonly is: "written" }
  /**
   * Some items were consumed before: their results (`undefined`: reply still open), and the consumed effects and
   * reminders.
   */
  | {
    readonly is: "known";
    readonly results: ReadonlyMap<string, Result<Json, Failure> | undefined>;
    readonly effects: ReadonlySet<number>;
    readonly reminders: ReadonlySet<number>;
  }
  /** The entity is at another version. */
  | { readonly is: "stale" }
  /** Another worker owns the partition. */
  | { readonly is: "fenced" }
  /** The database did not answer: the turn may have been written, or may yet be. */
  | { readonly is: "unknown"; readonly reason: string }
  /** The database refuses these rows. */
  | { readonly is: "failed"; readonly reason: string };

/**
 * A function that writes a turn, together with others in statements of at most `most` turns. Two statements run at a time
 * where a quarter of that waits: the database works on one while the turns of the other are computed or answered. An
 * entity whose row is locked is written alone until the lock is released.
 */
export function createWriter(store: Store, most = 128): (turn: TurnWrite) => Promise<Verdict> {
  const locked = new Set<string>();
  const run = async (turns: readonly TurnWrite[]): Promise<Verdict[]> => {
    const span = statementSpan(turns);
    const start = performance.now();
    try {
      const { text, parameters } = turnStatement(turns);
      const row = await onlyRow(store.sql.unsafe<StatementResult[]>(text, parameters, { prepare: true }));
      statementSeconds.of().since(start);
      statementTurns.of().observe(turns.length);
      endSpan(span);
      if (locked.size > 0) { for (const { entity } of turns) locked.delete(entityKey(entity)); }
      return turns.map((turn, i) => verdict(turn, i + 1, row));
    } catch (error) {
      const code = errorCode(error);
      endSpan(span, code || "failed");
      if (code === LOCK_NOT_AVAILABLE) {
        if (turns.length > 1) return await writeSeparately(turns, reason(error));
        if (locked.size < MOST_LOCKED) { for (const { entity } of turns) locked.add(entityKey(entity)); }
      }
      if (isRetryable(error) || /^(0A|40|55|XX)...$/.test(code)) {
        return turns.map(() => ({ is: "unknown", reason: reason(error) }));
      }
      if (turns.length > 1) {
        // One turn makes the statement fail for all: write each alone.
        return (await mapParallel(turns, 1, (turn) => run([turn]))).flat();
      }
      // The row exists already: it was written by a statement whose response was lost.
      if (TURN_KEYS.has(String(memberOf(error, "constraint_name")))) return [{ is: "stale" }];
      return [{ is: "failed", reason: reason(error) }];
    }
  };
  /** A few at a time, so that unlocked rows are written at once; stops when `PARALLEL` of them were locked. */
  const writeSeparately = async (turns: readonly TurnWrite[], why: string): Promise<Verdict[]> => {
    let lockedRows = 0;
    const verdicts = await mapParallel(turns, PARALLEL, async (turn): Promise<Verdict[]> => {
      if (lockedRows >= PARALLEL) return [{ is: "unknown", reason: why }];
      const written = await run([turn]);
      lockedRows += written.filter(({ is }) => is === "unknown").length;
      return written;
    });
    return verdicts.flat();
  };
  const writeTogether = batched(run, { most, inFlight: 2, worth: most / 4 });
  const writeAlone = batched(run, { most: 1, inFlight: 1 });
  return (turn) => (locked.size > 0 && locked.has(entityKey(turn.entity)) ? writeAlone : writeTogether)(turn);
}

/** PostgreSQL's code for a lock that was not released in time. */
const LOCK_NOT_AVAILABLE = "55P03";
/** Turns written at the same time after a row of their statement was locked. */
const PARALLEL = 3;
/** Most entities that are written alone. */
const MOST_LOCKED = 1_000;

/** Primary keys of rows that a repeated turn would insert again. */
const TURN_KEYS = new Set(["actor_pkey", "command_result_pkey", "effect_pkey", "outbox_pkey", "reminder_pkey"]);

function verdict(turn: TurnWrite, place: number, row: StatementResult): Verdict {
  if (row.written.includes(place)) return { is: "written" };
  if (!row.owned.includes(turn.partition)) return { is: "fenced" };
  const known = (row.known ?? []).filter((one) => one.place === place);
  const gone = (row.gone ?? []).filter((one) => one.place === place);
  if (known.length + gone.length === 0) return { is: "stale" };
  return {
    is: "known",
    results: new Map(known.map(({ command, result }) => [command, result ?? undefined])),
    effects: new Set(gone.flatMap(({ effect }) => effect ?? [])),
    reminders: new Set(gone.flatMap(({ n }) => n ?? [])),
  };
}
