/** Owners of addresses, and the paths of their keys. */
import { fromHex } from "#src/base/bytes.ts";
import { parseJson } from "#src/base/json.ts";
import { addTo, mustGet } from "#src/base/maps.ts";
import { type Credential, type NetworkId, readAddressHex } from "#src/cardano/address.ts";
import { byronAddressOf } from "#src/cardano/byron.ts";
import { parsePath } from "#src/cardano/keys/derivation.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import { addressOf, CREDENTIAL_KINDS, credentialOf, parseCredential } from "#src/wallets/index/credential.ts";
import { hasByronAddresses, type OwnedCredential, type Owner, type WalletKind } from "#src/wallets/index/types.ts";
import { icarusAccountOf } from "#src/cardano/keys/icarusAccount.ts";
import { openByronPath } from "#src/cardano/keys/byronAddress.ts";

/** What reads need of a wallet. */
export interface WalletFacts {
  readonly wallet: string;
  readonly kind: WalletKind;
  readonly network: NetworkId;
  /** Path of the account; empty for a random wallet. */
  readonly prefix: readonly number[];
  readonly stake: Credential | undefined;
  readonly pathKey: Uint8Array | undefined;
  /** Protocol magic in its addresses, for an icarus wallet; absent on mainnet. */
  readonly magic?: number;
}

/** Facts about wallets; those that are not in the index are missing. */
export async function readFacts(sql: Queries, wallets: readonly string[]): Promise<ReadonlyMap<string, WalletFacts>> {
  const rows = await sql<
    {
      wallet: string;
      kind: WalletKind;
      network: NetworkId;
      prefix: string;
      stake: string | null;
      path_key: string | null;
      icarus: string | null;
    }[]
  >`select wallet, kind, network, prefix, stake, path_key, case when kind = 'icarus' then account end as icarus
    from wallet_index where wallet = any(${sql.array([...wallets])})`;
  return new Map(rows.map((row) => [row.wallet, {
    wallet: row.wallet,
    kind: row.kind,
    network: row.network,
    prefix: parsePath(row.prefix) ?? [],
    stake: row.stake === null ? undefined : parseCredential(row.stake),
    pathKey: row.path_key === null ? undefined : fromHex(row.path_key),
    ...(row.icarus === null ? {} : icarusAccountOf(parseJson(row.icarus)).byron),
  }]));
}

/** Path of the key at a role and an index. */
export function pathOf(facts: WalletFacts, role: bigint | number, index: bigint | number): readonly number[] {
  return [...facts.prefix, Number(role), Number(index)];
}

/**
 * The address of a wallet's credential, bytes in hexadecimal.
 *
 * @throws TypeError for a credential of a random wallet: its address cannot be computed.
 */
export function ownAddress(facts: WalletFacts, credential: OwnedCredential): string {
  if (facts.kind === "icarus") {
    return byronAddressOf(fromHex(credential.slice(`${CREDENTIAL_KINDS.icarus}-`.length)), { magic: facts.magic });
  }
  const payment = parseCredential(credential);
  if (!payment) throw new TypeError(`no address follows from ${credential}`);
  return addressOf(payment, facts.stake, facts.network);
}

/**
 * Which credentials of a wallet count. `pool`: those that the chain is read for. `stock`: also those that are derived
 * already. A rollback shortens a pool, and transactions that were built before it pay change beyond its end: they are
 * pending again, and extend it once more when blocks hold them.
 */
type Reach = "pool" | "stock";

/** The wallets, where given among `wallets`, that own credentials (`credentialOf`) within their pools. */
export async function ownersOf(
  sql: Queries,
  credentials: readonly OwnedCredential[],
  wallets?: readonly string[],
  reach: Reach = "pool",
): Promise<ReadonlyMap<OwnedCredential, readonly Owner[]>> {
  const found = new Map<OwnedCredential, Owner[]>();
  if (credentials.length === 0) return found;
  const wanted = sql.array([...new Set(credentials)]);
  const among = wallets === undefined ? sql`` : sql`and a.wallet = any(${sql.array([...wallets])})`;
  const within = reach === "stock" ? sql`true` : sql`(a.address is not null or a.index < p.size)`;
  // addresses that are stored whole belong to a random wallet, which has no pools
  const rows = await sql<{ wallet: string; prefix: string; role: bigint; index: bigint; credential: string }[]>`
    select a.wallet, i.prefix, a.role, a.index, a.credential from unnest(${wanted}::text[]) c(wanted)
      cross join lateral (select * from wallet_address where credential = c.wanted offset 0) a
      join wallet_index i using (wallet)
      left join lateral (
        select size from wallet_pool where wallet = a.wallet and role = a.role and to_slot is null limit 1) p on true
      where ${within} ${among}
    union
    select a.wallet, i.prefix, a.role, a.index, a.credential from unnest(${wanted}::text[]) c(wanted)
      cross join lateral (select * from wallet_use where credential = c.wanted and address is not null offset 0) a
      join wallet_index i using (wallet) where true ${among}
    order by wallet`;
  for (const { wallet, prefix, role, index, credential } of rows) {
    addTo(found, credential, { wallet, path: [...parsePath(prefix) ?? [], Number(role), Number(index)] });
  }
  return found;
}

/** Paths of each wallet's own among addresses (bytes in hexadecimal), also of ones that are not on the chain yet. */
export async function readClaims(
  sql: Queries,
  wallets: ReadonlyMap<string, WalletFacts>,
  addresses: readonly string[],
  reach: Reach = "pool",
): Promise<ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>> {
  const claims = new Map<string, Map<string, readonly number[]>>([...wallets.keys()].map((id) => [id, new Map()]));
  const byCredential = new Map<OwnedCredential, string[]>();
  for (const address of new Set(addresses)) {
    const credential = credentialOf(address);
    if (credential === undefined) continue;
    addTo(byCredential, credential, address);
    for (const { wallet, pathKey } of wallets.values()) {
      const path = pathKey && openAddress(address, pathKey);
      if (path) mustGet(claims, wallet).set(address, path);
    }
  }
  const owners = await ownersOf(sql, [...byCredential.keys()], [...wallets.keys()], reach);
  for (const [credential, found] of owners) {
    for (const { wallet, path } of found) {
      for (const address of mustGet(byCredential, credential)) mustGet(claims, wallet).set(address, path);
    }
  }
  return claims;
}

/**
 * A wallet's own among addresses (SQL with one column of bytes in hexadecimal). None of a wallet with Byron addresses:
 * they may be forged (`forged.ts`), which is checked once a block has them.
 */
export async function readPaid(sql: Queries, facts: WalletFacts, addresses: Fragment): Promise<readonly string[]> {
  if (hasByronAddresses(facts.kind)) return [];
  // as `credentialOf`: the first digit is the type, odd where a script owns the output
  const rows = await sql<{ address: string }[]>`
    select p.address from (${addresses}) p(address) join wallet_address a on a.wallet = ${facts.wallet} and a.credential =
      case when p.address ~ '^[1357]' then 'script-' else 'key-' end || substr(p.address, 3, 56)
    where p.address ~ '^[0-7]'`;
  const claims = await readClaims(sql, new Map([[facts.wallet, facts]]), rows.map(({ address }) => address));
  return [...mustGet(claims, facts.wallet).keys()];
}

function openAddress(address: string, pathKey: Uint8Array): readonly number[] | undefined {
  const read = readAddressHex(address);
  if (!read.ok || read.value.kind !== "byron") return undefined;
  const { derivationPath } = read.value.byron;
  return derivationPath === undefined ? undefined : openByronPath(pathKey, derivationPath);
}
