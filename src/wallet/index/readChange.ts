/** Where change goes. */
import { HARD } from "#src/cardano/derivation.ts";
import type { Queries } from "#src/store/store.ts";
import { ownAddress, pathOf, type WalletFacts } from "#src/wallet/index/owners.ts";
import type { WalletAddress } from "#src/wallet/index/types.ts";

const CHANGE = 1;

/**
 * Addresses for change: unused ones in the order of their indices, those that pending transactions pay (`taken`, bytes in hexadecimal) only
 * where there are no others. At least one where the wallet has any at all; of a random wallet, whose new addresses only its root key
 * makes, one that it has.
 */
export async function readChange(
  sql: Queries,
  facts: WalletFacts,
  taken: ReadonlySet<string>,
  count: number,
): Promise<readonly WalletAddress[]> {
  const known = facts.kind === "random"
    ? await randomAddresses(sql, facts, count + taken.size)
    : await unusedChange(sql, facts, count + taken.size);
  const free = known.filter(({ address }) => !taken.has(address));
  return [...free, ...known.filter(({ address }) => taken.has(address))].slice(0, count);
}

async function unusedChange(sql: Queries, facts: WalletFacts, limit: number): Promise<WalletAddress[]> {
  const { wallet } = facts;
  const rows = await sql<{ index: bigint; credential: string }[]>`
    select a.index, a.credential from wallet_address a
      join wallet_pool p on p.wallet = a.wallet and p.role = a.role and p.to_slot is null
    where a.wallet = ${wallet} and a.role = ${CHANGE} and a.index < p.size
      and not exists (select 1 from wallet_use u where u.wallet = a.wallet and u.role = a.role and u.index = a.index)
    order by a.index limit ${limit}`;
  return rows.map(({ index, credential }) => ({
    address: ownAddress(facts, credential),
    path: pathOf(facts, CHANGE, index),
    used: false,
  }));
}

/** Unused ones first; only those with hard paths, for no other can be signed for. */
async function randomAddresses(sql: Queries, facts: WalletFacts, limit: number): Promise<WalletAddress[]> {
  const rows = await sql<{ role: bigint; index: bigint; address: string; used: boolean }[]>`
    select role, index, max(address) as address, bool_or(used) as used from (
      select role, index, address, false as used from wallet_address where wallet = ${facts.wallet}
      union all select role, index, address, true from wallet_use where wallet = ${facts.wallet}) a
    where role >= ${HARD} and index >= ${HARD}
    group by role, index order by used, role, index limit ${limit}`;
  return rows.map(({ role, index, address, used }) => ({ address, path: pathOf(facts, role, index), used }));
}
