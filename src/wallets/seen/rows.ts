/**
 * Rows of payments that stand in the mempool, and the events of their wallets.
 *
 * A row begins with the event SEEN and ends with WITHDRAWN, or without an event when a block holds the transaction: then
 * the index has the wallet's event TRANSACTION. A rollback deletes the rows of the transactions that it undoes, so that
 * one that returns to the mempool is seen again. The functions that write run in a transaction that locks the main
 * cursor; `current` is the table of the wallets that the main cursor reads.
 */
import { parseJson, toJson } from "#src/base/json.ts";
import { parseAddress } from "#src/cardano/address.ts";
import type { Tip } from "#src/cardano/block.ts";
import type { Rows, Touched } from "#src/chain/index/projection.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import { entityKind, incarnationOf } from "#src/wallets/index/fold.ts";
import type { SeenPayment } from "#src/wallets/seen/payments.ts";

/** The table of current wallets, with a column `member`. */
type Current = (sql: Queries) => Fragment;

/** A payment that stands in the mempool: what a wallet's event names it by. */
export interface SeenKey {
  readonly wallet: string;
  readonly hash: string;
}

/** A payment that stands in the mempool, as far as its watch needs it. */
export interface OpenPayment extends SeenKey {
  /** Consecutive reads of the mempool that lack it. */
  readonly absent: number;
}

/** All payments that were seen and have not ended. */
export async function readOpen(sql: Queries): Promise<OpenPayment[]> {
  return await sql<OpenPayment[]>`select wallet, hash, absent from wallet_seen`;
}

/**
 * Writes payments that are not known yet and that no block holds; gives the events of their wallets. `at` is the main
 * cursor.
 */
export async function writeSeen(
  sql: Queries,
  payments: readonly SeenPayment[],
  at: Tip,
  current: Current,
): Promise<Touched[]> {
  const column = <T>(of: (payment: SeenPayment) => T) => payments.map(of);
  const rows = await sql<{ wallet: string; hash: string; kind: string; life: number | null }[]>`
    with given as (
      select * from unnest(${column((one) => one.wallet)}::text[], ${column((one) => one.hash)}::text[],
        ${column((one) => one.direction)}::text[], ${column((one) => String(one.amount))}::text[],
        ${column((one) => assetsText(one.assets))}::text[], ${column((one) => toJson(one.addresses))}::text[],
        ${column((one) => one.cut ? 1 : 0)}::int[], ${column((one) => toJson(one.inputs))}::text[],
        ${column((one) => one.validTo === undefined ? null : String(one.validTo))}::bigint[])
        with ordinality as g(wallet, hash, direction, amount, assets, addresses, cut, inputs, valid_to, place)
    ), kept as (
      insert into wallet_seen (wallet, hash, direction, amount, assets, addresses, cut, inputs, valid_to, slot, height)
      select wallet, hash, direction, amount, assets, array(select json_array_elements_text(addresses::json)), cut = 1,
        array(select json_array_elements_text(inputs::json)), valid_to, ${at.slot}, ${at.height}
      from given g
      where wallet in ${current(sql)} and not exists (
        select 1 from wallet_transaction t where t.wallet = g.wallet and t.hash = g.hash and t.to_slot is null)
      order by place on conflict do nothing returning wallet, hash
    )
    select kept.wallet, kept.hash, i.kind, i.life from kept join given using (wallet, hash) join wallet_index i using (wallet)
    order by place`;
  const byKey = new Map(payments.map((one) => [`${one.wallet} ${one.hash}`, one]));
  return rows.flatMap((row) => {
    const payment = byKey.get(`${row.wallet} ${row.hash}`);
    return payment ? [{ entity: entityOf(row), event: seenEvent(payment, at, incarnationOf(row)) }] : [];
  });
}

const entityOf = ({ wallet, kind }: { readonly wallet: string; readonly kind: string }) => ({
  kind: entityKind(kind),
  id: wallet,
});

const assetsOf = (assets: SeenPayment["assets"]) => Object.fromEntries([...assets].map(([id, n]) => [id, String(n)]));
const assetsText = (assets: SeenPayment["assets"]) => toJson(assetsOf(assets));

function seenEvent(payment: SeenPayment, at: Tip, life: { readonly life?: number }): Touched["event"] {
  const { hash, direction, amount, assets, addresses, cut, validTo } = payment;
  return {
    type: "SEEN",
    hash,
    direction,
    amount: String(amount),
    assets: assetsOf(assets),
    addresses: [...addresses],
    ...(cut ? { cut } : {}),
    ...(validTo === undefined ? {} : { validTo }),
    at: { slot: at.slot, height: at.height },
    ...life,
  };
}

/** Notes that payments are in the mempool again. */
export async function writeReturned(sql: Queries, hashes: readonly string[]): Promise<void> {
  await sql`update wallet_seen set absent = 0 where hash = any(${sql.array([...hashes])}) and absent > 0`;
}

/** Deletes the payments, of these transactions, that a block holds. */
export async function deleteIncluded(sql: Queries, hashes: readonly string[]): Promise<void> {
  await sql`delete from wallet_seen s using wallet_transaction t
    where s.hash = any(${sql.array([...hashes])}) and t.wallet = s.wallet and t.hash = s.hash and t.to_slot is null`;
}

/** A payment that a read of the mempool lacks, and no block holds. */
export interface AbsentPayment extends SeenKey {
  readonly validTo: number | undefined;
  readonly absent: number;
}

/** Counts a read that lacks transactions; gives their payments. */
export async function countAbsence(
  sql: Queries,
  hashes: readonly string[],
  current: Current,
): Promise<AbsentPayment[]> {
  const rows = await sql<{ wallet: string; hash: string; valid_to: bigint | null; absent: number; n: bigint }[]>`
    update wallet_seen set absent = absent + 1 where hash = any(${sql.array([...hashes])}) and wallet in ${current(sql)}
    returning wallet, hash, valid_to, absent, n`;
  return rows.sort((a, b) => Number(a.n - b.n)).map(({ valid_to: validTo, ...row }) => ({
    wallet: row.wallet,
    hash: row.hash,
    absent: row.absent,
    validTo: validTo === null ? undefined : Number(validTo),
  }));
}

/** What transactions spend (`refKey`), by hash. */
export async function readInputs(sql: Queries, hashes: readonly string[]): Promise<Map<string, readonly string[]>> {
  const rows = await sql<{ hash: string; inputs: string[] }[]>`
    select distinct on (hash) hash, inputs from wallet_seen where hash = any(${sql.array([...hashes])})`;
  return new Map(rows.map(({ hash, inputs }) => [hash, inputs]));
}

/**
 * Why a payment left the mempool without a block. `expired`: its last slot has passed. `conflict`: an input is gone.
 * `failed`: its script failed, so a block holds it without its outputs. `left`: none of these is known.
 */
export type WithdrawalReason = "expired" | "conflict" | "failed" | "left";

/** Deletes payments that left the mempool; gives the events of their wallets. */
export async function withdraw(
  sql: Queries,
  payments: readonly (SeenKey & { readonly reason: WithdrawalReason })[],
): Promise<Touched[]> {
  const rows = await sql<{ wallet: string; hash: string; kind: string; life: number | null }[]>`
    with gone as (
      delete from wallet_seen s using unnest(${payments.map(({ wallet }) => wallet)}::text[],
        ${payments.map(({ hash }) => hash)}::text[]) g(wallet, hash)
      where s.wallet = g.wallet and s.hash = g.hash returning s.wallet, s.hash)
    select gone.wallet, gone.hash, i.kind, i.life from gone join wallet_index i using (wallet)`;
  const found = new Map(rows.map((row) => [`${row.wallet} ${row.hash}`, row]));
  return payments.flatMap(({ wallet, hash, reason }) => {
    const row = found.get(`${wallet} ${hash}`);
    return row ? [{ entity: entityOf(row), event: { type: "WITHDRAWN", hash, reason, ...incarnationOf(row) } }] : [];
  });
}

/** Deletes, in the transaction of a rollback to a slot, the payments of the transactions that it undoes. */
export async function undoSeen(sql: Queries, slot: number, affected: Rows): Promise<void> {
  const undone = (affected.get("wallet_transaction") ?? []).filter((row) => Number(row.from_slot) > slot);
  if (undone.length === 0) return;
  await sql`delete from wallet_seen s using unnest(${undone.map((row) => String(row.wallet))}::text[],
    ${undone.map((row) => String(row.hash))}::text[]) u(wallet, hash) where s.wallet = u.wallet and s.hash = u.hash`;
}

/** A payment in the mempool, as the API lists it. */
export interface ListedPayment {
  /** Its place in the list. */
  readonly n: number;
  readonly hash: string;
  readonly direction: "incoming" | "outgoing";
  readonly amount: bigint;
  readonly assets: readonly (readonly [string, bigint])[];
  readonly addresses: readonly string[];
  readonly cut: boolean;
  readonly validTo: number | undefined;
  readonly at: { readonly slot: number; readonly height: number };
}

/** A wallet's payments that stand in the mempool and in no block, oldest first. */
export async function readSeen(
  sql: Queries,
  wallet: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ListedPayment[]> {
  const rows = await sql<
    {
      n: bigint;
      hash: string;
      direction: "incoming" | "outgoing";
      amount: string;
      assets: string;
      addresses: string[];
      cut: boolean;
      valid_to: bigint | null;
      slot: bigint;
      height: bigint;
    }[]
  >`select * from wallet_seen s where wallet = ${wallet} and n > ${after} and not exists (
      select 1 from wallet_transaction t where t.wallet = s.wallet and t.hash = s.hash and t.to_slot is null)
    order by n limit ${limit}`;
  return rows.map(({ n, hash, direction, amount, assets, addresses, cut, valid_to: validTo, slot, height }) => ({
    n: Number(n),
    hash,
    direction,
    amount: BigInt(amount),
    assets: Object.entries(parseJson(assets) as Record<string, string>).map(([id, q]) => [id, BigInt(q)] as const),
    addresses,
    cut,
    validTo: validTo === null ? undefined : Number(validTo),
    at: { slot: Number(slot), height: Number(height) },
  }));
}

/** Addresses of a wallet that payments in the mempool pay, bytes in hexadecimal. */
export async function paidBySeen(sql: Queries, wallet: string): Promise<readonly string[]> {
  const rows = await sql<{ addresses: string[] }[]>`select addresses from wallet_seen where wallet = ${wallet}`;
  return rows.flatMap(({ addresses }) => addresses).flatMap((text) => {
    const address = parseAddress(text);
    return address.ok ? [address.value.hex] : [];
  });
}

/** Slot of the last block that extended an address pool; -1 if there is none. */
export async function readLastExtension(sql: Queries): Promise<number> {
  const [row] = await sql<{ slot: bigint | null }[]>`select max(from_slot) as slot from wallet_pool`;
  return Number(row?.slot ?? -1n);
}
