/** The outputs that pay for a token's transaction: those of the address that it is built for, or of its whole wallet. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { readOverlay } from "#src/chain/pending/overlay.ts";
import { readAvailable, readReserved } from "#src/chain/pending/spendable.ts";
import { readListedPending } from "#src/chain/pending/submissions.ts";
import type { Queries } from "#src/store/store.ts";
import { priorityOrder } from "#src/transaction/coinPool.ts";
import { readBuildable } from "#src/wallets/index/read.ts";
import { readOwnAddresses } from "#src/wallets/index/readChange.ts";
import { readWallet } from "#src/wallets/rows.ts";

/** Who pays and signs. */
export interface TokenPayer {
  /** Address of the requester or owner, bytes in hexadecimal. */
  readonly address: string;
  /** The wallet of that address, which pays with all of its coins and signs; none or null: the address alone does. */
  readonly wallet?: string | null;
}

interface TokenFunds {
  readonly available: readonly { readonly utxo: Utxo; readonly preference: number }[];
  /** Address of the change, bytes in hexadecimal, where it is not the payer's. */
  readonly change?: string;
}

/** Most coins of a wallet that a build chooses from: a transaction has room for fewer. */
const MOST_COINS = 500;

/**
 * Reads what a payer can spend. With a wallet, the address must be one of its own: `no_such_wallet`, `foreign_address`.
 */
export async function readFunds(
  sql: Queries,
  { address, wallet = null }: TokenPayer,
): Promise<Result<TokenFunds, Failure>> {
  if (wallet === null) return ok({ available: await readAvailable(sql, address) });
  const row = await readWallet(sql, wallet);
  if (!row) {
    return fail("no_such_wallet", `I couldn't find a wallet with the given id: ${wallet}`, { wallet_id: wallet });
  }
  if (!(await readOwnAddresses(sql, wallet, [address])).has(address)) {
    return fail("foreign_address", "The address is not an address of the wallet.");
  }
  const { utxos, change } = await readBuildable(sql, wallet, {
    pending: await readListedPending(sql, wallet),
    overlay: readOverlay,
    reserved: readReserved,
    change: row.oneChange ? "first" : 1,
  });
  const coins = priorityOrder(utxos.map(({ utxo, preference }) => ({ utxo, preference }))).slice(0, MOST_COINS);
  return ok({ available: coins, ...(change[0] ? { change: change[0].address } : {}) });
}
