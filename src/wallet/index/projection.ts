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
import { created, type ScannedBlock, spent } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Projection, RowQuery, Rows, Touched } from "#src/cardano/projection.ts";
import { credentialOf } from "#src/wallet/index/credential.ts";
import { BlockFold, entityKind, lifeOf } from "#src/wallet/index/fold.ts";
import { rowsOf } from "#src/wallet/index/indexRows.ts";
import { WALLET_PROJECTION } from "#src/wallet/index/types.ts";
import { stakesIn } from "#src/wallet/index/walletEffect.ts";

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
const KEPT = ["wallet_seen", "wallet_stock", "wallet_address", "wallet_forged", "wallet_index"] as const;

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
      joinedKeys: (members) => [{ table: "wallet_index", column: "wallet", in: members }],
      joined: (members, at, rows) => touchedBy(members, rows, { type: "RESTORED", slot: at.slot }),
    },
    keys,
    fold: (block, rows, settled) => new BlockFold(block, rows, settled, options.keyDeposit).run(),
    undoKeys: (affected) => [{ table: "wallet_index", column: "wallet", in: walletsOf(affected) }],
    undo: (point, affected, rows) => touchedBy(walletsOf(affected), rows, { type: "ROLLED_BACK", slot: point.slot }),
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

function touchedBy(wallets: readonly string[], rows: Rows, event: Touched["event"]): Touched[] {
  const known = new Map(rowsOf(rows, "wallet_index").map((row) => [row.wallet, row]));
  return wallets.flatMap((id) => {
    const row = known.get(id);
    if (row === undefined) return [];
    return [{ entity: { kind: entityKind(row.kind), id }, event: { ...event, ...lifeOf(row) } }];
  });
}
