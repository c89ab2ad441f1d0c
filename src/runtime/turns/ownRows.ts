/** Writes rows of the kinds' own tables, as clauses of the turn statement. The table gives the column types. */
import { toJson } from "#src/base/json.ts";
import type { StatementBuilder } from "#src/runtime/turns/statementBuilder.ts";
import type { OwnRow } from "#src/runtime/turns/fold.ts";

type Placed = readonly [place: number, row: OwnRow];

/** Adds one clause for each table and set of columns. The relation `w` holds the turns that are written. */
export function writeOwnRows(sql: StatementBuilder, rows: readonly Placed[]): void {
  const groups = new Map<string, { readonly first: OwnRow; readonly placed: Placed[] }>();
  for (const one of rows) {
    const [, row] = one;
    const name = `${row.table} ${row.remove} ${columnsOf(row).join("\0")}`;
    const group = groups.get(name);
    if (group) group.placed.push(one);
    else groups.set(name, { first: row, placed: [one] });
  }
  // Sorted by name, so that equal sets of tables give equal statements.
  const sorted = [...groups].sort(([a], [b]) => a < b ? -1 : 1);
  sorted.forEach(([, { first, placed }], i) => {
    const { table, key, remove } = first;
    const columns = columnsOf(first);
    const bodies = sql.rows(
      ["place", "int", placed.map(([place]) => place)],
      ["body", "text", placed.map(([, row]) => toJson(row.values))],
    );
    const source = `${bodies} join w using (place)
      cross join lateral jsonb_populate_record(null::${quote(table)}, x.body::jsonb) v`;
    if (remove) {
      const same = columns.map((column) => `t.${quote(column)} = v.${quote(column)}`);
      return sql.write(`own_${i}`, `delete from ${quote(table)} t using ${source} where ${same.join(" and ")}`);
    }
    const others = columns.filter((column) => !key.includes(column));
    const update = others.map((column) => `${quote(column)} = excluded.${quote(column)}`);
    sql.write(
      `own_${i}`,
      `insert into ${quote(table)} (${columns.map(quote).join(", ")})
        select ${columns.map((column) => `v.${quote(column)}`).join(", ")} from ${source}
        on conflict (${key.map(quote).join(", ")}) do ${
        update.length === 0 ? "nothing" : `update set ${update.join(", ")}`
      }`,
    );
  });
}

function columnsOf({ values, key, remove }: OwnRow): string[] {
  return remove ? [...key] : Object.keys(values).filter((name) => values[name] !== undefined).sort();
}

/** An SQL name, quoted. */
function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
