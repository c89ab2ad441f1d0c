/** A wallet's coins as funds that a transaction is balanced with. */
import type { Funds } from "#src/transaction/feeBalance.ts";
import type { OwnCoin, WalletFunds } from "#src/wallets/builds/types.ts";

/** The coins, with the wallet's change addresses and selection strategy. */
export function feeFunds(
  { change, selection = "per-output" }: WalletFunds,
  coins: readonly OwnCoin[],
  seed?: number,
): Funds<OwnCoin> {
  return { coins, change: change.map(({ address }) => address), strategy: selection, seed };
}
