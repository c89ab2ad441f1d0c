/**
 * A model of PostgreSQL for the statements that the runtime sends, and no others: a statement that it does not know is
 * an error. `test/system/runtime/memory.test.ts` sends the same random statements to it and to a server.
 *
 * What it keeps of PostgreSQL, because the runtime relies on it:
 *
 * - A statement happens as a whole or not at all.
 * - The statement of turns has two steps. When it begins it reads its snapshot, locks the rows of its partitions FOR KEY
 *   SHARE, and waits for the rows of its entities and effects. It writes when it ends. Others run in between.
 * - Any other statement happens at one moment, but waits for rows that a statement of turns has locked, or skips them.
 * - `now()` is when the statement began.
 *
 * Transactions of several statements run alone (`store.ts`).
 *
 * To extend it: a new statement, or one whose text changed, goes to `statements.ts` with its text as the runtime sends it
 * (white space aside); a clause of the statement of turns to `turnClauses.ts`; a table or a column to `table.ts`. A
 * parameter of a clause needs nothing: it is a member of its rows. Then add it to the random statements of the test.
 */
import type { Json } from "#src/base/json.ts";
import { RowLocks } from "#src/runtime/testing/memory/locks.ts";
import { KEYS, Table, type Tables, type Undo } from "#src/runtime/testing/memory/table.ts";

/** A row of one of the kinds' own tables. */
export type OwnTableRow = { readonly [column: string]: Json };

export class MemoryDatabase {
  readonly #undo: Undo = [];
  #depth = 0;
  readonly tables: Tables = tablesOf(this.#undo);
  /** The kinds' own tables: by name, the rows by the JSON of their keys. */
  readonly #own = new Map<string, Map<string, OwnTableRow>>();
  readonly locks = new RowLocks();
  readonly #numbers = new Map<string, number>();

  /** `now` is the clock of the server, in milliseconds since 1970. */
  constructor(readonly now: () => number) {}

  /** The next number of an identity column, or of a transaction. Like PostgreSQL's, numbers are not given back. */
  next(name: string): number {
    const number = (this.#numbers.get(name) ?? 0) + 1;
    this.#numbers.set(name, number);
    return number;
  }

  /** Rows of one of the kinds' own tables. */
  ownRows(table: string): OwnTableRow[] {
    return [...this.#own.get(table)?.values() ?? []];
  }

  /** Changes the row of a key of an own table; `undefined` deletes it. */
  changeOwn(table: string, key: string, change: (row: OwnTableRow | undefined) => OwnTableRow | undefined): void {
    const rows = this.#own.get(table) ?? new Map<string, OwnTableRow>();
    this.#own.set(table, rows);
    const put = (row: OwnTableRow | undefined) => row === undefined ? void rows.delete(key) : void rows.set(key, row);
    const before = rows.get(key);
    put(change(before));
    this.#undo.push(() => put(before));
  }

  /** Undoes all changes of `work` when it throws. */
  atomically<T>(work: () => T): T {
    const changes = this.begin();
    try {
      const result = work();
      changes.keep();
      return result;
    } catch (error) {
      changes.undo();
      throw error;
    }
  }

  /** Begins changes that are either kept or undone; they may be nested. */
  begin(): { keep(): void; undo(): void } {
    const mark = this.#undo.length;
    this.#depth++;
    const keep = () => {
      if (--this.#depth === 0) this.#undo.length = 0;
    };
    return {
      keep,
      undo: () => {
        while (this.#undo.length > mark) this.#undo.pop()?.();
        keep();
      },
    };
  }
}

function tablesOf(undo: Undo): Tables {
  const tables = Object.entries(KEYS).map(([name, key]) => [name, new Table(name, key as readonly never[], undo)]);
  // TypeScript cannot relate the entries to the members of a mapped type, hence the cast.
  return Object.fromEntries(tables) as unknown as Tables;
}
