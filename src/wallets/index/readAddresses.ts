/** Reads and stores the addresses of wallets. */
import { mustGet } from "#src/base/maps.ts";
import { created, type ScannedTransaction } from "#src/cardano/block.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";
import { credentialOf } from "#src/wallets/index/credential.ts";
import { ownAddress, pathOf, readClaims, readFacts, type WalletFacts } from "#src/wallets/index/owners.ts";
import type { WalletAddress } from "#src/wallets/index/types.ts";

export { ownersOf } from "#src/wallets/index/owners.ts";

interface AddressQuery {
  readonly state?: "used" | "unused" | undefined;
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly after?: AddressCursor | undefined;
  /** Pending transactions of the wallet: the change addresses that they pay are listed too, as unused. */
  readonly pending?: readonly ScannedTransaction[] | undefined;
}

interface AddressCursor {
  readonly role: number;
  readonly index: number;
}

interface AddressPage {
  readonly addresses: readonly WalletAddress[];
  /** `after` of the next page, where there is one. */
  readonly next?: AddressCursor;
}

interface AddressRow {
  readonly role: bigint;
  readonly index: bigint;
  readonly credential: string;
  readonly address: string | null;
  readonly used: boolean;
}

/** Role of change addresses. */
const CHANGE = 1;

/** Position before the first page. */
const START: AddressCursor = { role: -1, index: -1 };

/**
 * Addresses of a wallet in the order of the API: receiving addresses of the pool by index, then change addresses that
 * are used or that pending transactions pay.
 * A random wallet has all that it made, imported or found on the chain, by path.
 */
export async function readAddresses(sql: Queries, wallet: string, query: AddressQuery): Promise<AddressPage> {
  const facts = (await readFacts(sql, [wallet])).get(wallet);
  if (!facts) return { addresses: [] };
  const limit = query.limit ?? Number.MAX_SAFE_INTEGER - 1;
  const after = query.after ?? START;
  // one more than requested shows whether there is a next page
  const rows = facts.kind === "random"
    ? await randomRows(sql, wallet, query.state, after, limit + 1)
    : await sequentialRows(sql, facts, query, after, limit + 1);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    addresses: page.map((row) => addressOfRow(facts, row)),
    ...(rows.length > limit && last ? { next: { role: Number(last.role), index: Number(last.index) } } : {}),
  };
}

function addressOfRow(facts: WalletFacts, { role, index, credential, address, used }: AddressRow): WalletAddress {
  return { address: address ?? ownAddress(facts, credential), path: pathOf(facts, role, index), used };
}

async function sequentialRows(
  sql: Queries,
  facts: WalletFacts,
  { state, pending = [] }: AddressQuery,
  after: AddressCursor,
  limit: number,
): Promise<AddressRow[]> {
  const { wallet } = facts;
  const from = after.role === CHANGE ? after.index : -1;
  const [rows, used, paid] = await Promise.all([
    after.role > 0 ? [] : externalRows(sql, wallet, state, after.role === 0 ? after.index : -1, limit),
    state === "unused" ? [] : sql<AddressRow[]>`
      select role, index, credential, null as address, true as used from wallet_use
      where wallet = ${wallet} and role = ${CHANGE} and index > ${from}
      order by index limit ${limit}`,
    state === "used" || pending.length === 0 ? [] : pendingChange(sql, facts, pending, from),
  ]);
  const change = [...used, ...paid].sort((a, b) => a.index < b.index ? -1 : 1);
  return [...rows, ...change].slice(0, limit);
}

/** Change addresses that pending transactions pay and that are not used yet, from the index after `from` on. */
async function pendingChange(
  sql: Queries,
  facts: WalletFacts,
  pending: readonly ScannedTransaction[],
  from: number,
): Promise<AddressRow[]> {
  const { wallet } = facts;
  const paid = pending.flatMap(created).map(({ output }) => output.address);
  const claims = mustGet(await readClaims(sql, new Map([[wallet, facts]]), paid), wallet);
  const indices = [...claims.values()].flatMap((path) => path.at(-2) === CHANGE ? [path.at(-1)] : []);
  if (indices.length === 0) return [];
  return await sql<AddressRow[]>`
    select role, index, credential, null as address, false as used from wallet_address a
    where wallet = ${wallet} and role = ${CHANGE} and index = any(${sql.array(indices)}::bigint[]) and index > ${from}
      and not exists (
        select 1 from wallet_use u where u.wallet = a.wallet and u.role = a.role and u.index = a.index)`;
}

/**
 * Each address's use is looked up by itself: a join of two tables that have just been filled was seen to compare all
 * with all.
 */
async function externalRows(
  sql: Queries,
  wallet: string,
  state: AddressQuery["state"],
  after: number,
  limit: number,
): Promise<AddressRow[]> {
  const used = sql`coalesce(
    (select true from wallet_use u where u.wallet = a.wallet and u.role = a.role and u.index = a.index), false)`;
  const among = state === undefined ? sql`` : sql`and ${used} = ${state === "used"}`;
  return await sql<AddressRow[]>`
    select a.role, a.index, a.credential, null as address, ${used} as used from wallet_address a
    where a.wallet = ${wallet} and a.role = 0 and a.index > ${after}
      and a.index < (select size from wallet_pool p where p.wallet = ${wallet} and p.role = 0 and p.to_slot is null) ${among}
    order by a.index limit ${limit}`;
}

async function randomRows(
  sql: Queries,
  wallet: string,
  state: AddressQuery["state"],
  after: AddressCursor,
  limit: number,
): Promise<AddressRow[]> {
  const among = state === undefined ? sql`` : sql`having bool_or(seen) = ${state === "used"}`;
  return await sql<AddressRow[]>`
    select role, index, '' as credential, bool_or(seen) as used,
      coalesce(max(address) filter (where made), max(address) filter (where seen), max(address)) as address from (
      select role, index, address, made, false as seen from wallet_address where wallet = ${wallet}
      union all select role, index, address, false, true from wallet_use where wallet = ${wallet}) a
    where (role, index) > (${after.role}::bigint, ${after.index}::bigint)
      and not exists (select 1 from wallet_forged f where f.wallet = ${wallet} and f.address = a.address)
    group by role, index ${among} order by role, index limit ${limit}`;
}

/**
 * Stores addresses of a random wallet (hardened indices, address in hexadecimal). `made`: created with its root key, so
 * that change may go there; imported ones may be forged. Gives those that were not known before.
 */
export async function storeRandomAddresses(
  sql: Queries,
  wallet: string,
  addresses: readonly { readonly account: number; readonly index: number; readonly address: string }[],
  made: boolean,
): Promise<readonly string[]> {
  const rows = addresses.map(({ account, index, address }) => ({
    role: account,
    index,
    address,
    credential: credentialOf(address) ?? "",
  }));
  const kept = await sql<{ address: string }[]>`
    insert into wallet_address as a (wallet, role, index, credential, address, made)
    select distinct on (x.role, x.index) ${wallet}, x.role, x.index, x.credential, x.address, ${made}
    from jsonb_to_recordset(${sql.json(rows)}) as x (role bigint, index bigint, credential text, address text)
    where not exists (select 1 from wallet_use u where u.wallet = ${wallet} and u.credential = x.credential)
    on conflict (wallet, role, index) do update
      set credential = excluded.credential, address = excluded.address, made = true
      where excluded.made and a.address <> excluded.address
    returning address`;
  const fresh = new Set(kept.map(({ address }) => address));
  return addresses.map(({ address }) => address).filter((address) => fresh.has(address));
}

/** Number of addresses that a random wallet made with its root key. */
export async function countOwnAddresses(sql: Queries, wallet: string): Promise<number> {
  const row = await onlyRow(sql<
    { made: number }[]
  >`select count(*)::int as made from wallet_address where wallet = ${wallet} and made`);
  return row.made;
}
