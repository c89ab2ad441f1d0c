/** Brings the stock of credentials up to what a fold wants, ahead of the follower's transactions. */
import { parseJson } from "#src/base/json.ts";
import type { Row, Want } from "#src/cardano/projection.ts";
import type { Queries } from "#src/store/store.ts";
import { keepStock, SPARE } from "#src/wallet/index/begin.ts";
import type { DeriveStock, PoolRole, WalletKind } from "#src/wallet/index/types.ts";

/** A wish of the fold: that a role's stock reach over `count` credentials. */
export interface StockWant extends Want {
  readonly wallet: string;
  readonly role: PoolRole;
  readonly count: number;
}

/** Credentials derived beyond what is wanted: the more, the longer the pool, so that a long one does not wait at each block. */
function ahead(count: number): number {
  return Math.max(SPARE * 3, Math.min(2_000, Math.floor(count / 4)));
}

/**
 * What the follower has the wallets' stock made by (`Supply` of `chain/supply.ts`): it derives, then gives how to write that. `sql` reads
 * outside of transactions.
 */
export function walletSupply(sql: Queries, derive: DeriveStock) {
  return async (wants: readonly Want[]): Promise<(tx: Queries) => Promise<void>> => {
    const made = await Promise.all(wants.map(async (want) => {
      const { wallet, role, count } = want as StockWant;
      const [row] = await sql<Row[]>`select kind, account, count from wallet_index join wallet_stock using (wallet)
        where wallet = ${wallet} and role = ${role}`;
      // erased meanwhile
      if (!row) return undefined;
      const from = row.count as number;
      if (from >= count) return undefined;
      const order = { wallet, kind: row.kind as WalletKind, account: parseJson(row.account as string), role };
      const credentials = await derive({ ...order, from, count: count + ahead(count) - from });
      return { wallet, role, from, credentials };
    }));
    return async (tx) => {
      for (const one of made) if (one) await keepStock(tx, one.wallet, one.role, one.from, one.credentials);
    };
  };
}
