/** Derives the credentials that a fold requests, before the indexer's transaction. */
import { parseJson } from "#src/base/json.ts";
import type { Want } from "#src/chain/index/projection.ts";
import type { Queries } from "#src/store/store.ts";
import { addCredentials, SPARE } from "#src/wallets/index/begin.ts";
import { type DeriveCredentials, POOL_ROLES, type PoolRole, type WalletKind } from "#src/wallets/index/types.ts";

/** A request of the fold: the first `count` credentials of a role. */
interface CredentialWant {
  readonly wallet: string;
  readonly role: PoolRole;
  readonly count: number;
}

/** The request of a `Want`. @throws TypeError where the fold did not make it. */
function wantOf({ wallet, role, count }: Want): CredentialWant {
  const pool = POOL_ROLES.find((one) => one === role);
  if (typeof wallet !== "string" || pool === undefined || typeof count !== "number") {
    throw new TypeError("a request for credentials that names no pool");
  }
  return { wallet, role: pool, count };
}

/** Credentials to derive beyond the request: more for a longer pool, so that a long one does not wait at each block. */
function ahead(count: number): number {
  return Math.max(SPARE * 3, Math.min(2_000, Math.floor(count / 4)));
}

/**
 * The `Supply` of the wallets' projection: derives credentials, then gives the function that writes them. `sql` reads
 * outside of the indexer's transaction.
 */
export function walletSupply(sql: Queries, derive: DeriveCredentials) {
  return async (wants: readonly Want[]): Promise<(tx: Queries) => Promise<void>> => {
    const made = await Promise.all(wants.map(async (want) => {
      const { wallet, role, count } = wantOf(want);
      const [row] = await sql<
        { kind: WalletKind; account: string; count: number }[]
      >`select kind, account, count from wallet_index join wallet_stock using (wallet)
        where wallet = ${wallet} and role = ${role}`;
      if (!row) return undefined; // erased meanwhile
      const { kind, account, count: from } = row;
      if (from >= count) return undefined;
      const order = { wallet, kind, account: parseJson(account), role };
      const credentials = await derive({ ...order, from, count: count + ahead(count) - from });
      return { wallet, role, from, credentials };
    }));
    return async (tx) => {
      for (const one of made) if (one) await addCredentials(tx, one.wallet, one.role, one.from, one.credentials);
    };
  };
}
