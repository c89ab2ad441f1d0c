/**
 * The ledger state beside outputs (accounts, pools, snapshots, pots, …), as rows and as the JSON of a block's changes.
 *
 * The end of an epoch changes a row for each account. So rows and JSON are made, sent and read in pieces, of which none
 * holds the event loop.
 */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { type Json, parseWritten, toJson } from "#src/base/json.ts";
import { type ChangePart, JoinedChanges, partsOf } from "#src/devnet/ledger/changeParts.ts";
import type { EntryChange } from "#src/devnet/ledger/changes.ts";
import { fromPlain, plainTexts, toPlain } from "#src/devnet/ledger/plainJson.ts";
import { type EntryKind, isEntryKind } from "#src/devnet/ledger/rowValues.ts";
import { longText, piecesOf } from "#src/store/longText.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** Rows that one statement deletes, and changes that one message of the database holds, at most. */
const ROWS = 200;

/** Writes one side of changes to the rows, in a transaction; at most one change per row. */
export async function storeEntries(
  sql: Queries,
  changes: readonly EntryChange[],
  side: "before" | "after",
): Promise<void> {
  const gone = changes.filter((change) => change[side] === undefined);
  for (let from = 0; from < gone.length; from += ROWS) {
    const some = gone.slice(from, from + ROWS);
    await sql`delete from devnet_entry where (kind, key) in (select * from unnest(
      ${sql.array(some.map(({ kind }) => kind))}::text[], ${sql.array(some.map(({ key }) => key))}::text[]))`;
  }
  const replaces = sql`on conflict (kind, key) do update set value = excluded.value`;
  for (const rows of piecesOf(rowTexts(changes, side), ",")) {
    await sql`
      insert into devnet_entry (kind, key, value)
      select kind, key, value from json_to_recordset(${`[${rows}]`}::text::json) as new (kind text, key text, value json)
      ${replaces}`;
  }
  for (const { kind, key, [side]: value } of changes) {
    if (kind !== "snapshots" || value === undefined) continue;
    const { expression } = await longText(sql, plainTexts(value));
    await sql`insert into devnet_entry (kind, key, value) values (${kind}, ${key}, (${expression})::json) ${replaces}`;
  }
}

/** The JSON of each row but stake snapshots, which are long. */
function* rowTexts(changes: readonly EntryChange[], side: "before" | "after"): Iterable<string> {
  for (const { kind, key, [side]: value } of changes) {
    if (kind !== "snapshots" && value !== undefined) yield toJson({ kind, key, value: toPlain(value) });
  }
}

/** Every row, as changes with the row as `after`. */
export async function readEntries(sql: Queries): Promise<EntryChange[]> {
  const rows = await sql<{ kind: EntryKind; key: string; value: Json }[]>`select kind, key, value from devnet_entry`;
  return rows.map(({ kind, key, value }) => ({ kind, key, after: fromPlain(value) }));
}

/** Changes as a list of JSON. A stake snapshot of many delegators takes several elements, so that none is long. */
function* changeParts(changes: readonly EntryChange[]): Iterable<Json> {
  for (const change of changes) {
    if (change.kind !== "snapshots") yield toPlain(change);
    else for (const part of partsOf(change)) yield toPlain(part);
  }
}

/** Changes as JSON. */
export function changesToJson(changes: readonly EntryChange[]): Json {
  return [...changeParts(changes)];
}

/** The text of `changesToJson`, in parts. */
export function* changesTexts(changes: readonly EntryChange[]): Iterable<string> {
  let start = "[";
  for (const part of changeParts(changes)) {
    yield start + toJson(part);
    start = ",";
  }
  yield start === "[" ? "[]" : "]";
}

/** Decodes the JSON of `changesToJson`. */
export function changesFromJson(json: Json): EntryChange[] {
  if (!Array.isArray(json)) throw new TypeError("not a list of changes");
  const joined = new JoinedChanges();
  for (const part of json) joined.add(changePart(part));
  return joined.changes;
}

/** The changes of some blocks (a condition on `devnet_block`), in a transaction: oldest block first. */
export async function readChanges(sql: Queries, blocks: Fragment): Promise<EntryChange[]> {
  const joined = new JoinedChanges();
  const pacer = new EventLoopPacer();
  const rows = sql<{ part: string }[]>`
    select part::text from devnet_block, json_array_elements(changes) with ordinality as one (part, place)
    where ${blocks} order by height, place`;
  for await (const some of rows.cursor(ROWS)) {
    for (const { part } of some) {
      joined.add(changePart(parseWritten(part)));
      await pacer.step();
    }
  }
  return joined.changes;
}

/** @throws {TypeError} if it is not a change */
function changePart(json: Json): ChangePart {
  const change = fromPlain(json);
  if (!isEntryChange(change)) throw new TypeError("not a change");
  return change;
}

function isEntryChange(change: unknown): change is EntryChange {
  return typeof change === "object" && change !== null && "kind" in change && isEntryKind(change.kind) &&
    "key" in change && typeof change.key === "string";
}
