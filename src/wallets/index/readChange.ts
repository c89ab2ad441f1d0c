/** Change addresses. */
import { elementAt } from "#src/base/present.ts";
import type { Queries } from "#src/store/store.ts";
import { ownAddress, pathOf, readClaims, readFacts, type WalletFacts } from "#src/wallets/index/owners.ts";
import type { WalletAddress } from "#src/wallets/index/types.ts";

const CHANGE = 1;

/**
 * Those of some addresses (bytes in hexadecimal) that are the wallet's, with their paths. Of a random wallet only those
 * that it made with its root key: any other may be forged.
 */
export async function readOwnAddresses(
  sql: Queries,
  wallet: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const facts = await readFacts(sql, [wallet]);
  const own = facts.get(wallet);
  if (own?.kind !== "random") return (await readClaims(sql, facts, addresses)).get(wallet) ?? new Map();
  const made = await sql<{ address: string; role: bigint; index: bigint }[]>`
    select address, role, index from wallet_address
    where wallet = ${wallet} and address = any(${sql.array([...new Set(addresses)])}::text[]) and made`;
  return new Map(made.map(({ address, role, index }) => [address, pathOf(own, role, index)]));
}

/**
 * Change addresses: unused ones by index, those that pending transactions pay (`taken`, bytes in hexadecimal) last; or
 * the one at index 0, for wallets with a single change address.
 *
 * A random wallet uses the addresses that it made with its root key, in turn: no others can be made here, and an
 * address found on the chain may be forged (`forged.ts`), so that change sent there would be lost. An estimate may use
 * one found on the chain.
 */
export async function readChange(
  sql: Queries,
  facts: WalletFacts,
  taken: ReadonlySet<string>,
  { change: wanted, estimate }: { readonly change: number | "first"; readonly estimate?: boolean },
): Promise<readonly WalletAddress[]> {
  const change = wanted === "first" ? 1 : wanted;
  if (facts.kind === "random") {
    const made = await madeChange(sql, facts, change);
    const known = made.length === 0 && estimate ? await foundChange(sql, facts) : made;
    return known.length === 0 ? [] : Array.from({ length: change }, (_, i) => elementAt(known, i % known.length));
  }
  if (wanted === "first") return await firstChange(sql, facts);
  const known = await unusedChange(sql, facts, change + taken.size);
  const free = known.filter(({ address }) => !taken.has(address));
  return [...free, ...known.filter(({ address }) => taken.has(address))].slice(0, change);
}

async function firstChange(sql: Queries, facts: WalletFacts): Promise<WalletAddress[]> {
  const rows = await sql<{ credential: string; used: boolean }[]>`
    select a.credential, u.index is not null as used from wallet_address a
      left join wallet_use u on u.wallet = a.wallet and u.role = a.role and u.index = a.index
    where a.wallet = ${facts.wallet} and a.role = ${CHANGE} and a.index = 0`;
  return rows.map(({ credential, used }) => ({
    address: ownAddress(facts, credential),
    path: pathOf(facts, CHANGE, 0n),
    used,
  }));
}

async function unusedChange(sql: Queries, facts: WalletFacts, limit: number): Promise<WalletAddress[]> {
  const { wallet } = facts;
  const rows = await sql<{ index: bigint; credential: string }[]>`
    select a.index, a.credential from wallet_address a
      join wallet_pool p on p.wallet = a.wallet and p.role = a.role and p.to_slot is null
    where a.wallet = ${wallet} and a.role = ${CHANGE} and a.index < p.size
      and (select u.index from wallet_use u where u.wallet = a.wallet and u.role = a.role and u.index = a.index) is null
    order by a.index limit ${limit}`;
  return rows.map(({ index, credential }) => ({
    address: ownAddress(facts, credential),
    path: pathOf(facts, CHANGE, index),
    used: false,
  }));
}

async function madeChange(sql: Queries, facts: WalletFacts, limit: number): Promise<WalletAddress[]> {
  const rows = await sql<{ role: bigint; index: bigint; address: string; used: boolean }[]>`
    select a.role, a.index, a.address, u.index is not null as used from wallet_address a
      left join wallet_use u on u.wallet = a.wallet and u.role = a.role and u.index = a.index and u.credential = a.credential
    where a.wallet = ${facts.wallet} and a.made order by used, a.role, a.index limit ${limit}`;
  return rows.map(({ role, index, address, used }) => ({ address, path: pathOf(facts, role, index), used }));
}

async function foundChange(sql: Queries, facts: WalletFacts): Promise<WalletAddress[]> {
  const rows = await sql<{ role: bigint; index: bigint; address: string }[]>`
    select role, index, address from wallet_use where wallet = ${facts.wallet} order by role, index limit 1`;
  return rows.map(({ role, index, address }) => ({ address, path: pathOf(facts, role, index), used: true }));
}
