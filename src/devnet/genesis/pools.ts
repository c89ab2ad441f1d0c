/**
 * Stake pools that a devnet begins with: their keys, their registrations as the ledger reads them, and their metadata (CIP-6).
 *
 * Each has one owner, whose lovelace is the pledge and who delegates it to the pool, so that it makes blocks and earns from the start.
 */
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { baseAddress, rewardAddress } from "#src/cardano/address.ts";
import { encode, Tagged } from "#src/cardano/cbor.ts";
import { blake2b256, hash256 } from "#src/cardano/hash.ts";
import { keyHash, newSeed, publicKey, type SigningKey } from "#src/cardano/keys.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import { type Account, credentialKey, type Pool } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

/** Most pools of a genesis. */
export const MOST_POOLS = 100;

const NAMES = ["Oak", "Ash", "Elm", "Yew", "Fir", "Pine", "Lime", "Alder", "Rowan", "Beech"];

/** A pool of the genesis. */
export interface GenesisPool {
  /** Hash of its cold key, in hexadecimal. */
  readonly id: string;
  readonly coldSeed: SigningKey;
  /** The owner's stake key and payment key. */
  readonly ownerSeed: SigningKey;
  readonly paymentSeed: SigningKey;
  /** The text of its metadata, of which the registration has the hash; undefined where it has none. */
  readonly metadata: string | undefined;
}

/** A pool of the genesis as the ledger knows it from the beginning. */
export interface RegisteredPool {
  readonly id: string;
  readonly pool: Pool;
  /** The owner's account: its key in tables, its row, and where the pledge stands (bytes of the address in hexadecimal). */
  readonly owner: { readonly key: string; readonly account: Account; readonly address: string };
  readonly terms: {
    readonly vrf: string;
    readonly cost: bigint;
    readonly margin: Ratio;
    readonly rewardAccount: string;
    readonly ownerHash: string;
    readonly metadata: { readonly url: string; readonly hash: string } | undefined;
  };
}

/** What its registrations depend on besides keys. */
export interface PoolSettings {
  readonly network: 0 | 1;
  readonly parameters: Parameters;
  /** Lovelace of each pledge. */
  readonly pledge: bigint;
  /** Where the devnet serves metadata, without a slash at the end; undefined: registrations have none. */
  readonly url: string | undefined;
}

/** New keys, names and tickers for some pools of a devnet that serves their metadata at `url`. */
export function newPools(count: number, url: string | undefined): GenesisPool[] {
  return Array.from({ length: count }, (_, position) => {
    const coldSeed = newSeed();
    const id = keyHash(publicKey(coldSeed));
    const metadata = url === undefined ? undefined : toJson(metadataOf(position, url));
    return { id, coldSeed, ownerSeed: newSeed(), paymentSeed: newSeed(), metadata };
  });
}

/** CIP-6: a ticker of 3 to 5 characters, a name of 50 at the most, 512 bytes in all. */
function metadataOf(position: number, homepage: string) {
  const name = NAMES[position] ?? `Tree ${position + 1}`;
  return {
    name,
    description: `Pool ${position + 1} of an Arbor devnet`,
    ticker: NAMES[position]?.toUpperCase() ?? `T${String(position + 1).padStart(3, "0")}`,
    homepage,
  };
}

/** The path under which a devnet serves the metadata of a pool. */
export function metadataPath(id: string): string {
  return `/pools/${id}/metadata.json`;
}

/** What the ledger knows of a pool at the beginning; `position` counts from 0 and decides on its margin (1 to 5 %). */
export function registeredPool(pool: GenesisPool, position: number, settings: PoolSettings): RegisteredPool {
  const { network, parameters, pledge, url } = settings;
  const stake = { kind: "key", hash: keyHash(publicKey(pool.ownerSeed)) } as const;
  const payment = { kind: "key", hash: keyHash(publicKey(pool.paymentSeed)) } as const;
  const margin = { numerator: BigInt(position % 5 + 1), denominator: 100n };
  const cost = parameters.minPoolCost;
  // No VRF key makes anything here; each pool states another hash, since from version 11 on no two may state the same.
  const vrf = hash256(utf8(`VRF ${pool.id}`));
  const rewardAccount = rewardAddress(network, stake).hex;
  const metadata = url === undefined || pool.metadata === undefined
    ? undefined
    : { url: url + metadataPath(pool.id), hash: toHex(blake2b256(utf8(pool.metadata))) };
  const certificate = encode([
    3,
    fromHex(pool.id),
    fromHex(vrf),
    pledge,
    cost,
    new Tagged(30, [margin.numerator, margin.denominator]),
    fromHex(rewardAccount),
    new Tagged(258, [fromHex(stake.hash)]),
    [],
    metadata ? [metadata.url, fromHex(metadata.hash)] : null,
  ]);
  return {
    id: pool.id,
    pool: { certificate, deposit: parameters.poolDeposit },
    owner: {
      key: credentialKey(stake),
      account: { deposit: parameters.keyDeposit, balance: 0n, pool: pool.id },
      address: baseAddress(network, payment, stake).hex,
    },
    terms: { vrf, cost, margin, rewardAccount, ownerHash: stake.hash, metadata },
  };
}

interface PoolRow {
  readonly pool: string;
  readonly cold_key: Uint8Array;
  readonly cold_seed: Uint8Array;
  readonly owner_seed: Uint8Array;
  readonly payment_seed: Uint8Array;
  readonly metadata: string | null;
}

/** Keeps the pools of a genesis. */
export async function insertPools(sql: Queries, pools: readonly GenesisPool[]): Promise<void> {
  for (const [position, { id, coldSeed, ownerSeed, paymentSeed, metadata }] of pools.entries()) {
    await sql`
      insert into devnet_pool (pool, cold_key, position, cold_seed, owner_seed, payment_seed, metadata) values (
        ${id}, ${publicKey(coldSeed)}, ${position}, ${coldSeed}, ${ownerSeed}, ${paymentSeed}, ${metadata ?? null})`;
  }
}

/** The pools of the genesis, in order. */
export async function readGenesisPools(sql: Queries): Promise<GenesisPool[]> {
  const rows = await sql<PoolRow[]>`select * from devnet_pool where position is not null order by position`;
  return rows.map((row) => ({
    id: row.pool,
    coldSeed: new Uint8Array(row.cold_seed),
    ownerSeed: new Uint8Array(row.owner_seed),
    paymentSeed: new Uint8Array(row.payment_seed),
    metadata: row.metadata ?? undefined,
  }));
}

/** Cold keys of all pools that are known, by id. */
export async function readColdKeys(sql: Queries): Promise<Map<string, Uint8Array>> {
  const rows = await sql<Pick<PoolRow, "pool" | "cold_key">[]>`select pool, cold_key from devnet_pool`;
  return new Map(rows.map(({ pool, cold_key }) => [pool, new Uint8Array(cold_key)]));
}

/** Keeps cold keys. They are what ids are hashes of, so that no rollback needs to take one back. */
export async function insertColdKeys(sql: Queries, keys: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const [pool, key] of keys) {
    await sql`insert into devnet_pool (pool, cold_key) values (${pool}, ${key}) on conflict do nothing`;
  }
}
