/**
 * The ledger state beside outputs (accounts, pools, snapshots, pots, …), as rows and as the JSON of a block's changes.
 */
import { type Json, toJson } from "#src/base/json.ts";
import type { EntryChange } from "#src/devnet/ledger/changes.ts";
import { fromPlain, toPlain } from "#src/devnet/ledger/plainJson.ts";
import { type EntryKind, isEntryKind } from "#src/devnet/ledger/rowValues.ts";
import type { Queries } from "#src/store/store.ts";

/** Writes one side of changes to the rows; at most one change per row. */
export async function storeEntries(
  sql: Queries,
  changes: readonly EntryChange[],
  side: "before" | "after",
): Promise<void> {
  const gone = changes.filter((change) => change[side] === undefined);
  const rows = changes.filter((change) => change[side] !== undefined);
  if (gone.length > 0) {
    await sql`delete from devnet_entry where (kind, key) in (select * from unnest(
      ${sql.array(gone.map(({ kind }) => kind))}::text[], ${sql.array(gone.map(({ key }) => key))}::text[]))`;
  }
  if (rows.length === 0) return;
  await sql`
    insert into devnet_entry (kind, key, value) select kind, key, value::json from unnest(
      ${sql.array(rows.map(({ kind }) => kind))}::text[], ${sql.array(rows.map(({ key }) => key))}::text[],
      ${sql.array(rows.map((row) => toJson(toPlain(row[side]))))}::text[]) as new (kind, key, value)
    on conflict (kind, key) do update set value = excluded.value`;
}

/** Every row, as changes with the row as `after`. */
export async function readEntries(sql: Queries): Promise<EntryChange[]> {
  const rows = await sql<{ kind: EntryKind; key: string; value: Json }[]>`select kind, key, value from devnet_entry`;
  return rows.map(({ kind, key, value }) => ({ kind, key, after: fromPlain(value) }));
}

/** Changes as JSON. */
export function changesToJson(changes: readonly EntryChange[]): Json {
  return toPlain(changes);
}

/** Decodes the JSON of `changesToJson`. */
export function changesFromJson(json: Json): EntryChange[] {
  const changes = fromPlain(json);
  if (!Array.isArray(changes) || !changes.every(isEntryChange)) throw new TypeError("not a list of changes");
  return changes;
}

function isEntryChange(change: unknown): change is EntryChange {
  return typeof change === "object" && change !== null && "kind" in change && isEntryKind(change.kind) &&
    "key" in change && typeof change.key === "string";
}
