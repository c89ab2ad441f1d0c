/** Reads wallets' stake accounts: for the API, for builds and for the list of stake keys. */
import { type Certified, kept, type Shown, shownIn } from "#machines/delegation.ts";
import { addTo } from "#src/base/maps.ts";
import type { Credential } from "#src/cardano/address.ts";
import { parseDrepKey } from "#src/cardano/drepText.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";
import type { StakeAccount } from "#src/wallet/build/types.ts";
import { parseCredential } from "#src/wallet/index/credential.ts";

/** A wallet's stake account. */
export interface WalletAccount {
  readonly wallet: string;
  readonly credential: Credential;
  readonly registered: boolean;
  /** Deposit of its registration in lovelace, where its certificate or the network states it. */
  readonly deposit?: bigint;
  /** Pool id in hexadecimal, after the newest certificate. */
  readonly pool?: string;
  readonly drep?: DRep;
  /** Lovelace that can be withdrawn; 0 until the network was queried. */
  readonly rewards: bigint;
  /** Epoch of the last query of the network. */
  readonly rewardsEpoch?: number;
  /** The newest certificates, oldest first. */
  readonly history: readonly Certified[];
}

interface Columns {
  readonly wallet: string;
  readonly stake: string;
  readonly rewards: bigint | number | null;
  readonly rewards_epoch: bigint | number | null;
  readonly registered: boolean | null;
  readonly deposit: bigint | number | null;
  readonly pool: string | null;
  readonly drep: string | null;
}

/** The accounts of wallets that have one, by wallet. A wallet without a stake credential has none. */
export async function readAccounts(
  sql: Queries,
  wallets: readonly string[],
): Promise<ReadonlyMap<string, WalletAccount>> {
  const { accounts, certified } = accountQueries(sql, wallets);
  const [rows, histories] = await Promise.all([sql`${accounts}`, sql`${certified}`]);
  return accountsOf(rows, histories);
}

/** SQL of `readAccounts`, to be combined with other reads; `accountsOf` reads the rows of both. */
export function accountQueries(sql: Queries, wallets: readonly string[]): Record<"accounts" | "certified", Fragment> {
  const ids = sql.array([...wallets]);
  return {
    accounts: sql`select i.wallet, i.stake, r.rewards, r.epoch as rewards_epoch, d.registered, d.deposit, d.pool, d.drep
      from unnest(${ids}::text[]) w(id) join wallet_index i on i.wallet = w.id
      left join lateral (
        select rewards, epoch from wallet_reward where wallet = w.id and to_slot is null limit 1) r on true
      left join lateral (
        select registered, deposit, pool, drep from wallet_delegation where wallet = w.id and to_slot is null limit 1) d on true
      where i.stake is not null`,
    certified: sql`select wallet, epoch::int as epoch, pool, drep from wallet_delegation where wallet = any(${ids})
      order by from_slot`,
  };
}

/** Accounts by wallet, from rows of `accountQueries`. */
export function accountsOf(
  accounts: readonly JsonRow[],
  certified: readonly JsonRow[],
): ReadonlyMap<string, WalletAccount> {
  const rows = accounts as readonly JsonRow[] as unknown as readonly Columns[];
  const historyOf = new Map<string, Certified[]>();
  for (const { wallet, ...one } of certified as unknown as readonly (Certified & { readonly wallet: string })[]) {
    addTo(historyOf, wallet, one);
  }
  return new Map(rows.map((row) => [row.wallet, accountOf(row, historyOf.get(row.wallet) ?? [])]));
}

/** The account of a wallet; `undefined` where it has none. */
export async function readAccount(sql: Queries, wallet: string): Promise<WalletAccount | undefined> {
  return (await readAccounts(sql, [wallet])).get(wallet);
}

function accountOf(row: Columns, history: readonly Certified[]): WalletAccount {
  return {
    wallet: row.wallet,
    credential: parseCredential(row.stake)!,
    registered: row.registered ?? false,
    ...(row.deposit === null ? {} : { deposit: BigInt(row.deposit) }),
    ...(row.pool === null ? {} : { pool: row.pool }),
    ...(row.drep === null ? {} : { drep: parseDrepKey(row.drep) }),
    rewards: BigInt(row.rewards ?? 0n),
    ...(row.rewards_epoch === null ? {} : { rewardsEpoch: Number(row.rewards_epoch) }),
    history,
  };
}

/** Pool and representative of an account in an epoch, and the changes in the next ones. */
export function delegationIn({ history }: Pick<WalletAccount, "history">, epoch: number): Shown {
  return shownIn(kept(history, epoch), epoch);
}

/** An account for builds (`WalletFunds.account`); `keyDeposit` applies to registrations that state none. */
export function stakeAccountOf(account: WalletAccount, path: readonly number[], keyDeposit: bigint): StakeAccount {
  const { credential, registered, deposit, pool, drep, rewards } = account;
  return { credential, path, registered, deposit: deposit ?? keyDeposit, rewards, pool, drep };
}
