/** Spending limits of wallets, applied to transactions that their keys have just signed. */
import { ok, type Result } from "#src/base/result.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { readMemberPositions } from "#src/chain/index/groups.ts";
import { readSubmitted } from "#src/chain/pending/submissions.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Store } from "#src/store/store.ts";
import { readAccount } from "#src/wallets/delegation/read.ts";
import { readOwnAddresses } from "#src/wallets/index/readChange.ts";
import { readCoins } from "#src/wallets/index/readCoins.ts";
import { WALLET_PROJECTION } from "#src/wallets/index/types.ts";
import {
  hasLimit,
  type LimitExceeded,
  outflow,
  reserveSpends,
  type Spend,
  type SpendingTime,
} from "#src/wallets/spending.ts";

const DAY_MS = 86_400_000;

/** What limits are applied with. */
export interface SpendingServices {
  readonly store: Pick<Store, "sql">;
  readonly port: Pick<ChainPort, "network">;
  readonly networkId: 0 | 1;
}

/** The chain's time for a wallet: of the block up to which it is read. */
export async function spendingTime({ store: { sql }, port }: SpendingServices, wallet: string): Promise<SpendingTime> {
  const [{ slots }, positions] = await Promise.all([
    port.network(),
    readMemberPositions(sql, WALLET_PROJECTION, [wallet]),
  ]);
  const { slot } = positions.get(wallet)?.at ?? (await readCursor(sql)).at;
  return { slot, day: Math.ceil(DAY_MS / slots.slotLength) };
}

/**
 * Counts signed transactions towards a wallet's limit; `spending_limit_exceeded` where they pass it. Call it before a
 * signature leaves the process.
 */
export async function countSpending(
  services: SpendingServices,
  wallet: string,
  transactions: readonly Uint8Array[],
): Promise<Result<null, LimitExceeded>> {
  const { sql } = services.store;
  if (!await hasLimit(sql, wallet)) return ok(null);
  const time = await spendingTime(services, wallet);
  const spends = await spendsOf(services, wallet, transactions.map(scanTransaction));
  return await sql.begin((sql) => reserveSpends(sql, wallet, spends, time));
}

/** What each of some transactions lets out of a wallet; a later one may spend outputs of those before it. */
async function spendsOf(
  { store: { sql }, networkId }: SpendingServices,
  wallet: string,
  scanned: readonly ScannedTransaction[],
): Promise<readonly Spend[]> {
  const refs = scanned.flatMap(({ inputs, collateral }) => [...inputs, ...collateral]);
  const outputs = scanned.flatMap((one) => [...one.outputs, ...one.collateralReturn ? [one.collateralReturn] : []]);
  const [coins, addresses, account] = await Promise.all([
    readSubmitted(sql, refs.map(({ txHash }) => txHash))
      .then((pending) => readCoins(sql, wallet, refs.map(refKey), [...pending, ...scanned])),
    readOwnAddresses(sql, wallet, outputs.map(({ address }) => address)),
    readAccount(sql, wallet),
  ]);
  const own = {
    coins: new Map(coins.map(({ utxo: { ref, output } }) => [refKey(ref), output.value.lovelace])),
    addresses: new Set(addresses.keys()),
    account: account && rewardAddress(networkId, account.credential).hex,
  };
  return scanned.map((one) => ({ hash: one.hash, amount: outflow(one, own), validTo: one.validTo }));
}
