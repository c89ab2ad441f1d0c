/**
 * The wallets' projection: their outputs, holdings, transactions, used addresses and address pools.
 *
 * Assumptions:
 * - The payment credential of an address decides who owns an output, whatever the stake part is.
 * - Credentials are derived beyond the end of a pool. One beyond the end was never given out, so an output at it is not
 *   the wallet's.
 * - Pools grow by the whole block that uses them before its outputs are assigned. So neither the order within a block
 *   nor the number of blocks folded together matters.
 * - The derived credentials reach over every pool at every block; otherwise the fold requests more.
 */
import { created, type Point, type ScannedBlock, spent } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Projection, RowQuery, Rows, Touched } from "#src/chain/index/projection.ts";
import { lovelace } from "#src/cardano/value.ts";
import { credentialOf } from "#src/wallets/index/credential.ts";
import { BlockFold, entityKind, incarnationOf } from "#src/wallets/index/fold.ts";
import { rowsOf } from "#src/wallets/index/indexRows.ts";
import { WALLET_PROJECTION } from "#src/wallets/index/types.ts";
import { stakesIn } from "#src/wallets/index/walletEffect.ts";
import { balanceEvents } from "#src/wallets/index/walletEvents.ts";

interface WalletProjectionOptions {
  /** Deposit of a stake key in lovelace, for certificates that do not state it. */
  readonly keyDeposit: bigint;
}

/** Index tables of wallets. */
const TABLES = ["wallet_pool", "wallet_use", "wallet_utxo", "wallet_holding", "wallet_transaction"] as const;
/** Tables of which only current rows are read. */
const PASSING = ["wallet_pool", "wallet_holding"] as const;
/**
 * Tables that a rollback does not touch, in the order of erasure: without its row in `wallet_stock` a wallet gets no
 * new credentials.
 */
const KEPT = [
  "wallet_seen",
  "wallet_reserved",
  "wallet_stock",
  "wallet_address",
  "wallet_forged",
  "wallet_index",
] as const;

/** The projection of wallets. */
export function walletProjection(options: WalletProjectionOptions): Projection {
  return {
    name: WALLET_PROJECTION,
    tables: TABLES,
    passing: PASSING,
    members: {
      column: "wallet",
      tables: [...TABLES, ...KEPT],
      kept: KEPT,
      joinedKeys: stateKeys,
      joined: (members, at, rows) => stateEvents(members, rows, "RESTORED", at),
    },
    keys,
    // the event at the end of a restoration has the whole balance, and no rollback reaches settled blocks
    fold: (block, rows, settled, restoring = false) =>
      new BlockFold(block, rows, settled && restoring, options.keyDeposit).run(),
    undoKeys: (affected) => stateKeys(walletsOf(affected)),
    undo: (point, affected, rows) => stateEvents(walletsOf(affected), rows, "ROLLED_BACK", point),
  };
}

function keys(block: ScannedBlock): RowQuery[] {
  const credentials = new Set<string>();
  const stakes = new Set<string>();
  const refs: string[] = [];
  let byron = false;
  for (const transaction of block.transactions) {
    for (const { output: { address } } of created(transaction)) {
      const credential = credentialOf(address);
      if (credential !== undefined) credentials.add(credential);
      byron ||= address.startsWith("8");
    }
    for (const ref of spent(transaction)) refs.push(refKey(ref));
    for (const stake of stakesIn(transaction)) stakes.add(stake);
  }
  return [
    { table: "wallet_address", column: "credential", in: [...credentials] },
    { table: "wallet_use", column: "credential", in: [...credentials] },
    { table: "wallet_utxo", column: "ref", in: refs },
    { table: "wallet_index", column: "stake", in: [...stakes] },
    { table: "wallet_index", column: "kind", in: byron ? ["random"] : [] },
  ];
}

function walletsOf(affected: Rows): string[] {
  return [...new Set(TABLES.flatMap((table) => (affected.get(table) ?? []).map((row) => String(row.wallet))))];
}

/** Rows for `stateEvents`. */
function stateKeys(wallets: readonly string[]): RowQuery[] {
  return ["wallet_index", "wallet_holding"].map((table) => ({ table, column: "wallet", in: wallets }));
}

/** Events that carry the whole balance of wallets at a point. */
function stateEvents(
  wallets: readonly string[],
  rows: Rows,
  type: "RESTORED" | "ROLLED_BACK",
  { slot, hash }: Point,
): Touched[] {
  const known = new Map(rowsOf(rows, "wallet_index").map((row) => [row.wallet, row]));
  const held = new Map<string, { lovelace: bigint; readonly assets: Map<string, bigint> }>();
  for (const { wallet, asset, quantity } of rowsOf(rows, "wallet_holding")) {
    let value = held.get(wallet);
    if (!value) held.set(wallet, value = { lovelace: 0n, assets: new Map() });
    const sum = BigInt(quantity);
    if (asset === "") value.lovelace = sum;
    else if (sum > 0n) value.assets.set(asset, sum);
  }
  return wallets.flatMap((id) => {
    const row = known.get(id);
    if (row === undefined) return [];
    const head = { type, slot, block: { slot, hash }, ...(row.stake === null ? {} : { stake: row.stake }) };
    const entity = { kind: entityKind(row.kind), id };
    return balanceEvents(head, held.get(id) ?? lovelace(0n), incarnationOf(row)).map((event) => ({ entity, event }));
  });
}
