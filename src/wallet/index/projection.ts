/**
 * What blocks say of wallets: their outputs, what they hold, their transactions, which of their addresses are used, and how far their
 * pools reach.
 *
 * Hypotheses: an output belongs to a wallet by the credential of its address, whatever its stake part; of a credential in stock that no
 * pool reaches over nothing is known to the world, so it is not the wallet's; pools grow with the block that uses them, before
 * any of its outputs is judged, so that neither the order within a block nor the number of blocks folded together matters; the
 * stock reaches over every pool at every block, or the fold wants it to.
 */
import { created, type ScannedBlock, spent } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Projection, RowQuery, Rows, Touched } from "#src/cardano/projection.ts";
import { credentialOf } from "#src/wallet/index/credential.ts";
import { BlockFold, entityKind, lifeOf } from "#src/wallet/index/fold.ts";
import { WALLET_PROJECTION } from "#src/wallet/index/types.ts";
import { stakesIn } from "#src/wallet/index/walletEffect.ts";

export interface WalletProjectionOptions {
  /** Lovelace that the protocol takes for registering a stake key, for certificates that do not state it. */
  readonly keyDeposit: bigint;
}

/** Index tables of wallets. */
const TABLES = ["wallet_pool", "wallet_use", "wallet_utxo", "wallet_holding", "wallet_transaction"] as const;
/** Of these only what stands now is ever asked for. */
const PASSING = ["wallet_pool", "wallet_holding"] as const;
/** In this order: no credentials are added to a stock whose count is gone. */
const KEPT = ["wallet_stock", "wallet_address", "wallet_forged", "wallet_index"] as const;

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
      joined: (members, at, rows) => tell(members, rows, { type: "RESTORED", slot: at.slot }),
    },
    keys,
    fold: (block, rows, settled) => new BlockFold(block, rows, settled, options.keyDeposit).run(),
    undoKeys: (affected) => [{ table: "wallet_index", column: "wallet", in: walletsOf(affected) }],
    undo: (point, affected, rows) => tell(walletsOf(affected), rows, { type: "ROLLED_BACK", slot: point.slot }),
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
  return [...new Set(TABLES.flatMap((table) => (affected.get(table) ?? []).map((row) => row.wallet as string)))];
}

function tell(wallets: readonly string[], rows: Rows, event: Touched["event"]): Touched[] {
  const known = new Map((rows.get("wallet_index") ?? []).map((row) => [row.wallet as string, row]));
  return wallets.flatMap((id) => {
    const row = known.get(id);
    if (row === undefined) return [];
    return [{ entity: { kind: entityKind(row.kind as string), id }, event: { ...event, ...lifeOf(row) } }];
  });
}
