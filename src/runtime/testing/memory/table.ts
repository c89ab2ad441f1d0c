/** Tables in memory, whose changes can be undone together. */
import type { Json } from "#src/base/json.ts";

/** An error as PostgreSQL reports it: its SQLSTATE, and for a repeated key the name of the constraint. */
export class DatabaseError extends Error {
  constructor(readonly code: string, message: string, readonly constraint_name?: string) {
    super(message);
  }
}

/** What undoes the changes since some moment, the last one last. */
export type Undo = (() => void)[];

/** A table by its primary key. Rows are replaced and never changed, so that a reader may keep them. */
export class Table<Row extends object> {
  readonly #rows = new Map<string, Row>();

  constructor(
    private readonly name: string,
    private readonly key: readonly (keyof Row & string)[],
    private readonly undo: Undo,
  ) {}

  /** All rows, in the order of their insertion. */
  all(): Row[] {
    return [...this.#rows.values()];
  }

  get(...key: readonly (string | number)[]): Row | undefined {
    return this.#rows.get(key.join("\0"));
  }

  /** @throws {DatabaseError} when there is a row of that key. */
  insert(row: Row): void {
    if (this.insertNew(row)) return;
    const constraint = `${this.name}_pkey`;
    throw new DatabaseError("23505", `duplicate key value violates unique constraint "${constraint}"`, constraint);
  }

  /** Inserts unless there is a row of that key; returns whether it did. */
  insertNew(row: Row): boolean {
    if (this.#rows.has(this.#keyOf(row))) return false;
    this.put(row);
    return true;
  }

  /** Inserts the row, or replaces the one of its key. */
  put(row: Row): void {
    const key = this.#keyOf(row);
    const before = this.#rows.get(key);
    this.#rows.set(key, row);
    this.undo.push(() => before === undefined ? void this.#rows.delete(key) : void this.#rows.set(key, before));
  }

  /** Changes the row of a key, if there is one that passes; returns it as it is then. */
  change(key: readonly (string | number)[], passes: (row: Row) => boolean, change: (row: Row) => Partial<Row>) {
    const row = this.get(...key);
    if (row === undefined || !passes(row)) return undefined;
    const next = { ...row, ...change(row) };
    this.put(next);
    return next;
  }

  delete(...key: readonly (string | number)[]): void {
    const text = key.join("\0");
    const before = this.#rows.get(text);
    if (before === undefined) return;
    this.#rows.delete(text);
    this.undo.push(() => void this.#rows.set(text, before));
  }

  #keyOf(row: Row): string {
    return this.key.map((column) => row[column]).join("\0");
  }
}

interface OfEntity {
  readonly kind: string;
  readonly id: string;
}

/** Rows as the tables of `migrations` have them. Integers are numbers, times are milliseconds since 1970. */
export interface Rows {
  partition: {
    readonly id: number;
    readonly epoch: number;
    readonly owner: string | null;
    readonly expires: number;
    readonly wanted: string | null;
    readonly checked: number;
  };
  worker: {
    readonly id: string;
    readonly seen: number;
    readonly draining: boolean;
    readonly suspect: number | null;
    readonly kinds: Json;
  };
  kind_version: { readonly kind: string; readonly version: number };
  lease: {
    readonly name: string;
    readonly epoch: number;
    readonly checked: number;
    readonly owner: string | null;
    readonly expires: number;
  };
  actor: OfEntity & {
    readonly partition: number;
    readonly version: number;
    readonly input_seq: number;
    readonly snapshot: Json;
    readonly state: string;
    readonly machine_version: number;
    readonly paused: boolean;
    readonly changed: number;
    readonly since: number;
  };
  command_result: OfEntity & { readonly command: string; readonly result: Json; readonly created: number };
  effect: OfEntity & {
    readonly n: number;
    readonly partition: number;
    readonly name: string;
    readonly input: Json;
    readonly attempts: number;
    readonly next_attempt: number;
    readonly error: string | null;
    readonly done: boolean;
    readonly queued: boolean;
  };
  effect_queue: OfEntity & {
    readonly n: number;
    readonly name: string;
    readonly key: string;
    readonly seq: number;
    readonly partition: number;
    readonly epoch: number | null;
    readonly started: number | null;
    readonly created: number;
  };
  actor_attribute: OfEntity & { readonly name: string; readonly text: string | null; readonly number: string | null };
  reminder: OfEntity & {
    readonly name: string;
    readonly n: number;
    readonly partition: number;
    readonly at: number;
    readonly event: Json;
  };
  outbox: OfEntity & {
    readonly version: number;
    readonly partition: number;
    readonly from_state: string;
    readonly to_state: string;
    readonly type: string;
    readonly cause: string;
    readonly body: Json;
    readonly at: number;
    readonly created: number;
    readonly tx: number;
    readonly published: boolean;
    readonly generation: string;
  };
  outbox_unpublished: OfEntity & { readonly version: number; readonly partition: number; readonly created: number };
  actor_snapshot: OfEntity & { readonly version: number; readonly machine_version: number; readonly snapshot: Json };
  input_log: OfEntity & {
    readonly seq: number;
    readonly partition: number;
    readonly event: Json;
    readonly read: boolean;
    readonly outcome: string | null;
    readonly created: number;
  };
  dead_letter: OfEntity & {
    readonly n: number;
    readonly source: string;
    readonly cause: string;
    readonly event: Json;
    readonly error: string;
    readonly created: number;
  };
  effect_failure: { readonly minute: number; readonly partition: number; readonly failures: number };
  event_stream: { readonly name: string; readonly created: string; readonly incomplete: boolean };
}

/** Primary keys of the tables. */
export const KEYS: { readonly [Name in keyof Rows]: readonly (keyof Rows[Name] & string)[] } = {
  partition: ["id"],
  worker: ["id"],
  kind_version: ["kind"],
  lease: ["name"],
  actor: ["kind", "id"],
  command_result: ["kind", "id", "command"],
  effect: ["kind", "id", "n"],
  effect_queue: ["kind", "id", "n"],
  actor_attribute: ["kind", "id", "name"],
  reminder: ["kind", "id", "name"],
  outbox: ["kind", "id", "version"],
  outbox_unpublished: ["partition", "kind", "id", "version"],
  actor_snapshot: ["kind", "id", "version"],
  input_log: ["seq"],
  dead_letter: ["n"],
  effect_failure: ["minute", "partition"],
  event_stream: ["name"],
};

/** The tables of the runtime. */
export type Tables = { readonly [Name in keyof Rows]: Table<Rows[Name]> };
