/**
 * Reads of the index: accounts, by the key of their credential. Each function is one statement.
 *
 * The genesis counts as a block at height 0 and slot 0. What a registered account may withdraw is its balance in the ledger:
 * beside rewards, refunds and payments from the treasury come there.
 */
import { direction, limits, type Page, type PlaceRange, within } from "#src/devnet/index/reads/page.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** Where a transaction is in the chain. */
export interface TransactionPlaceRow {
  readonly tx_hash: string;
  readonly slot: bigint;
  readonly height: bigint;
}

/** Columns and joins of `TransactionPlaceRow` for the rows of a table. */
const placeColumns = (sql: Queries): Fragment =>
  sql`of.tx_hash, coalesce(block.slot, 0)::bigint as slot, greatest(of.height, 0)::bigint as height`;
const placeJoin = (sql: Queries): Fragment => sql`left join devnet_block block on block.height = of.height`;

/** An account. Amounts are lovelace. */
export interface AccountSummary {
  readonly registered: boolean;
  /** Id of the pool of the last delegation since the account was registered. */
  readonly pool: string | null;
  /** Key of the representative of the last delegation since then, as long as that one is registered. */
  readonly drep: string | null;
  /** Epoch of the last registration or deregistration. */
  readonly changed: number | null;
  /** In unspent outputs. */
  readonly held: bigint;
  readonly rewards: bigint;
  readonly withdrawn: bigint;
  /** What may be withdrawn, while it is registered. */
  readonly balance: bigint | undefined;
}

/** Whether anything on the chain names an account: an output, a certificate, a reward, or the registration of a pool. */
export function accountExists(sql: Queries, credential: string): Fragment {
  return sql`(
    exists (select 1 from devnet_index_output where stake = ${credential})
    or exists (select 1 from devnet_index_certificate where credential = ${credential})
    or exists (select 1 from devnet_index_reward where credential = ${credential})
    or exists (select 1 from devnet_index_certificate
      where kind = 'pool' and position(decode(${credential.slice(1)}, 'hex') in cbor) > 0))`;
}

/** Whether an account exists (see `accountExists`). */
export async function isAccount(sql: Queries, credential: string): Promise<boolean> {
  return (await sql`select 1 where ${accountExists(sql, credential)}`).length > 0;
}

/**
 * The last registration, delegation and vote of accounts: rows `(credential, registered, changed_height, pool, drep)`. A
 * delegation counts until the account is deregistered.
 */
export function accountStates(sql: Queries, chosen: Fragment): Fragment {
  const last = (kinds: Fragment) =>
    sql`
    select distinct on (credential) credential, kind, pool, drep, height,
      (height, tx_index, cert_index, part) as place
    from devnet_index_certificate where credential is not null and kind in (${kinds}) and ${chosen}
    order by credential, height desc, tx_index desc, cert_index desc, part desc`;
  return sql`
    select state.credential, state.kind = 'register' as registered, state.height as changed_height,
      delegation.pool, delegation.place as delegation_place, vote.drep, vote.place as vote_place
    from (${last(sql`'register', 'deregister'`)}) state
    left join (${last(sql`'delegate'`)}) delegation
      on delegation.credential = state.credential and state.kind = 'register' and delegation.place > state.place
    left join (${last(sql`'vote'`)}) vote
      on vote.credential = state.credential and state.kind = 'register' and vote.place > state.place`;
}

/** Rows as `accountStates`, and `lovelace`: what each registered account holds now. */
export function accountStakes(sql: Queries): Fragment {
  return sql`
    select account.*,
      coalesce(held.lovelace, 0) + coalesce((entry.value->'balance'->>'int')::numeric, 0) as lovelace
    from (${accountStates(sql, sql`true`)}) account
    left join (
      select stake, sum(lovelace) as lovelace from devnet_index_output
      where spent_height is null and stake is not null group by stake) held on held.stake = account.credential
    left join devnet_entry entry on entry.kind = 'accounts' and entry.key = account.credential
    where account.registered`;
}

interface AccountRow {
  readonly known: boolean;
  readonly registered: boolean | null;
  readonly pool: string | null;
  readonly drep: string | null;
  readonly changed: number | null;
  readonly held: string | null;
  readonly rewards: string | null;
  readonly withdrawn: string | null;
  readonly balance: string | null;
}

/** An account; undefined where nothing names it. */
export async function readAccount(sql: Queries, credential: string): Promise<AccountSummary | undefined> {
  const [row] = await sql<AccountRow[]>`
    select ${accountExists(sql, credential)} as known, state.registered, state.pool,
      case when state.drep in ('abstain', 'no confidence') or representative.kind = 'drep_register' and state.vote_place > representative.place
        then state.drep end as drep,
      coalesce(block.epoch, case when state.changed_height is not null then 0 end) as changed,
      (select sum(lovelace)::text from devnet_index_output where stake = ${credential} and spent_height is null) as held,
      (select sum(amount)::text from devnet_index_reward where credential = ${credential} and paid) as rewards,
      (select sum(amount)::text from devnet_index_withdrawal where credential = ${credential}) as withdrawn,
      (select value->'balance'->>'int' from devnet_entry where kind = 'accounts' and key = ${credential}) as balance
    from (select 1) as always
    left join (${accountStates(sql, sql`credential = ${credential}`)}) state on true
    left join devnet_index_block block on block.height = state.changed_height
    left join lateral (
      select kind, (height, tx_index, cert_index, part) as place from devnet_index_certificate
      where drep = state.drep and kind in ('drep_register', 'drep_deregister')
      order by height desc, tx_index desc, cert_index desc, part desc limit 1) representative on true`;
  if (!row?.known) return undefined;
  const { registered, pool, drep, changed, held, rewards, withdrawn, balance } = row;
  return {
    registered: registered ?? false,
    pool,
    drep,
    changed,
    held: BigInt(held ?? 0),
    rewards: BigInt(rewards ?? 0),
    withdrawn: BigInt(withdrawn ?? 0),
    balance: balance === null ? undefined : BigInt(balance),
  };
}

/** A reward that was paid to an account. */
export interface RewardRow {
  readonly earned: number;
  readonly amount: bigint;
  readonly pool: string;
  readonly kind: string;
}

/** Rewards of an account by the epoch in which they were earned, then by kind and pool. */
export async function readRewards(sql: Queries, credential: string, page: Page): Promise<RewardRow[]> {
  return await sql<RewardRow[]>`
    select earned, amount, pool, kind from devnet_index_reward where credential = ${credential} and paid
    order by earned ${direction(sql, page)}, kind, pool ${limits(sql, page)}`;
}

/** Stake of an account that counts for block production, by epoch. */
export async function readStakeHistory(
  sql: Queries,
  credential: string,
  page: Page,
): Promise<{ epoch: number; pool: string; lovelace: bigint }[]> {
  return await sql<{ epoch: number; pool: string; lovelace: bigint }[]>`
    select epoch, pool, lovelace from devnet_index_stake where credential = ${credential}
    order by epoch ${direction(sql, page)} ${limits(sql, page)}`;
}

/** A delegation of an account. */
export interface DelegationRow extends TransactionPlaceRow {
  /** First epoch in which it counts. */
  readonly epoch: number;
  readonly pool: string;
  /** Lovelace of all outputs of its transaction. */
  readonly output: string;
}

/** Delegations of an account to pools, in the order of the chain. */
export async function readDelegations(sql: Queries, credential: string, page: Page): Promise<DelegationRow[]> {
  const order = direction(sql, page);
  return await sql<DelegationRow[]>`
    select ${placeColumns(sql)}, of.epoch, of.pool,
      (select sum(lovelace)::text from devnet_index_output o where o.tx_hash = of.tx_hash) as output
    from devnet_index_certificate of ${placeJoin(sql)}
    where of.credential = ${credential} and of.kind = 'delegate'
    order by of.height ${order}, of.tx_index ${order}, of.cert_index ${order}, of.part ${order} ${limits(sql, page)}`;
}

/** A registration or deregistration of an account. */
export interface RegistrationRow extends TransactionPlaceRow {
  readonly kind: "register" | "deregister";
  readonly deposit: bigint | null;
}

/** Registrations and deregistrations of an account, in the order of the chain. */
export async function readRegistrations(sql: Queries, credential: string, page: Page): Promise<RegistrationRow[]> {
  const order = direction(sql, page);
  return await sql<RegistrationRow[]>`
    select ${placeColumns(sql)}, of.kind, of.deposit from devnet_index_certificate of ${placeJoin(sql)}
    where of.credential = ${credential} and of.kind in ('register', 'deregister')
    order by of.height ${order}, of.tx_index ${order}, of.cert_index ${order}, of.part ${order} ${limits(sql, page)}`;
}

/** Withdrawals of an account, in the order of the chain. */
export async function readWithdrawals(
  sql: Queries,
  credential: string,
  page: Page,
): Promise<(TransactionPlaceRow & { readonly amount: bigint })[]> {
  const order = direction(sql, page);
  return await sql<(TransactionPlaceRow & { readonly amount: bigint })[]>`
    select ${placeColumns(sql)}, of.amount from devnet_index_withdrawal of ${placeJoin(sql)}
    where of.credential = ${credential} order by of.height ${order}, of.tx_index ${order} ${limits(sql, page)}`;
}

/** Addresses (bytes in hexadecimal) with the stake of an account that ever had an output, in the order of their first one. */
export async function readAccountAddresses(sql: Queries, credential: string, page: Page): Promise<string[]> {
  const order = direction(sql, page);
  const rows = await sql<{ address: string }[]>`
    select address from (
      select distinct on (address) address, height, tx_index, index from devnet_index_output where stake = ${credential}
      order by address, height, tx_index, index) first
    order by height ${order}, tx_index ${order}, index ${order} ${limits(sql, page)}`;
  return rows.map(({ address }) => address);
}

/** A quantity of an asset. */
export interface AssetSum {
  readonly unit: string;
  readonly quantity: string;
}

/** Assets in the unspent outputs of an account, by the first (descending: the last) output that holds them. */
export async function readAccountAssets(sql: Queries, credential: string, page: Page): Promise<AssetSum[]> {
  const order = direction(sql, page);
  const outermost = page.order === "desc" ? sql`max` : sql`min`;
  return await sql<AssetSum[]>`
    select unit, sum(quantity)::text as quantity
    from devnet_index_output o join devnet_index_asset a using (tx_hash, index)
    where o.stake = ${credential} and o.spent_height is null
    group by unit order by ${outermost}(array[o.height, o.tx_index, o.index]) ${order}, unit ${limits(sql, page)}`;
}

/** What all addresses of an account received and sent. */
export interface AccountTotals {
  readonly received: readonly AssetSum[];
  readonly sent: readonly AssetSum[];
  readonly transactions: number;
}

/** Sums over all outputs of an account, spent ones included: lovelace, then assets by unit. */
export async function readAccountTotals(sql: Queries, credential: string): Promise<AccountTotals> {
  const [row] = await sql<{
    received: string | null;
    sent: string | null;
    transactions: bigint;
    assets: { unit: string; received: string; sent: string | null }[];
  }[]>`
    with outputs as materialized (
      select tx_hash, index, lovelace, spent_tx from devnet_index_output where stake = ${credential})
    select (select sum(lovelace)::text from outputs) as received,
      (select sum(lovelace)::text from outputs where spent_tx is not null) as sent,
      (select count(*) from (
        select tx_hash from outputs union select spent_tx from outputs where spent_tx is not null) of) as transactions,
      (select coalesce(json_agg(json_build_object('unit', unit, 'received', received, 'sent', sent) order by unit), '[]') from (
        select unit, sum(quantity)::text as received, (sum(quantity) filter (where spent_tx is not null))::text as sent
        from outputs join devnet_index_asset using (tx_hash, index) group by unit) of) as assets`;
  const { received = null, sent = null, transactions = 0n, assets = [] } = row ?? {};
  return {
    received: [
      { unit: "lovelace", quantity: received ?? "0" },
      ...assets.map(({ unit, received: quantity }) => ({ unit, quantity })),
    ],
    sent: [
      { unit: "lovelace", quantity: sent ?? "0" },
      ...assets.flatMap(({ unit, sent: quantity }) => quantity === null ? [] : [{ unit, quantity }]),
    ],
    transactions: Number(transactions),
  };
}

/** A transaction that an address of an account takes part in. */
export interface AccountTransactionRow extends TransactionPlaceRow {
  readonly address: string;
  readonly tx_index: number;
}

/** Transactions of an account in the order of the chain, one row for each of its addresses. */
export async function readAccountTransactions(
  sql: Queries,
  credential: string,
  range: PlaceRange,
  page: Page,
): Promise<AccountTransactionRow[]> {
  const order = direction(sql, page);
  return await sql<AccountTransactionRow[]>`
    select ${placeColumns(sql)}, of.address, of.tx_index from (
      select address, height, tx_index, tx_hash from devnet_index_address where stake = ${credential}
      union all
      select address, height, tx_index, tx_hash from devnet_index_output where stake = ${credential} and height = -1
    ) of ${placeJoin(sql)} where ${within(sql, "of", range)}
    order by of.height ${order}, of.tx_index ${order}, of.address ${limits(sql, page)}`;
}
