/** Wallets as the API shows them: their rows, what they hold, how far they are read, their delegation. */
import type { WalletOverview } from "#src/wallets/walletReads.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import { assetViews, lovelace } from "#src/wallets/http/amountViews.ts";
import { delegationView, NO_DELEGATION } from "#src/wallets/http/delegationView.ts";
import { blockView } from "#src/wallets/http/times.ts";
import { delegationIn } from "#src/wallets/delegation/read.ts";
import type { WalletRow } from "#src/wallets/rows.ts";

/** The newest slot among wallets' tips: eras must be known as far as that, also after a long time without blocks. */
export function lastSlot(ids: readonly string[], overviewOf: (id: string) => WalletOverview): number {
  return ids.reduce((last, id) => Math.max(last, overviewOf(id).status.tip.slot), 0);
}

/** The members that all kinds have. */
function common(row: WalletRow, { holdings, status }: WalletOverview, eras: Eras) {
  const { passphrase } = row;
  return {
    id: row.id,
    name: row.name,
    assets: { available: assetViews(holdings.available.assets), total: assetViews(holdings.total.assets) },
    passphrase: passphrase && { last_updated_at: passphrase.at, encryption_method: passphrase.method },
    state: status.state,
    tip: blockView(eras, status.tip),
  };
}

/** A sequential wallet. */
export function walletView(row: WalletRow, overview: WalletOverview, eras: Eras) {
  return {
    ...common(row, overview, eras),
    address_pool_gap: row.gap,
    account_index: row.account === 0 ? undefined : `${row.account}H`,
    balance: balanceView(overview),
    delegation: delegatedView(overview, eras),
    one_change_address_mode: row.oneChange,
    selection: row.selection,
  };
}

/** A wallet of the first era. */
export function byronView(row: WalletRow, overview: WalletOverview, eras: Eras) {
  const { available, total, unspendable } = overview.holdings;
  const { passphrase } = row;
  return {
    ...common(row, overview, eras),
    passphrase: passphrase && {
      last_updated_at: passphrase.at,
      // clients of cardano-wallet know no other methods for these wallets
      encryption_method: passphrase.method === "argon2id-v2" ? undefined : passphrase.method,
    },
    balance: { available: lovelace(available.lovelace), total: lovelace(total.lovelace) },
    unspendable: unspendable && [{
      reason: "key_not_found_for_address" as const,
      amount: lovelace(unspendable.lovelace),
      assets: assetViews(unspendable.assets),
    }],
    discovery: row.kind === "random" ? "random" : "sequential",
  };
}

/**
 * Spendable lovelace, rewards, and their sum: rewards that a pending transaction withdraws count once, in its outputs.
 */
export function balanceView(
  { holdings, account, withdrawing }: Pick<WalletOverview, "holdings" | "account" | "withdrawing">,
) {
  const reward = account?.rewards ?? 0n;
  return {
    available: lovelace(holdings.available.lovelace),
    reward: lovelace(reward),
    total: lovelace(holdings.total.lovelace + (withdrawing ? 0n : reward)),
  };
}

/** The delegation of stake and vote, now and in the next epochs. */
function delegatedView({ account, status }: Pick<WalletOverview, "account" | "status">, eras: Eras) {
  const epochs = epochsOf(eras);
  return account ? delegationView(delegationIn(account, epochs.of(status.tip.slot)), epochs) : NO_DELEGATION;
}
