/** Operations of the group Pools. */
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { readBlockHashes } from "#src/devnet/index/reads/epochs.ts";
import { readVotes } from "#src/devnet/index/reads/governance.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import {
  type PoolEpochRow,
  poolExists,
  type PoolFigures,
  type PoolTotals,
  type PoolUpdateRow,
  readDelegators,
  readLivePledge,
  readPoolCertificates,
  readPoolFigures,
  readPoolHistory,
  readPoolIds,
  readPoolUpdates,
  readRetirements,
} from "#src/devnet/index/reads/pools.ts";
import { textOfAccount, textOfPool } from "#src/devnet/serve/blockfrost/documents.ts";
import { readPoolId } from "#src/devnet/serve/blockfrost/ids.ts";
import { get, list, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import { poolMetadata, relayDocument } from "#src/devnet/serve/blockfrost/poolParts.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { type PoolTerms, poolTerms } from "#src/ledger/poolTerms.ts";
import type { Queries } from "#src/store/store.ts";

/** All updates of a pool in one document: more than any pool of a devnet has. */
const EVERY = { limit: 10_000, offset: 0, order: "asc" } as const;

/** Lists of pools. */
export function poolListOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  return [
    list("/pools", "ordered", async (_, { page }) => (await readPoolIds(store.sql, page)).map(textOfPool)),
    list("/pools/extended", "ordered", (_, { page }) =>
      atOneState(store, async (sql) => {
        const pools = await readPoolIds(sql, page);
        const registrations = await readTerms(sql, pools);
        const { figures, totals } = await readPoolFigures(sql, pools);
        return figures.flatMap((one) => {
          const terms = registrations.get(one.pool);
          return terms ? [extendedDocument(genesis, one, totals, terms)] : [];
        });
      })),
    ...(["retired", "retiring"] as const).map((which) =>
      list(`/pools/${which}`, "ordered", async (_, { page }) => {
        const rows = await readRetirements(store.sql, which === "retired" ? "past" : "future", page);
        return rows.map(({ pool, epoch }) => ({ pool_id: textOfPool(pool), epoch }));
      })
    ),
  ];
}

/** Reads something of a pool; undefined where the chain does not name the pool. */
function ofPool<T>(
  store: BlockfrostService["store"],
  text: string,
  read: (sql: Queries, pool: string) => Promise<T>,
): Promise<T | undefined> {
  const pool = readPoolId(text);
  return atOneState(store, async (sql) => await poolExists(sql, pool) ? await read(sql, pool) : undefined);
}

/** A pool and what belongs to it. */
export function poolOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  const termsOf = async (sql: Queries, pool: string) => (await readTerms(sql, [pool])).get(pool);
  return [
    get("/pools/{pool_id}", ({ pool_id }) =>
      ofPool(store, pool_id, async (sql, pool) => {
        const terms = await termsOf(sql, pool);
        const { figures: [figures], totals } = await readPoolFigures(sql, [pool]);
        if (!terms || !figures) return undefined;
        const owners = terms.owners.map((hash) => `k${hash}`);
        const pledge = await readLivePledge(sql, pool, owners);
        const updates = await readPoolUpdates(sql, pool, EVERY);
        const transactions = (of: string) => updates.filter(({ kind }) => kind === of).map(({ tx_hash }) => tx_hash);
        return {
          ...poolDocument(genesis, figures, totals, terms, pledge),
          registration: transactions("pool"),
          retirement: transactions("retire"),
          calidus_key: null,
        };
      })),
    list(
      "/pools/{pool_id}/history",
      "ordered",
      ({ pool_id }, { page }) =>
        ofPool(store, pool_id, async (sql, pool) => (await readPoolHistory(sql, pool, page)).map(historyDocument)),
    ),
    get("/pools/{pool_id}/metadata", ({ pool_id }) =>
      ofPool(store, pool_id, async (sql, pool) => {
        const { metadata } = await termsOf(sql, pool) ?? {};
        return metadata ? { pool_id: textOfPool(pool), hex: pool, ...poolMetadata(genesis, metadata) } : {};
      })),
    get(
      "/pools/{pool_id}/relays",
      ({ pool_id }) =>
        ofPool(store, pool_id, async (sql, pool) => ((await termsOf(sql, pool))?.relays ?? []).map(relayDocument)),
    ),
    list(
      "/pools/{pool_id}/delegators",
      "ordered",
      ({ pool_id }, { page }) =>
        ofPool(
          store,
          pool_id,
          async (sql, pool) =>
            (await readDelegators(sql, pool, page)).map(({ credential, lovelace }) => ({
              address: textOfAccount(genesis.network.id, credential),
              live_stake: lovelace,
            })),
        ),
    ),
    list(
      "/pools/{pool_id}/blocks",
      "ordered",
      ({ pool_id }, { page }) => ofPool(store, pool_id, (sql, pool) => readBlockHashes(sql, { pool }, page)),
    ),
    list(
      "/pools/{pool_id}/updates",
      "ordered",
      ({ pool_id }, { page }) =>
        ofPool(
          store,
          pool_id,
          async (sql, pool) => (await readPoolUpdates(sql, pool, page)).map(updateDocument),
        ),
    ),
    list("/pools/{pool_id}/votes", "ordered", ({ pool_id }, { page }) =>
      ofPool(
        store,
        pool_id,
        async (sql, pool) =>
          (await readVotes(sql, { role: "pool", voters: [`k${pool}`] }, page))
            .map(({ action_tx, action_index, vote }) => ({ tx_hash: action_tx, cert_index: action_index, vote })),
      )),
  ];
}

/** The last registration of each of some pools. */
async function readTerms(sql: Queries, pools: readonly string[]): Promise<Map<string, PoolTerms>> {
  const rows = await readPoolCertificates(sql, pools);
  return new Map(rows.map(({ pool, cbor }) => [pool, poolTerms(cbor)]));
}

const decimal = ({ numerator, denominator }: Ratio) => Number(numerator) / Number(denominator);

/** A part of a whole; 0 of nothing. */
const part = (of: bigint, whole: bigint) => (whole === 0n ? 0 : Number(of) / Number(whole));

/** The share of the stake with which a pool earns most. */
const saturation = ({ liveStake }: PoolFigures, { circulation, desiredPools }: PoolTotals) =>
  part(liveStake * BigInt(desiredPools), circulation);

function extendedDocument(
  genesis: Genesis,
  figures: PoolFigures,
  totals: PoolTotals,
  { pledge, margin, cost, metadata }: PoolTerms,
): object {
  return {
    pool_id: textOfPool(figures.pool),
    hex: figures.pool,
    active_stake: String(figures.activeStake),
    live_stake: String(figures.liveStake),
    live_saturation: saturation(figures, totals),
    blocks_minted: figures.blocks,
    declared_pledge: String(pledge),
    margin_cost: decimal(margin),
    fixed_cost: String(cost),
    metadata: metadata ? poolMetadata(genesis, metadata) : null,
  };
}

function poolDocument(
  { network: { id: network } }: Genesis,
  figures: PoolFigures,
  totals: PoolTotals,
  { vrf, pledge, margin, cost, account, owners }: PoolTerms,
  livePledge: bigint,
): object {
  return {
    pool_id: textOfPool(figures.pool),
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
    reward_account: addressText(rewardAddress(account.network, account.credential)),
    owners: owners.map((hash) => textOfAccount(network, `k${hash}`)),
  };
}

function updateDocument({ tx_hash, cert_index, kind }: PoolUpdateRow): object {
  return { tx_hash, cert_index, action: kind === "pool" ? "registered" : "deregistered" };
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
    fees: String(row.cbor === null ? 0n : operatorFees(rewards, poolTerms(new Uint8Array(row.cbor)))),
  };
}

/** What the operator takes of the rewards: the fixed cost, and the margin of the rest. */
function operatorFees(rewards: bigint, { cost, margin }: PoolTerms): bigint {
  return rewards < cost ? rewards : cost + (rewards - cost) * margin.numerator / margin.denominator;
}
