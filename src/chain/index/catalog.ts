/** Shapes of the tables that projections name, read from PostgreSQL's catalog. */
import type { Queries } from "#src/store/store.ts";

/** A table or view. */
interface TableShape {
  readonly isView: boolean;
  /** PostgreSQL type names by column, in the order of the table. */
  readonly columns: ReadonlyMap<string, string>;
}

/** Reads the shapes of tables, each once: they do not change while a process runs. */
export class Catalog {
  private readonly shapes = new Map<string, TableShape>();

  /**
   * Reads the shapes of these tables, so that `shape` gives them.
   *
   * @throws Error for a name that is neither a table nor a view.
   */
  async load(sql: Queries, tables: Iterable<string>): Promise<void> {
    const missing = [...new Set(tables)].filter((table) => !this.shapes.has(table));
    if (missing.length === 0) return;
    const rows = await sql<{ table: string; view: boolean; column: string; type: string }[]>`
      select wanted as table, c.relkind = 'v' as view, a.attname as column, t.typname as type
      from unnest(${sql.array(missing)}::text[]) wanted
      join pg_class c on c.oid = to_regclass(quote_ident(wanted))
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      join pg_type t on t.oid = a.atttypid order by wanted, a.attnum`;
    for (const table of missing) {
      const mine = rows.filter((row) => row.table === table);
      const [first] = mine;
      if (!first) throw new Error(`there is no table ${table}`);
      this.shapes.set(table, { isView: first.view, columns: new Map(mine.map((row) => [row.column, row.type])) });
    }
  }

  /** The shape of a table that was read. */
  shape(table: string): TableShape {
    const shape = this.shapes.get(table);
    if (!shape) throw new Error(`the table ${table} was not looked up`);
    return shape;
  }
}
