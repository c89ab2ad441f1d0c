/**
 * What the ledger knows beside outputs (accounts, pools, representatives, committee, pots), as rows and as the changes of a
 * block, which hold what it takes to undo them.
 */
import type { Json } from "#src/base/json.ts";
import { fromPlain, toPlain } from "#src/devnet/plain.ts";
import type { Applied, Change } from "#src/ledger/delta.ts";
import type { MutableLedgerState, Pots, Table } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

const TABLES = ["accounts", "pools", "dreps", "committee"] as const;
type Kind = typeof TABLES[number] | "pots";

/** A row of one kind before and after; undefined where there is none. */
export interface EntryChange extends Change<unknown> {
  readonly kind: Kind;
}

/** What transactions, applied one after the other, change: one change for each row. `before` are the pots before the first. */
export function changesOf(transactions: readonly Applied[], before: Readonly<Pots>): EntryChange[] {
  const changes = new Map<string, EntryChange>();
  const pots = { ...before };
  for (const applied of transactions) {
    for (const kind of TABLES) {
      for (const change of applied[kind] as readonly Change<unknown>[]) {
        const earlier = changes.get(`${kind} ${change.key}`);
        changes.set(`${kind} ${change.key}`, { ...change, kind, ...(earlier ? { before: earlier.before } : {}) });
      }
    }
    pots.fees += applied.fee;
    pots.deposits += applied.deposits;
    pots.donations += applied.donation;
  }
  if (transactions.length > 0) changes.set("pots", { kind: "pots", key: "", before: { ...before }, after: pots });
  return [...changes.values()];
}

/** Writes one side of changes into a state. */
export function writeEntries(
  state: MutableLedgerState,
  changes: readonly EntryChange[],
  side: "before" | "after",
): void {
  for (const change of changes) {
    const value = change[side];
    if (change.kind === "pots") Object.assign(state.pots, value);
    else if (value === undefined) state[change.kind].delete(change.key);
    else (state[change.kind] as Table<unknown>).set(change.key, value);
  }
}

/** Writes one side of changes into the rows. */
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
  for (const { kind, key, [side]: value } of rows) {
    await sql`insert into devnet_entry (kind, key, value) values (${kind}, ${key}, ${sql.json(toPlain(value) as never)})
      on conflict (kind, key) do update set value = excluded.value`;
  }
}

/** Every row, as changes whose `after` is the row. */
export async function readEntries(sql: Queries): Promise<EntryChange[]> {
  const rows = await sql<{ kind: Kind; key: string; value: Json }[]>`select kind, key, value from devnet_entry`;
  return rows.map(({ kind, key, value }) => ({ kind, key, after: fromPlain(value) }));
}

/** Changes as JSON. */
export function changesToJson(changes: readonly EntryChange[]): Json {
  return toPlain(changes);
}

/** The changes of a JSON that `changesToJson` gave. */
export function changesFromJson(json: Json): EntryChange[] {
  return fromPlain(json) as EntryChange[];
}
