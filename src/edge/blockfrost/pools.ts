/** Operations of the group Pools. Votes of pools are not kept by a devnet, so the list of them is empty. */
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { isObject, parseJson } from "#src/base/json.ts";
import { addressText, type NetworkId, readAddressHex } from "#src/cardano/address.ts";
import { type PoolParameters, type Relay, walkCertificate } from "#src/cardano/certificates.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { Walk } from "#src/cardano/walk.ts";
import { readBlockHashes } from "#src/devnet/index/reads/epochs.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import {
  type PoolEpochRow,
  poolExists,
  type PoolFigures,
  type PoolTotals,
  readDelegators,
  readLivePledge,
  readPoolCertificates,
  readPoolFigures,
  readPoolHistory,
  readPoolIds,
  readPoolUpdates,
  readRetirements,
} from "#src/devnet/index/reads/pools.ts";
import { poolId, readPoolId, stakeAddress } from "#src/edge/blockfrost/ids.ts";
import { get, list, type Operation } from "#src/edge/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/edge/blockfrost/service.ts";
import type { Queries } from "#src/store/store.ts";

/** All updates of a pool in one document: more than any pool of a devnet has. */
const EVERY = { limit: 10_000, offset: 0, order: "asc" } as const;

/** The operations. */
export function poolOperations({ devnet, store }: BlockfrostService): Operation[] {
  const { id: network } = devnet.network;
  /** Reads something of a pool; undefined where the chain does not name the pool. */
  const ofPool = <T>(text: string, read: (sql: Queries, pool: string) => Promise<T>): Promise<T | undefined> => {
    const pool = readPoolId(text);
    return atOneState(store, async (sql) => await poolExists(sql, pool) ? await read(sql, pool) : undefined);
  };
  const registrationOf = async (sql: Queries, pool: string) => (await readRegistrations(sql, [pool])).get(pool);
  return [
    list("/pools", "ordered", async (_, { page }) => (await readPoolIds(store.sql, page)).map(poolId)),
    list("/pools/extended", "ordered", (_, { page }) =>
      atOneState(store, async (sql) => {
        const pools = await readPoolIds(sql, page);
        const registrations = await readRegistrations(sql, pools);
        const { figures, totals } = await readPoolFigures(sql, pools);
        return figures.flatMap((one) => {
          const registration = registrations.get(one.pool);
          return registration ? [extendedDocument(one, totals, registration)] : [];
        });
      })),
    ...(["retired", "retiring"] as const).map((which) =>
      list(`/pools/${which}`, "ordered", async (_, { page }) => {
        const rows = await readRetirements(store.sql, which === "retired" ? "past" : "future", page);
        return rows.map(({ pool, epoch }) => ({ pool_id: poolId(pool), epoch }));
      })
    ),
    get("/pools/{pool_id}", ({ pool_id }) =>
      ofPool(pool_id, async (sql, pool) => {
        const registration = await registrationOf(sql, pool);
        const { figures: [figures], totals } = await readPoolFigures(sql, [pool]);
        if (!registration || !figures) return undefined;
        const owners = registration.parameters.owners.map((hash) => `k${hash}`);
        const pledge = await readLivePledge(sql, pool, owners);
        const updates = await readPoolUpdates(sql, pool, EVERY);
        const transactions = (of: string) => updates.filter(({ kind }) => kind === of).map(({ tx_hash }) => tx_hash);
        return {
          ...poolDocument(network, figures, totals, registration, pledge),
          registration: transactions("pool"),
          retirement: transactions("retire"),
          calidus_key: null,
        };
      })),
    list(
      "/pools/{pool_id}/history",
      "ordered",
      ({ pool_id }, { page }) =>
        ofPool(pool_id, async (sql, pool) => (await readPoolHistory(sql, pool, page)).map(historyDocument)),
    ),
    get("/pools/{pool_id}/metadata", ({ pool_id }) =>
      ofPool(pool_id, async (sql, pool) => {
        const metadata = metadataDocument(await registrationOf(sql, pool));
        return metadata ? { pool_id: poolId(pool), hex: pool, ...metadata } : {};
      })),
    get("/pools/{pool_id}/relays", ({ pool_id }) =>
      ofPool(pool_id, async (sql, pool) => {
        const { parameters: { relays = [] } = {} } = await registrationOf(sql, pool) ?? {};
        return relays.map(relayDocument);
      })),
    list(
      "/pools/{pool_id}/delegators",
      "ordered",
      ({ pool_id }, { page }) =>
        ofPool(
          pool_id,
          async (sql, pool) =>
            (await readDelegators(sql, pool, page)).map(({ credential, lovelace }) => ({
              address: stakeAddress(credential, network),
              live_stake: lovelace,
            })),
        ),
    ),
    list(
      "/pools/{pool_id}/blocks",
      "ordered",
      ({ pool_id }, { page }) => ofPool(pool_id, (sql, pool) => readBlockHashes(sql, { pool }, page)),
    ),
    list(
      "/pools/{pool_id}/updates",
      "ordered",
      ({ pool_id }, { page }) =>
        ofPool(
          pool_id,
          async (sql, pool) =>
            (await readPoolUpdates(sql, pool, page)).map(({ tx_hash, cert_index, kind }) => ({
              tx_hash,
              cert_index,
              action: kind === "pool" ? "registered" : "deregistered",
            })),
        ),
    ),
    list("/pools/{pool_id}/votes", "ordered", ({ pool_id }) => ofPool(pool_id, async () => [])),
  ];
}

/** The last registration of a pool, and the text of its metadata where it is known. */
interface Registration {
  readonly parameters: PoolParameters;
  readonly metadataText: string | undefined;
}

async function readRegistrations(sql: Queries, pools: readonly string[]): Promise<Map<string, Registration>> {
  const rows = await readPoolCertificates(sql, pools);
  return new Map(rows.map(({ pool, cbor, metadata }) => {
    const parameters = parametersOf(cbor);
    // a later registration may name another document
    const isNamed = metadata !== null && hash256(utf8(metadata)) === parameters.metadata?.hash;
    return [pool, { parameters, metadataText: isNamed ? metadata : undefined }];
  }));
}

function parametersOf(cbor: Uint8Array): PoolParameters {
  const certificate = walkCertificate(new Walk(cbor));
  if (certificate.kind !== "register pool") throw new Error("the index has a pool with another certificate");
  return certificate;
}

const decimal = ({ numerator, denominator }: Ratio) => Number(numerator) / Number(denominator);

/** A part of a whole; 0 of nothing. */
const part = (of: bigint, whole: bigint) => (whole === 0n ? 0 : Number(of) / Number(whole));

/** The share of the stake with which a pool earns most. */
const saturation = ({ liveStake }: PoolFigures, { circulation, desiredPools }: PoolTotals) =>
  part(liveStake * BigInt(desiredPools), circulation);

function extendedDocument(figures: PoolFigures, totals: PoolTotals, registration: Registration): object {
  const { parameters: { pledge, margin, cost } } = registration;
  return {
    pool_id: poolId(figures.pool),
    hex: figures.pool,
    active_stake: String(figures.activeStake),
    live_stake: String(figures.liveStake),
    live_saturation: saturation(figures, totals),
    blocks_minted: figures.blocks,
    declared_pledge: String(pledge),
    margin_cost: decimal(margin),
    fixed_cost: String(cost),
    metadata: metadataDocument(registration) ?? null,
  };
}

function poolDocument(
  network: NetworkId,
  figures: PoolFigures,
  totals: PoolTotals,
  { parameters: { vrf, pledge, margin, cost, account, owners } }: Registration,
  livePledge: bigint,
): object {
  const rewards = readAddressHex(account);
  return {
    pool_id: poolId(figures.pool),
    hex: figures.pool,
    vrf_key: vrf,
    blocks_minted: figures.blocks,
    blocks_epoch: figures.blocksInEpoch,
    live_stake: String(figures.liveStake),
    live_size: part(figures.liveStake, totals.liveStake),
    live_saturation: saturation(figures, totals),
    live_delegators: figures.delegators,
    active_stake: String(figures.activeStake),
    active_size: part(figures.activeStake, totals.activeStake),
    declared_pledge: String(pledge),
    live_pledge: String(livePledge),
    margin_cost: decimal(margin),
    fixed_cost: String(cost),
    reward_account: rewards.ok ? addressText(rewards.value) : account,
    owners: owners.map((hash) => stakeAddress(`k${hash}`, network)),
  };
}

/** Members of the document that metadata stand in; undefined where the pool names none. Only the devnet's own are known. */
function metadataDocument(registration: Registration | undefined): object | undefined {
  const anchor = registration?.parameters.metadata;
  if (!anchor) return undefined;
  const json = registration.metadataText === undefined ? undefined : parseJson(registration.metadataText);
  const text = (name: string) => {
    const value = isObject(json) ? json[name] : undefined;
    return typeof value === "string" ? value : null;
  };
  return {
    url: anchor.url,
    hash: anchor.hash,
    ticker: text("ticker"),
    name: text("name"),
    description: text("description"),
    homepage: text("homepage"),
  };
}

/** Blockfrost's schema wants a number for the port of relays that have none: 0. */
function relayDocument(relay: Relay): object {
  const none = { ipv4: null, ipv6: null, dns: null, dns_srv: null, port: 0 };
  switch (relay.kind) {
    case "address":
      return {
        ...none,
        ipv4: relay.ipv4 === undefined ? null : [...fromHex(relay.ipv4)].join("."),
        ipv6: relay.ipv6 === undefined ? null : ipv6Text(relay.ipv6),
        port: relay.port ?? 0,
      };
    case "host":
      return { ...none, dns: relay.name, port: relay.port ?? 0 };
    case "service":
      return { ...none, dns_srv: relay.name };
  }
}

/** An IPv6 address in its shortest form. The ledger keeps it as four words, each with its bytes reversed. */
function ipv6Text(hex: string): string {
  const bytes = fromHex(hex);
  const words = Array.from({ length: 8 }, (_, index) => {
    const at = (place: number) => bytes[(place & ~3) + 3 - (place & 3)] ?? 0;
    return (at(2 * index) * 256 + at(2 * index + 1)).toString(16);
  });
  return new URL(`http://[${words.join(":")}]`).hostname.slice(1, -1);
}

function historyDocument(row: PoolEpochRow): object {
  const rewards = BigInt(row.rewards);
  return {
    epoch: row.epoch,
    blocks: Number(row.blocks),
    active_stake: row.stake,
    active_size: part(BigInt(row.stake), BigInt(row.all_stake)),
    delegators_count: Number(row.delegators),
    rewards: row.rewards,
    fees: String(row.cbor === null ? 0n : operatorFees(rewards, parametersOf(new Uint8Array(row.cbor)))),
  };
}

/** What the operator takes of the rewards: the fixed cost, and the margin of the rest. */
function operatorFees(rewards: bigint, { cost, margin }: PoolParameters): bigint {
  return rewards < cost ? rewards : cost + (rewards - cost) * margin.numerator / margin.denominator;
}
