// deno-lint-ignore-file no-unused-vars
/** What wallets hold and what they can spend, out of the rows that the follower wrote. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { AssetId } from "#src/cardano/value.ts";
import type { Queries } from "#src/store/store.ts";
import type { Buildable, Holdings, OwnUtxo } from "#src/wallet/index/types.ts";

/** Open submissions of each wallet, as whoever submits keeps them; wallets without any may be missing. */
export type PendingOf = ReadonlyMap<string, readonly ScannedTransaction[]>;

/** What some wallets hold, all in one read; wallets that the index does not know are missing. */
export function readHoldings(
  sql: Queries,
  wallets: readonly string[],
  pending: PendingOf,
): Promise<ReadonlyMap<string, Holdings>> {
  throw new Error("not written");
}

/** All assets that a wallet ever held, in their order as texts. */
export function readAssets(sql: Queries, wallet: string): Promise<readonly AssetId[]> {
  throw new Error("not written");
}

/** Outputs of a wallet that no transaction in the ledger has spent. */
export function readOwnUtxos(sql: Queries, wallet: string): Promise<readonly OwnUtxo[]> {
  throw new Error("not written");
}

/** What else a build looks at. */
export interface BuildView {
  /** Open submissions of the wallet. */
  readonly pending: readonly ScannedTransaction[];
  /** Seconds that reservations of some outputs (`refKey`) have left: `readReserved` of `chain/available.ts`. */
  readonly reserved: (sql: Queries, refs: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Change addresses that are wanted. */
  readonly change: number;
}

/** What a transaction of a wallet is built from; to be read at one point (`atPoint` of `chain/available.ts`). */
export function readBuildable(sql: Queries, wallet: string, view: BuildView): Promise<Buildable> {
  throw new Error("not written");
}
