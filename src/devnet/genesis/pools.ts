/**
 * Stake pools of a devnet's genesis: their keys, their registrations as the ledger has them, and their metadata
 * (CIP-6).
 *
 * Each has one owner, whose lovelace is the pledge and is delegated to the pool, so it produces blocks and earns from
 * the start. That of Yaci DevKit has a delegator in place of the owner; its cold key is not known, so the key in its
 * blocks is another one, whose hash is not the pool's id.
 */
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { baseAddress, rewardAddress } from "#src/cardano/address.ts";
import { encode, Tagged } from "#src/cardano/cbor.ts";
import { blake2b256, hash256 } from "#src/cardano/hash.ts";
import { keyHash, newSeed, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import { type Account, credentialKey, type Pool } from "#src/ledger/state.ts";
import { DEVKIT_POOL, type Likeness } from "#src/devnet/genesis/yaciDevkit.ts";
import type { Queries } from "#src/store/store.ts";

/** Pools of a genesis at most. */
export const MOST_POOLS = 100;

const NAMES = ["Oak", "Ash", "Elm", "Yew", "Fir", "Pine", "Lime", "Alder", "Rowan", "Beech"];

/** A pool of the genesis. */
export interface GenesisPool {
  /** Hash of its cold key, in hexadecimal. */
  readonly id: string;
  /** The key whose public part is the issuer of its blocks: the cold key, where that is known. */
  readonly coldSeed: SigningKey;
  /** The owner's stake key and payment key; unused where the genesis is like another network's. */
  readonly ownerSeed: SigningKey;
  readonly paymentSeed: SigningKey;
  /** The text of its metadata, whose hash is in the registration; undefined: none. */
  readonly metadata: string | undefined;
}

/** A pool of the genesis in the initial ledger state. */
export interface RegisteredPool {
  readonly id: string;
  readonly pool: Pool;
  /** The owner's or the delegator's account: its key in tables, its row, and the address of the stake (hexadecimal). */
  readonly owner: { readonly key: string; readonly account: Account; readonly address: string };
  readonly terms: {
    readonly vrf: string;
    /** Lovelace. */
    readonly pledge: bigint;
    readonly cost: bigint;
    readonly margin: Ratio;
    /** Hash of the key of its reward account. */
    readonly rewardKey: string;
    /** Hashes of stake keys. */
    readonly owners: readonly string[];
    readonly metadata: { readonly url: string; readonly hash: string } | undefined;
  };
}

/** Settings of pool registrations. */
interface PoolSettings {
  readonly network: 0 | 1;
  readonly parameters: Parameters;
  /** Lovelace of each pledge. */
  readonly pledge: bigint;
  /** URL of the metadata, without a slash at the end; undefined: none. */
  readonly url: string | undefined;
  /** The network whose pool is the first one. */
  readonly like?: Likeness | undefined;
}

/** Pools with new keys, names and tickers, for a devnet that serves their metadata at `url`. */
export function newPools(count: number, url: string | undefined, like?: Likeness): GenesisPool[] {
  return Array.from({ length: count }, (_, position) => {
    const coldSeed = newSeed();
    const seeds = { coldSeed, ownerSeed: newSeed(), paymentSeed: newSeed() };
    if (like !== undefined && position === 0) return { id: DEVKIT_POOL.id, ...seeds, metadata: undefined };
    const id = keyHash(publicKey(coldSeed));
    const metadata = url === undefined ? undefined : toJson(metadataOf(position, url));
    return { id, ...seeds, metadata };
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

/** The path of a pool's metadata on a devnet. */
export function metadataPath(id: string): string {
  return `/pools/${id}/metadata.json`;
}

/** A pool in the initial ledger state; `position` counts from 0 and determines its margin (1 to 5 %). */
export function registeredPool(pool: GenesisPool, position: number, settings: PoolSettings): RegisteredPool {
  const { network, parameters, like } = settings;
  const { payment, stake, terms } = like !== undefined && position === 0
    ? devkitPool()
    : ownPool(pool, position, settings);
  const { vrf, pledge, cost, margin, rewardKey, owners, metadata } = terms;
  const certificate = encode([
    3,
    fromHex(pool.id),
    fromHex(vrf),
    pledge,
    cost,
    new Tagged(30, [margin.numerator, margin.denominator]),
    fromHex(rewardAddress(network, { kind: "key", hash: rewardKey }).hex),
    new Tagged(258, owners.map(fromHex)),
    [],
    metadata ? [metadata.url, fromHex(metadata.hash)] : null,
  ]);
  const credential = { kind: "key", hash: stake } as const;
  return {
    id: pool.id,
    pool: { certificate, deposit: parameters.poolDeposit },
    owner: {
      key: credentialKey(credential),
      account: { deposit: parameters.keyDeposit, balance: 0n, pool: pool.id },
      address: baseAddress(network, { kind: "key", hash: payment }, credential).hex,
    },
    terms,
  };
}

/** What determines a registration: the keys of the address with the stake, by hash, and the terms. */
interface PoolPlan {
  readonly payment: string;
  readonly stake: string;
  readonly terms: RegisteredPool["terms"];
}

function ownPool(pool: GenesisPool, position: number, { parameters, pledge, url }: PoolSettings): PoolPlan {
  const stake = keyHash(publicKey(pool.ownerSeed));
  const metadata = url === undefined || pool.metadata === undefined
    ? undefined
    : { url: url + metadataPath(pool.id), hash: toHex(blake2b256(utf8(pool.metadata))) };
  return {
    payment: keyHash(publicKey(pool.paymentSeed)),
    stake,
    terms: {
      // VRF keys are not used here; each pool states another hash, because from version 11 on no two pools may state the
      // same
      vrf: hash256(utf8(`VRF ${pool.id}`)),
      pledge,
      cost: parameters.minPoolCost,
      margin: { numerator: BigInt(position % 5 + 1), denominator: 100n },
      rewardKey: stake,
      owners: [stake],
      metadata,
    },
  };
}

function devkitPool(): PoolPlan {
  const { vrf, cost, rewardKey, delegator: { payment, stake } } = DEVKIT_POOL;
  const margin = { numerator: 0n, denominator: 1n };
  return { payment, stake, terms: { vrf, pledge: 0n, cost, margin, rewardKey, owners: [], metadata: undefined } };
}

interface PoolRow {
  readonly pool: string;
  readonly cold_key: Uint8Array;
  readonly cold_seed: Uint8Array;
  readonly owner_seed: Uint8Array;
  readonly payment_seed: Uint8Array;
  readonly metadata: string | null;
}

/** Stores the pools of a genesis. */
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

/** Cold keys of all known pools, by id. */
export async function readColdKeys(sql: Queries): Promise<Map<string, Uint8Array>> {
  const rows = await sql<Pick<PoolRow, "pool" | "cold_key">[]>`select pool, cold_key from devnet_pool`;
  return new Map(rows.map(({ pool, cold_key }) => [pool, new Uint8Array(cold_key)]));
}

/** Stores cold keys. Ids are hashes of them, so no rollback has to remove one. */
export async function insertColdKeys(sql: Queries, keys: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const [pool, key] of keys) {
    await sql`insert into devnet_pool (pool, cold_key) values (${pool}, ${key}) on conflict do nothing`;
  }
}
