/**
 * Dead letters, the events that failed: lists, retries and drops them.
 *
 * Each source of events has its own retry:
 *
 * - a command is sent as a new command. Its id contains the letter's number, so that concurrent retries apply it once;
 * - an event of the input log is read from its row again, and only while it is the last one that the entity has read:
 *   applied after its successors it would set the entity back;
 * - a reminder is set again, due now, unless a later reminder of its name exists;
 * - for the outcome of an effect, the effect is run again under its id.
 *
 * An event that fails again leaves a new letter in place of the old one.
 */
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { Control } from "#src/runtime/operations/control.ts";
import { partitionOf } from "#src/runtime/placement/partitions.ts";
import { type EntityRef, type Event, RUNTIME_CODES, type RuntimeCode } from "#src/runtime/types.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

export interface DeadLetter {
  /** Number of the letter. */
  readonly n: number;
  readonly kind: string;
  readonly id: string;
  readonly source: "command" | "input" | "reminder" | "outcome";
  readonly cause: string;
  readonly event: Event;
  readonly error: string;
  readonly at: Date;
}

/** Why a letter was not retried: a `RuntimeCode` of the command, or one of these. */
export type RetryCode =
  | RuntimeCode
  | "letter_unknown"
  /** Later events of the input log were read since. */
  | "out_of_order"
  /** A later reminder of the same name exists. */
  | "superseded"
  /** The row to retry was deleted by retention. */
  | "lapsed";

export interface DeadLetters {
  /** Newest first, below the number `before`. */
  list(
    filter: { kind?: string | undefined; id?: string | undefined },
    before: number | undefined,
    limit: number,
  ): Promise<
    DeadLetter[]
  >;
  count(): Promise<number>;
  /**
   * Applies the event of a letter again. The letter is deleted once the event was applied, or failed again with a new
   * letter.
   */
  retry(n: number): Promise<Result<{ readonly answer?: Result<Json, Failure> }, Failure<RetryCode>>>;
  /** Deletes a letter; whether there was one. */
  drop(n: number): Promise<boolean>;
}

/** A row of `dead_letter`. */
interface Row extends Omit<DeadLetter, "n" | "at"> {
  readonly n: bigint;
  readonly created: Date;
  readonly retries: number;
}

const CODES: ReadonlySet<string> = new Set(RUNTIME_CODES);

/** Whether a code is the runtime's own: with it the machine has not applied the command. */
function isRuntimeCode(code: string): code is RuntimeCode {
  return CODES.has(code);
}

/** Creates the operations on dead letters. */
export function createDeadLetters(
  { store, ask, control }: { store: Store; ask: Ask["ask"]; control: Pick<Control, "refresh" | "fire"> },
): DeadLetters {
  const { sql } = store;

  const input = async (letter: Row, entity: EntityRef): Promise<Failure<RetryCode> | undefined> => {
    const seq = Number(letter.cause.slice("input:".length));
    const refused = await replaceLetter(sql, letter.n, async (sql) => {
      // Locked, so that a running turn finds the position changed and reads the log again.
      const [actor] = await sql<{ input_seq: bigint }[]>`
        select input_seq from actor where kind = ${entity.kind} and id = ${entity.id} for update`;
      if (actor !== undefined && Number(actor.input_seq) !== seq) {
        return failure(
          "out_of_order",
          "Later events of the input log have been applied; this event would be out of order.",
        );
      }
      const freed = await sql`
        update input_log set read = false, outcome = null
        where seq = ${seq} and kind = ${entity.kind} and id = ${entity.id} and read and outcome = 'failed' returning 1`;
      if (freed.length === 0) return failure("lapsed", "The row of the input log no longer exists.");
      await sql`update actor set input_seq = ${seq - 1} where kind = ${entity.kind} and id = ${entity.id}`;
      return undefined;
    });
    if (refused === undefined) await control.refresh(entity);
    return refused;
  };

  const reminder = async (letter: Row, entity: EntityRef): Promise<Failure<RetryCode> | undefined> => {
    const name = letter.cause.slice("reminder:".length);
    const refused = await replaceLetter(sql, letter.n, async (sql) => {
      const count = await onlyRow(sql<{ count: number }[]>`select count(*)::int as count from partition`);
      const set = await sql`
        insert into reminder (kind, id, name, n, partition, at, event)
        select d.kind, d.id, ${name}, -d.n, ${partitionOf(entity, Math.max(1, count.count))}, now(), d.event::jsonb
        from dead_letter d where d.n = ${letter.n}
        on conflict (kind, id, name) do nothing returning 1`;
      if (set.length > 0) return undefined;
      return failure("superseded", `A newer reminder "${name}" exists.`);
    });
    // Without an owner the sweeper finds it later.
    if (refused === undefined) await control.fire(entity, name);
    return refused;
  };

  const outcome = (letter: Row, entity: EntityRef): Promise<Failure<RetryCode> | undefined> =>
    replaceLetter(sql, letter.n, async (sql) => {
      const n = letter.cause.slice(letter.cause.lastIndexOf(":") + 1);
      const opened = await sql`
        update effect set done = false, attempts = 0, error = null, next_attempt = now(), queued = false
        where kind = ${entity.kind} and id = ${entity.id} and n = ${n}::bigint and done returning 1`;
      return opened.length > 0 ? undefined : failure("lapsed", "The effect's row no longer exists.");
    });

  return {
    list: async ({ kind, id }, before, limit) => {
      const rows = await sql<Row[]>`
        select n, kind, id, source, cause, event, error, created from dead_letter
        where n < ${before ?? Number.MAX_SAFE_INTEGER}
          ${kind === undefined ? sql`` : sql`and kind = ${kind}`} ${id === undefined ? sql`` : sql`and id = ${id}`}
        order by n desc limit ${limit}`;
      return rows.map(({ n, created, ...rest }) => ({ ...rest, n: Number(n), at: created }));
    },
    count: async () => (await onlyRow(sql<{ count: number }[]>`select count(*)::int as count from dead_letter`)).count,
    retry: async (n) => {
      const [letter] = await sql<Row[]>`select * from dead_letter where n = ${n}`;
      if (letter === undefined) return { ok: false, error: unknownLetter(n) };
      const entity = { kind: letter.kind, id: letter.id };
      if (letter.source === "command") return await sendAgain(sql, ask, letter, entity);
      const again = { input, reminder, outcome }[letter.source];
      const refused = await again(letter, entity);
      return refused === undefined ? ok({}) : { ok: false, error: refused };
    },
    drop: (n) => remove(sql, n),
  };
}

/** Sends the command of a letter as a new one. */
async function sendAgain(sql: Queries, ask: Ask["ask"], letter: Row, entity: EntityRef) {
  const id = `dead-letter:${letter.n}:${letter.retries}`;
  const answer = await ask(entity, letter.event, { commandId: id, cause: "operator" });
  const code = answer.ok ? "" : answer.error.code;
  if (answer.ok || !isRuntimeCode(code)) {
    await remove(sql, letter.n);
    return ok({ answer });
  }
  // The result of this id is stored; the next retry needs another id.
  if (code === "not_possible") {
    await sql`update dead_letter set retries = retries + 1 where n = ${letter.n} and retries = ${letter.retries}`;
  } else if (code === "failed") {
    await sql`
        delete from dead_letter d where n = ${letter.n} and exists
          (select 1 from dead_letter x where x.kind = d.kind and x.id = d.id and x.n > d.n and x.cause = ${id})`;
  }
  return { ok: false as const, error: { ...answer.error, code } };
}

async function remove(sql: Queries, n: number | bigint): Promise<boolean> {
  return (await sql`delete from dead_letter where n = ${n} returning 1`).length > 0;
}

function failure(code: RetryCode, message: string): Failure<RetryCode> {
  return fail(code, message).error;
}

function unknownLetter(n: number | bigint): Failure<RetryCode> {
  return failure("letter_unknown", `No dead letter ${n} exists.`);
}

/** Deletes a letter in the transaction of `work`, unless `work` resolves to a failure. */
async function replaceLetter(
  sql: Store["sql"],
  n: bigint,
  work: (sql: Queries) => Promise<Failure<RetryCode> | undefined>,
): Promise<Failure<RetryCode> | undefined> {
  return await sql.begin(async (sql) => {
    const [letter] = await sql`select 1 from dead_letter where n = ${n} for update`;
    if (letter === undefined) return unknownLetter(n);
    const refused = await work(sql);
    if (refused === undefined) await remove(sql, n);
    return refused;
  });
}
