/**
 * The next unused receiving address of a wallet, and reservations of such addresses.
 *
 * Assumptions: an address is unused while no block and no known pending transaction pays it. A reservation is a row:
 * callers that reserve at the same time get different addresses, also from several processes, and it survives restarts.
 * Only addresses within the pool are given, because the wallet does not notice payments beyond it.
 */
import { created, type ScannedTransaction } from "#src/cardano/block.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";
import { credentialOf } from "#src/wallets/index/credential.ts";
import { ownAddress, pathOf, readFacts, type WalletFacts } from "#src/wallets/index/owners.ts";
import type { WalletAddress } from "#src/wallets/index/types.ts";
import { paidBySeen } from "#src/wallets/seen/rows.ts";

/** A reserved address. */
export interface ReservedAddress extends WalletAddress {
  readonly until: Date;
}

/** How an address is reserved. */
export interface Reservation {
  /** By the database's clock. */
  readonly seconds: number;
  /** The caller's name for it: the same name gives the same address until the reservation ends. */
  readonly reference?: string | undefined;
}

interface FreeRow {
  readonly role: bigint;
  readonly index: bigint;
  readonly credential: string;
  readonly address: string | null;
}

/** The unused address with the lowest index that is not reserved; undefined where the pool has none. */
export async function readNextUnused(
  sql: Queries,
  wallet: string,
  pending: readonly ScannedTransaction[],
): Promise<WalletAddress | undefined> {
  const facts = (await readFacts(sql, [wallet])).get(wallet);
  const row = facts && await freeRow(sql, facts, pending);
  return row && shown(facts, row);
}

/** Reserves that address, in the transaction of `sql`. */
export async function reserveNextUnused(
  sql: Queries,
  wallet: string,
  pending: readonly ScannedTransaction[],
  { seconds, reference: name }: Reservation,
): Promise<ReservedAddress | undefined> {
  const reference = name ?? null;
  // one reservation of a wallet after the other
  await sql`select 1 from wallet_index where wallet = ${wallet} for no key update`;
  await sql`delete from wallet_reserved where wallet = ${wallet} and until <= now()`;
  const facts = (await readFacts(sql, [wallet])).get(wallet);
  if (!facts) return undefined;
  const [known] = reference === null ? [] : await sql<(FreeRow & { until: Date; used: boolean })[]>`
    select a.role, a.index, a.credential, a.address, r.until, u.index is not null as used
    from wallet_reserved r join wallet_address a using (wallet, role, index)
      left join wallet_use u on u.wallet = a.wallet and u.role = a.role and u.index = a.index and u.credential = a.credential
    where r.wallet = ${wallet} and r.reference = ${reference}`;
  if (known) return { ...shown(facts, known), used: known.used, until: known.until };
  const row = await freeRow(sql, facts, pending);
  if (!row) return undefined;
  const { until } = await onlyRow(sql<{ until: Date }[]>`
    insert into wallet_reserved (wallet, role, index, until, reference)
    values (${wallet}, ${row.role}, ${row.index}, now() + ${seconds}::float8 * interval '1 second', ${reference})
    returning until`);
  return { ...shown(facts, row), until };
}

const shown = (facts: WalletFacts, { role, index, credential, address }: FreeRow): WalletAddress => ({
  address: address ?? ownAddress(facts, credential),
  path: pathOf(facts, role, index),
  used: false,
});

/** Of a random wallet only addresses that it made with its root key: any other may be forged. */
async function freeRow(
  sql: Queries,
  { wallet, kind }: WalletFacts,
  pending: readonly ScannedTransaction[],
): Promise<FreeRow | undefined> {
  const paid = [
    ...pending.flatMap(created).map(({ output }) => output.address),
    ...await paidBySeen(sql, wallet),
  ];
  const taken = sql.array([...new Set(paid.flatMap((address) => credentialOf(address) ?? []))]);
  const within = kind === "random" ? sql`a.made` : sql`a.role = 0 and a.index < (
        select size from wallet_pool p where p.wallet = ${wallet} and p.role = 0 and p.to_slot is null)`;
  const [row] = await sql<FreeRow[]>`
    select a.role, a.index, a.credential, a.address from wallet_address a
    where a.wallet = ${wallet} and ${within} and a.credential <> all(${taken}::text[])
      and (select u.index from wallet_use u where u.wallet = a.wallet and u.role = a.role and u.index = a.index limit 1) is null
      and (select r.index from wallet_reserved r
        where r.wallet = a.wallet and r.role = a.role and r.index = a.index and r.until > now()) is null
    order by a.role, a.index limit 1`;
  return row;
}
