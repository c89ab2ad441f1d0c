/**
 * The ledger state after one block of the devnet, read from rows within one database transaction.
 *
 * Assumptions: a transaction sees one state of all rows, so everything read in it holds at one point, whatever blocks
 * are added or undone meanwhile. Rows keep what is needed to undo the last `k` blocks, so earlier states can be
 * computed. Only requested rows are read: most queries concern a few accounts.
 */
import type { Json } from "#src/base/json.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import { type Output, type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { originTip, type OutputRow, readTip, utxoOf } from "#src/devnet/blocks/rows.ts";
import { type EntryChange, writeEntries } from "#src/devnet/ledger/changes.ts";
import { changesFromJson } from "#src/devnet/ledger/entries.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { fromPlain } from "#src/devnet/ledger/plainJson.ts";
import type { EntryKind } from "#src/devnet/ledger/rowValues.ts";
import type { RowVersion, SnapshotCache } from "#src/devnet/ledger/snapshotCache.ts";
import { type LedgerState, type MutableLedgerState, newState } from "#src/ledger/state.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** The index of an output has 16 bits; clients may name any, and that of a column has 32. */
const MAX_INDEX = 65_535;

/** The ledger state after one block. */
export interface StateView {
  /** The block; `originTip` before the first one. */
  readonly tip: Tip;
  utxosByAddress(addresses: readonly string[]): Promise<Utxo[]>;
  utxosByRef(refs: readonly OutRef[]): Promise<Utxo[]>;
  utxos(): Promise<Utxo[]>;
  /** Some tables of the ledger: the rows of `keys`, or all rows. Other tables may be empty. */
  registry(kinds: readonly EntryKind[], keys?: readonly string[]): Promise<LedgerState>;
  /** Some tables and all outputs. */
  ledger(kinds: readonly EntryKind[]): Promise<LedgerState>;
}

/** The state to acquire: of a point, of the tip, or of the newest block that no rollback undoes. */
export type DevnetStateTarget = Point | "tip" | "immutable";

export type StateUnavailable = { readonly code: "point_too_old" | "point_not_on_chain"; readonly message: string };

/** The block of a state, and the height of the newest block. */
interface StateBlock extends Tip {
  readonly newest: number;
}

/** Finds the block of a state. */
export async function findBlock(
  sql: Queries,
  target: DevnetStateTarget,
): Promise<Result<StateBlock, StateUnavailable>> {
  const tip = await readTip(sql);
  if (target === "tip") return ok({ ...tip, newest: tip.height });
  const [meta] = await sql<{ floor_height: bigint }[]>`select floor_height from devnet_meta`;
  const floor = Number(meta?.floor_height ?? -1n);
  const [row] = target === "immutable"
    ? await sql<{ height: bigint; slot: bigint; hash: string }[]>`
      select height, slot, hash from devnet_block where height = ${floor}`
    : await sql<{ height: bigint; slot: bigint; hash: string }[]>`
      select height, slot, hash from devnet_block where hash = ${target.hash} and slot = ${target.slot}`;
  const block = row && { height: Number(row.height), slot: Number(row.slot), hash: row.hash };
  if (!block && target !== "immutable" && target.slot >= 0) {
    return fail("point_not_on_chain", "The chain has no such block.");
  }
  const found = block ?? originTip;
  if (found.height < floor) return fail("point_too_old", `The state can be queried from height ${floor} on.`);
  return ok({ ...found, newest: tip.height });
}

/** Reads the state at the tip in one transaction. */
export async function atTip<T>(
  store: Store,
  genesis: Genesis,
  snapshots: SnapshotCache,
  work: (view: StateView) => Promise<T>,
): Promise<T> {
  const { done } = await store.sql.begin("isolation level repeatable read read only", async (sql) => {
    const tip = await readTip(sql);
    return { done: await work(new StateRows(sql, genesis, snapshots, { ...tip, newest: tip.height })) };
  });
  return done;
}

interface EntryRow {
  readonly kind: EntryKind;
  readonly key: string;
  readonly value: Json;
}

/** The rows of one transaction as they were after a block. Tables that were read completely are cached. */
export class StateRows implements StateView {
  readonly tip: Tip;
  readonly #newest: boolean;
  readonly #cached: MutableLedgerState;
  readonly #outputs = new Map<string, Output>();
  readonly #reading = new Map<EntryKind | "outputs", Promise<void>>();
  #undone: Promise<EntryChange[]> | undefined;

  constructor(
    private readonly sql: Queries,
    private readonly genesis: Genesis,
    private readonly snapshots: SnapshotCache,
    { slot, hash, height, newest }: StateBlock,
  ) {
    this.tip = { ...(height < 0 ? origin : { slot, hash }), height };
    this.#newest = height === newest;
    this.#cached = this.#empty(this.#outputs);
  }

  async utxosByAddress(addresses: readonly string[]): Promise<Utxo[]> {
    const { sql } = this;
    const rows = await sql<OutputRow[]>`
      select tx_hash, index, cbor from devnet_utxo where ${this.#unspent()} and address = any(${
      sql.array([...new Set(addresses)])
    })
      order by created_height, tx_hash, index`;
    return rows.map(utxoOf);
  }

  async utxosByRef(refs: readonly OutRef[]): Promise<Utxo[]> {
    const { sql } = this;
    const possible = refs.filter(({ index }) => index <= MAX_INDEX);
    const rows = await sql<OutputRow[]>`
      select tx_hash, index, cbor from devnet_utxo where ${this.#unspent()} and (tx_hash, index) in (
        select * from unnest(${sql.array(possible.map(({ txHash }) => txHash))}::text[],
          ${sql.array(possible.map(({ index }) => index))}::int[]))`;
    return rows.map(utxoOf);
  }

  async utxos(): Promise<Utxo[]> {
    const rows = await this.sql<OutputRow[]>`select tx_hash, index, cbor from devnet_utxo where ${this.#unspent()}`;
    return rows.map(utxoOf);
  }

  async registry(kinds: readonly EntryKind[], keys?: readonly string[]): Promise<LedgerState> {
    if (keys && !kinds.every((kind) => this.#reading.has(kind))) {
      const state = this.#empty(new Map());
      await this.#fill(state, kinds, keys);
      return state;
    }
    for (const kind of kinds) await this.#readOnce(kind, () => this.#fill(this.#cached, [kind]));
    return this.#cached;
  }

  async ledger(kinds: readonly EntryKind[]): Promise<LedgerState> {
    await this.#readOnce("outputs", async () => {
      for (const { ref, output } of await this.utxos()) this.#outputs.set(refKey(ref), output);
    });
    return await this.registry(kinds);
  }

  /** Reads a table completely, once. */
  async #readOnce(what: EntryKind | "outputs", read: () => Promise<void>): Promise<void> {
    let reading = this.#reading.get(what);
    if (!reading) this.#reading.set(what, reading = read());
    await reading;
  }

  #empty(outputs: Map<string, Output>) {
    const { parameters, network } = this.genesis;
    return newState({ parameters, network: network.id, outputs });
  }

  /** Puts rows into a state, and undoes the changes of later blocks. */
  async #fill(state: MutableLedgerState, kinds: readonly EntryKind[], keys?: readonly string[]): Promise<void> {
    const plain = kinds.filter((kind) => kind !== "snapshots");
    if (plain.length > 0) writeEntries(state, await this.#read(plain, keys), "after");
    if (plain.length < kinds.length) writeEntries(state, await this.#snapshots(), "after");
    if (this.#newest) return;
    const wanted = keys && new Set(keys);
    const undone = (await (this.#undone ??= this.#laterChanges()))
      .filter(({ kind, key }) => kinds.includes(kind) && (wanted === undefined || wanted.has(key)));
    writeEntries(state, undone, "before");
  }

  async #read(kinds: readonly EntryKind[], keys: readonly string[] | undefined): Promise<EntryChange[]> {
    const { sql } = this;
    // `offset 0` makes each key use the index, however many there are
    const rows = keys
      ? await sql<EntryRow[]>`
        select entry.* from unnest(${sql.array([...kinds])}::text[]) of
          cross join unnest(${sql.array([...new Set(keys)])}::text[]) wanted
          cross join lateral (select kind, key, value from devnet_entry where kind = of and key = wanted offset 0) entry`
      : await sql<EntryRow[]>`select kind, key, value from devnet_entry where kind = any(${sql.array([...kinds])})`;
    return rows.map(({ kind, key, value }) => ({ kind, key, after: fromPlain(value) }));
  }

  async #snapshots(): Promise<EntryChange[]> {
    const wanted = await this.sql<RowVersion[]>`
      select key, xmin::text as version from devnet_entry where kind = 'snapshots'`;
    const rows = await this.snapshots.of(this.sql, wanted);
    if (!rows) throw new Error("rows of one transaction have changed in it");
    return rows;
  }

  /** The changes of later blocks, last first. */
  async #laterChanges(): Promise<EntryChange[]> {
    const later = await this.sql<{ changes: Json }[]>`
      select changes from devnet_block where height > ${this.tip.height} and changes is not null order by height desc`;
    return later.flatMap(({ changes }) => changesFromJson(changes).reverse());
  }

  #unspent() {
    const { sql, tip: { height } } = this;
    return this.#newest
      ? sql`spent_height is null`
      : sql`created_height <= ${height} and (spent_height is null or spent_height > ${height})`;
  }
}
