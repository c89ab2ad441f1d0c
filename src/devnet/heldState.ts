/**
 * The ledger at one point, held for somebody who asks it several things.
 *
 * Hypotheses: a transaction of the database that is held open sees one state of all rows, so what is asked in it holds at one point,
 * whatever blocks come and go meanwhile; rows keep what it takes to undo the last `k` blocks, hence also what stood before them.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import { type Output, type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { originTip, type OutputRow, readTip, utxoOf } from "#src/devnet/chainRows.ts";
import { writeEntries } from "#src/devnet/changes.ts";
import { changesFromJson, readEntries } from "#src/devnet/entries.ts";
import type { Genesis } from "#src/devnet/genesis.ts";
import { type LedgerState, newState } from "#src/ledger/state.ts";
import type { Json } from "#src/base/json.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** The ledger after one block. */
export interface HeldState {
  /** The block; `originTip` before the first one. */
  readonly tip: Tip;
  utxosByAddress(addresses: readonly string[]): Promise<Utxo[]>;
  utxosByRef(refs: readonly OutRef[]): Promise<Utxo[]>;
  utxos(): Promise<Utxo[]>;
  /** The ledger without outputs. */
  registry(): Promise<LedgerState>;
  /** The whole ledger; reads every output. */
  ledger(): Promise<LedgerState>;
  /** Lets it go; it answers nothing any more. */
  release(): void;
}

export type NotHeld = { readonly code: "point_too_old" | "point_not_on_chain"; readonly message: string };

/**
 * Holds the state at a point, at the tip, or at the newest block that no rollback undoes, in a transaction on one of the store's
 * connections: give it a pool of its own. The state is let go by itself when nothing was asked for `idleMs`, and throws from then on.
 */
export function holdState(
  store: Store,
  genesis: Genesis,
  target: Point | "tip" | "immutable",
  idleMs: number,
): Promise<Result<HeldState, NotHeld>> {
  return new Promise((resolve, reject) => {
    store.sql.begin("isolation level repeatable read read only", async (sql) => {
      const found = await find(sql, target);
      if (!found.ok) return resolve(found);
      let open = true;
      let ended: () => void = () => {};
      const released = new Promise<void>((resolve) => ended = resolve);
      const release = () => {
        open = false;
        clearTimeout(timer);
        ended();
      };
      let timer = setTimeout(release, idleMs);
      const reading = async <T>(read: () => Promise<T>): Promise<T> => {
        if (!open) throw new Error("the state was held too long without a question");
        clearTimeout(timer);
        try {
          return await read();
        } finally {
          if (open) timer = setTimeout(release, idleMs);
        }
      };
      const rows = new StateRows(sql, genesis, found.value, found.value.height === found.value.newest);
      resolve(ok({
        tip: rows.tip,
        utxosByAddress: (addresses) => reading(() => rows.utxosByAddress(addresses)),
        utxosByRef: (refs) => reading(() => rows.utxosByRef(refs)),
        utxos: () => reading(() => rows.utxos()),
        registry: () => reading(() => rows.state(false)),
        ledger: () => reading(() => rows.state(true)),
        release,
      }));
      await released;
    }).catch(reject);
  });
}

/** The block at which a state is asked for, and the height of the newest block. */
async function find(
  sql: Queries,
  target: Point | "tip" | "immutable",
): Promise<Result<Tip & { readonly newest: number }, NotHeld>> {
  const tip = await readTip(sql);
  const [meta] = await sql<{ floor_height: bigint }[]>`select floor_height from devnet_meta`;
  const floor = Number(meta?.floor_height ?? -1n);
  if (target === "tip") return ok({ ...tip, newest: tip.height });
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
  if (found.height < floor) return fail("point_too_old", `The chain can be looked at from height ${floor} on.`);
  return ok({ ...found, newest: tip.height });
}

/** Rows of one transaction, as they were after a block. */
class StateRows {
  private known: LedgerState | undefined;
  /** Whether the outputs are in what is known. */
  private whole = false;
  readonly tip: Tip;

  constructor(
    private readonly sql: Queries,
    private readonly genesis: Genesis,
    { slot, hash, height }: Tip,
    private readonly newest: boolean,
  ) {
    this.tip = { ...(height < 0 ? origin : { slot, hash }), height };
  }

  async utxosByAddress(addresses: readonly string[]): Promise<Utxo[]> {
    const { sql } = this;
    const rows = await sql<OutputRow[]>`
      select tx_hash, index, cbor from devnet_utxo where ${this.unspent()} and address = any(${
      sql.array([...new Set(addresses)])
    })
      order by created_height, tx_hash, index`;
    return rows.map(utxoOf);
  }

  async utxosByRef(refs: readonly OutRef[]): Promise<Utxo[]> {
    const { sql } = this;
    const rows = await sql<OutputRow[]>`
      select tx_hash, index, cbor from devnet_utxo where ${this.unspent()} and (tx_hash, index) in (
        select * from unnest(${sql.array(refs.map(({ txHash }) => txHash))}::text[],
          ${sql.array(refs.map(({ index }) => index))}::int[]))`;
    return rows.map(utxoOf);
  }

  async utxos(): Promise<Utxo[]> {
    const rows = await this.sql<OutputRow[]>`select tx_hash, index, cbor from devnet_utxo where ${this.unspent()}`;
    return rows.map(utxoOf);
  }

  /** The ledger, with or without its outputs. */
  async state(withOutputs: boolean): Promise<LedgerState> {
    if (this.known && (!withOutputs || this.whole)) return this.known;
    const { parameters, network } = this.genesis;
    const outputs = new Map<string, Output>();
    if (withOutputs) { for (const { ref, output } of await this.utxos()) outputs.set(refKey(ref), output); }
    const state = newState({ parameters, network: network.id, outputs });
    writeEntries(state, await readEntries(this.sql), "after");
    const later = await this.sql<{ changes: Json }[]>`
      select changes from devnet_block where height > ${this.tip.height} and changes is not null order by height desc`;
    for (const { changes } of later) writeEntries(state, changesFromJson(changes).reverse(), "before");
    this.whole = withOutputs;
    return this.known = state;
  }

  private unspent() {
    const { sql, tip: { height } } = this;
    return this.newest
      ? sql`spent_height is null`
      : sql`created_height <= ${height} and (spent_height is null or spent_height > ${height})`;
  }
}
