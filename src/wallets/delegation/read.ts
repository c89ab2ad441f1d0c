/** Reads wallets' stake accounts: for the API, for builds and for the list of stake keys. */
import { type Certified, kept, type Shown, shownIn } from "#machines/delegation.ts";
import { addTo } from "#src/base/maps.ts";
import { present } from "#src/base/present.ts";
import type { Credential } from "#src/cardano/address.ts";
import { parseDrepKey } from "#src/cardano/drepText.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import { column, isBoolean, isInteger, isText, orNull } from "#src/store/column.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";
import type { StakeAccount } from "#src/wallets/builds/types.ts";
import { parseCredential } from "#src/wallets/index/credential.ts";

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
  const historyOf = new Map<string, Certified[]>();
  for (const row of certified) {
    addTo(historyOf, column(row, "wallet", isText), {
      epoch: Number(column(row, "epoch", isInteger)),
      pool: column(row, "pool", orNull(isText)),
      drep: column(row, "drep", orNull(isText)),
    });
  }
  return new Map(accounts.map((row) => {
    const account = accountOf(row, historyOf);
    return [account.wallet, account];
  }));
}

/** The account of a wallet; `undefined` where it has none. */
export async function readAccount(sql: Queries, wallet: string): Promise<WalletAccount | undefined> {
  return (await readAccounts(sql, [wallet])).get(wallet);
}

function accountOf(row: JsonRow, historyOf: ReadonlyMap<string, readonly Certified[]>): WalletAccount {
  const wallet = column(row, "wallet", isText);
  const deposit = column(row, "deposit", orNull(isInteger));
  const pool = column(row, "pool", orNull(isText));
  const drep = column(row, "drep", orNull(isText));
  const epoch = column(row, "rewards_epoch", orNull(isInteger));
  return {
    wallet,
    credential: present(parseCredential(column(row, "stake", isText)), "the credential of an account"),
    registered: column(row, "registered", orNull(isBoolean)) ?? false,
    ...(deposit === null ? {} : { deposit: BigInt(deposit) }),
    ...(pool === null ? {} : { pool }),
    ...(drep === null ? {} : { drep: parseDrepKey(drep) }),
    rewards: BigInt(column(row, "rewards", orNull(isInteger)) ?? 0n),
    ...(epoch === null ? {} : { rewardsEpoch: Number(epoch) }),
    history: historyOf.get(wallet) ?? [],
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
