/**
 * What the blocks of a batch change, before any of it is written: folds of later blocks see it as if it were in the
 * tables.
 *
 * Assumptions: the key of a `close` identifies one live row of its table. Views are not computed here: a fold that
 * queries a view has to wait until the changes are written.
 */
import type { Row, RowQuery, RowWrite } from "#src/chain/index/projection.ts";
import type { Catalog } from "#src/chain/index/catalog.ts";
import { asStored, bigintOf, closeRows, type CursorScope, insertRows } from "#src/chain/index/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** The values of some columns as one text. */
const keyOf = (row: Row, columns: readonly string[]) => columns.map((column) => String(row[column])).join("\u0000");

/** Changes to one table: new rows, some of them ended again, and ends of rows that the table has. */
class TableChanges {
  readonly rows: Record<string, unknown>[] = [];
  /** Columns that writes have set. */
  readonly columns = new Set<string>();
  /** Ends of stored rows: by the names of the key's columns, then by the key's values. */
  readonly closes = new Map<string, { readonly columns: readonly string[]; readonly rows: Map<string, Row> }>();
  private readonly indexes = new Map<string, Map<string, Record<string, unknown>[]>>();

  /** New rows, live or ended, whose columns have these values. */
  withValues(columns: readonly string[], key: string): readonly Record<string, unknown>[] {
    const name = columns.join();
    let index = this.indexes.get(name);
    if (!index) {
      this.indexes.set(name, index = new Map());
      for (const row of this.rows) addTo(index, keyOf(row, columns), row);
    }
    return index.get(key) ?? [];
  }

  insert(row: Record<string, unknown>): void {
    this.rows.push(row);
    for (const [name, index] of this.indexes) addTo(index, keyOf(row, name.split(",")), row);
  }

  /** Whether a stored row is ended here. */
  closed(row: Row): boolean {
    for (const { columns, rows } of this.closes.values()) if (rows.has(keyOf(row, columns))) return true;
    return false;
  }
}

function addTo<R>(index: Map<string, R[]>, key: string, row: R): void {
  const known = index.get(key);
  if (known) known.push(row);
  else index.set(key, [row]);
}

export class StagedRows {
  private readonly tables = new Map<string, TableChanges>();
  /** Number of rows to insert and rows to end. */
  size = 0;

  constructor(private readonly catalog: Catalog, private readonly reach: CursorScope) {}

  /** Whether only the database can answer a query: it is on a view and there are changes. */
  defers(query: RowQuery): boolean {
    return this.size > 0 && this.catalog.shape(query.table).isView;
  }

  /** The rows that answer a query; `stored` are those of the database. */
  answer(query: RowQuery, stored: readonly Row[]): readonly Row[] {
    const changes = this.tables.get(query.table);
    if (!changes) return stored;
    const fresh: Row[] = [];
    if ("in" in query) {
      for (const value of query.in) {
        for (const row of changes.withValues([query.column], String(value))) if (row.to_slot === null) fresh.push(row);
      }
    } else {
      const most = BigInt(query.atMost);
      for (const row of changes.rows) {
        if (row.to_slot === null && bigintOf(row[query.column]) <= most) fresh.push(row);
      }
    }
    const kept = changes.closes.size === 0 ? stored : stored.filter((row) => !changes.closed(row));
    return fresh.length === 0 ? kept : [...kept, ...fresh];
  }

  /** Adds a block's writes: ends first, so that a row may be replaced within one block. */
  write(slot: number, writes: readonly RowWrite[]): void {
    for (const write of writes) if (write.type === "close") this.close(slot, write.table, write.key);
    for (const write of writes) {
      if (write.type !== "insert") continue;
      const changes = this.changes(write.table);
      for (const column in write.row) changes.columns.add(column);
      changes.insert(asStored(this.catalog, write.table, { ...write.row, from_slot: slot }));
      this.size++;
    }
  }

  /** Writes everything, in the caller's transaction. */
  async flush(sql: Queries): Promise<void> {
    await Promise.all(
      [...this.tables].flatMap(([table, { closes }]) =>
        [...closes.values()].map(({ columns, rows }) => closeRows(sql, table, columns, [...rows.values()]))
      ),
    );
    await Promise.all(
      [...this.tables].filter(([, { rows }]) => rows.length > 0).map(([table, { rows, columns }]) => {
        columns.add("from_slot").add("to_slot");
        return insertRows(sql, table, [...columns], rows);
      }),
    );
  }

  private changes(table: string): TableChanges {
    let changes = this.tables.get(table);
    if (!changes) this.tables.set(table, changes = new TableChanges());
    return changes;
  }

  private close(slot: number, table: string, key: Row): void {
    const member = this.reach.members.get(table);
    if (member && key[member.column] === undefined) {
      throw new Error(`an end of a row of ${table} does not say whose it is`);
    }
    const changes = this.changes(table);
    const columns = Object.keys(key);
    const values = keyOf(key, columns);
    const fresh = changes.withValues(columns, values).filter((row) => row.to_slot === null);
    for (const row of fresh) row.to_slot = BigInt(slot);
    if (fresh.length > 0) return;
    let same = changes.closes.get(columns.join());
    if (!same) changes.closes.set(columns.join(), same = { columns, rows: new Map() });
    if (same.rows.has(values)) return;
    same.rows.set(values, { ...key, to_slot: slot });
    this.size++;
  }
}

/**
 * The stored rows that a batch of blocks queries: those of its projections' keys with one statement a column, however
 * many blocks there are; and those that folds query later, each value once.
 */
export class PrefetchedRows {
  private readonly byColumn = new Map<string, Map<string, Row[]>>();
  private readonly atMost = new Map<string, readonly Row[]>();

  /** Reads the rows of these queries; `fetch` answers one. */
  static async read(
    queries: readonly RowQuery[],
    fetch: (query: RowQuery) => Promise<readonly Row[]>,
  ): Promise<PrefetchedRows> {
    const wanted = new Map<string, { table: string; column: string; in: Set<string | bigint | number> }>();
    const most = new Map<string, { table: string; column: string; atMost: bigint }>();
    for (const query of queries) {
      const { table, column } = query;
      const name = `${table}.${column}`;
      if ("in" in query) {
        const values = wanted.get(name)?.in ?? new Set();
        for (const value of query.in) values.add(value);
        wanted.set(name, { table, column, in: values });
      } else {
        const atMost = BigInt(query.atMost);
        const before = most.get(name)?.atMost;
        most.set(name, { table, column, atMost: before !== undefined && before > atMost ? before : atMost });
      }
    }
    const found = new PrefetchedRows();
    await Promise.all([
      ...[...wanted].map(async ([name, query]) => {
        const rows = new Map<string, Row[]>([...query.in].map((value) => [String(value), []]));
        for (const row of await fetch({ ...query, in: [...query.in] })) addTo(rows, String(row[query.column]), row);
        found.byColumn.set(name, rows);
      }),
      ...[...most].map(async ([name, query]) => void found.atMost.set(name, await fetch(query))),
    ]);
    return found;
  }

  /**
   * The stored rows of a query that was not among the keys. Values that another fold of the batch queried are not read
   * again.
   */
  async fetchMore(query: RowQuery, fetch: (query: RowQuery) => Promise<readonly Row[]>): Promise<readonly Row[]> {
    if (!("in" in query)) return await fetch(query);
    const name = `${query.table}.${query.column}`;
    let known = this.byColumn.get(name);
    if (!known) this.byColumn.set(name, known = new Map());
    const unknown = [...new Set(query.in)].filter((value) => !known.has(String(value)));
    if (unknown.length > 0) {
      const rows = await fetch({ ...query, in: unknown });
      for (const value of unknown) known.set(String(value), []);
      for (const row of rows) known.get(String(row[query.column]))?.push(row);
    }
    return this.get(query);
  }

  /** The stored rows of one of the queries. */
  get(query: RowQuery): readonly Row[] {
    const name = `${query.table}.${query.column}`;
    if ("in" in query) {
      const rows = this.byColumn.get(name);
      if (!rows || rows.size === 0) return [];
      return [...new Set(query.in)].flatMap((value) => rows.get(String(value)) ?? []);
    }
    const most = BigInt(query.atMost);
    return (this.atMost.get(name) ?? []).filter((row) => bigintOf(row[query.column]) <= most);
  }
}
