/**
 * Spending limits: the lovelace that signatures of a wallet's keys may let out of it in 24 hours, by the chain's time.
 *
 * Assumptions: the signature releases the money, so it is what counts: every signed transaction is a row, written under
 * a lock of the limit before the signature leaves the process. Whether a row counts follows from the index alone, so
 * that rollbacks and restarts change nothing: one in the ledger counts for 24 hours, any other as long as a block can
 * still include it.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { readMemberPositions } from "#src/chain/index/groups.ts";
import { readSubmitted } from "#src/chain/pending/submissions.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Queries, Store } from "#src/store/store.ts";
import { readAccount } from "#src/wallets/delegation/read.ts";
import { readOwnAddresses } from "#src/wallets/index/readChange.ts";
import { readCoins } from "#src/wallets/index/readCoins.ts";
import { WALLET_PROJECTION } from "#src/wallets/index/types.ts";

const DAY_MS = 86_400_000;

/** What limits are applied with. */
export interface SpendingServices {
  readonly store: Pick<Store, "sql">;
  readonly port: Pick<ChainPort, "network">;
  readonly networkId: 0 | 1;
}

/** The chain's time for a wallet: the slot up to which it is read, and the slots of 24 hours. */
export interface SpendingTime {
  readonly slot: number;
  readonly day: number;
}

/** A signed transaction and the lovelace that it lets out of the wallet. */
export interface Spend {
  readonly hash: string;
  readonly amount: bigint;
  readonly validTo: number | undefined;
}

/** A limit, and what counts towards it; lovelace. */
export interface SpendingState {
  readonly perDay: bigint;
  readonly spent: bigint;
}

export type LimitExceeded = Failure<"spending_limit_exceeded">;

/** What belongs to a wallet, of a transaction. */
export interface OwnParts {
  /** Lovelace of its outputs among the inputs and the collateral, by `refKey`. */
  readonly coins: ReadonlyMap<string, bigint>;
  /** Its addresses among the outputs, bytes in hexadecimal. */
  readonly addresses: ReadonlySet<string>;
  /** Its reward address. */
  readonly account?: string | undefined;
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

/**
 * Lovelace that a transaction lets out of a wallet: to others, as fee and as deposit; never negative. Where its scripts
 * may fail, at least the collateral that the wallet then loses.
 */
export function outflow(transaction: ScannedTransaction, { coins, addresses, account }: OwnParts): bigint {
  const sumOf = (refs: ScannedTransaction["inputs"]) =>
    refs.reduce((sum, ref) => sum + (coins.get(refKey(ref)) ?? 0n), 0n);
  const ownOf = (outputs: ScannedTransaction["outputs"]) =>
    outputs.reduce((sum, { address, value }) => addresses.has(address) ? sum + value.lovelace : sum, 0n);
  const { inputs, outputs, collateral, collateralReturn, withdrawals } = transaction;
  const rewards = account === undefined ? 0n : withdrawals.get(account) ?? 0n;
  const net = sumOf(inputs) + rewards - ownOf(outputs);
  const lost = sumOf(collateral) - ownOf(collateralReturn ? [collateralReturn] : []);
  return [net, lost, 0n].reduce((most, one) => one > most ? one : most);
}

/** The limit of a wallet and what counts towards it; undefined where there is none. */
export async function readSpending(
  sql: Queries,
  wallet: string,
  time: SpendingTime,
): Promise<SpendingState | undefined> {
  const [row] = await sql<{ per_day: string; spent: string }[]>`
    select per_day, (${spentQuery(sql, wallet, time, [])}) as spent from wallet_limit where wallet = ${wallet}`;
  return row && { perDay: BigInt(row.per_day), spent: BigInt(row.spent) };
}

/** Whether a wallet has a limit. */
export async function hasLimit(sql: Queries, wallet: string): Promise<boolean> {
  return (await sql`select 1 from wallet_limit where wallet = ${wallet}`).length > 0;
}

/** Sets the limit of a wallet that exists; what was signed under an earlier one still counts. */
export async function setLimit(sql: Queries, wallet: string, perDay: bigint): Promise<boolean> {
  const rows = await sql`
    insert into wallet_limit (wallet, per_day) select id, ${
    String(perDay)
  }::numeric from wallet where id = ${wallet} for key share
    on conflict (wallet) do update set per_day = excluded.per_day returning 1`;
  return rows.length > 0;
}

/** Removes the limit of a wallet, and the account of what was spent. */
export async function clearLimit(sql: Queries, wallet: string): Promise<void> {
  await sql`delete from wallet_limit where wallet = ${wallet}`;
  await sql`delete from wallet_spend where wallet = ${wallet}`;
}

/**
 * Counts transactions, all or none, where they stay within the limit; a transaction that was counted before is not
 * counted again. Runs in a transaction of its own: its lock orders the wallet's signatures.
 */
export async function reserveSpends(
  sql: Queries,
  wallet: string,
  spends: readonly Spend[],
  time: SpendingTime,
): Promise<Result<null, LimitExceeded>> {
  const [limit] = await sql<{ per_day: string }[]>`
    select per_day from wallet_limit where wallet = ${wallet} for no key update`;
  if (!limit) return ok(null);
  const hashes = spends.map(({ hash }) => hash);
  const { spent } = await onlyRow(sql<{ spent: string }[]>`${spentQuery(sql, wallet, time, hashes)}`);
  const wanted = spends.reduce((sum, { amount }) => sum + amount, 0n);
  const [perDay, before] = [BigInt(limit.per_day), BigInt(spent)];
  if (wanted > 0n && before + wanted > perDay) return exceeded(perDay, before, wanted);
  // no block includes what ended two days ago, and what it included then counts no longer
  await sql`delete from wallet_spend where wallet = ${wallet} and valid_to <= ${time.slot - 2 * time.day}`;
  await sql`insert into wallet_spend (wallet, hash, amount, valid_to)
    select ${wallet}, * from unnest(${sql.array(hashes)}::text[], ${
    sql.array(spends.map(({ amount }) => String(amount)))
  }::numeric[], ${sql.array(spends.map(({ validTo }) => validTo === undefined ? null : String(validTo)))}::bigint[])
    on conflict (wallet, hash) do update set amount = excluded.amount`;
  return ok(null);
}

/** Removes a signed transaction that the network refused and that never left the service. */
export async function releaseSpend(sql: Queries, wallet: string, hash: string): Promise<void> {
  await sql`delete from wallet_spend where wallet = ${wallet} and hash = ${hash}`;
}

/** The sum of what counts, without some transactions. */
function spentQuery(sql: Queries, wallet: string, { slot, day }: SpendingTime, without: readonly string[]): Fragment {
  return sql`select coalesce(sum(s.amount), 0) as spent from wallet_spend s
    left join wallet_transaction t on t.wallet = s.wallet and t.hash = s.hash and t.to_slot is null
    where s.wallet = ${wallet} and s.hash <> all(${sql.array([...without])}::text[])
      and case when t.hash is null then s.valid_to is null or s.valid_to > ${slot} else t.from_slot > ${
    slot - day
  } end`;
}

function exceeded(perDay: bigint, spent: bigint, wanted: bigint) {
  const lovelace = (quantity: bigint) => ({ quantity, unit: "lovelace" as const });
  return fail(
    "spending_limit_exceeded",
    `The wallet may spend ${perDay} lovelace in 24 hours, of which ${spent} are spent or signed for; this needs ${wanted}.`,
    { per_day: lovelace(perDay), spent: lovelace(spent), requested: lovelace(wanted) },
  );
}
