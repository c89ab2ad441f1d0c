/** Ranked stake pools, the source of their metadata, and the state of that source. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import * as api from "#src/wallets/api/pools.ts";
import { page } from "#src/wallets/api/wallets.ts";
import { type Epochs, epochsOf } from "#src/cardano/epochs.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { poolText } from "#src/wallets/http/delegationView.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import { pageOf } from "#src/http/paging.ts";
import { answered } from "#src/wallets/http/status.ts";
import { epochStartView, timeText } from "#src/wallets/http/times.ts";
import { collect, readCollection } from "#src/wallets/pools/keeper.ts";
import { type RankedPool, rankedPools } from "#src/wallets/pools/list.ts";
import { smashHealth } from "#src/wallets/pools/metadata.ts";
import { readProduction } from "#src/wallets/pools/production.ts";
import { type PoolAnnotations, readPoolAnnotations } from "#src/wallets/pools/read.ts";
import { isServer, parseSource, readSource, writeSource } from "#src/wallets/pools/source.ts";

const away = { 501: "`query_unsupported`", 503: "`network_unreachable`" };

/** Adds `/stake-pools`, `/settings` and `/smash/health`. */
export function poolRoutes(app: OpenAPIHono, service: WalletService): void {
  const { store, port, book, outside, log } = service;
  let known: { readonly epoch: number; readonly pools: number } | undefined;
  /** The desired number of pools: protocol parameters change only with an epoch. */
  const desired = async (epoch: number): Promise<number> => {
    if (known?.epoch !== epoch) {
      known = { epoch, pools: answered(await port.parameters()).value.desiredPools };
    }
    return known.pools;
  };

  route(app, "get", "/stake-pools", {
    operation: "listStakePools",
    summary: "Stake pools, sorted by expected rewards for the given stake, highest first",
    query: { ...api.stakePoolsQuery, ...page },
    answer: api.stakePool.array(),
    refusals: { 400: "`query_param_missing`, `bad_request`", ...away },
  }, async ({ query: { stake, ...paged }, context }) => {
    if (stake === undefined) throw stakeMissing();
    const [{ at }, eras] = await Promise.all([readCursor(store.sql), service.eras()]);
    const epochs = epochsOf(eras);
    const desiredPools = await desired(epochs.of(at.slot));
    const [list, lore, produced] = await Promise.all([
      rankedPools(book, stake, { epoch: epochs.of(at.slot), desiredPools }),
      readPoolAnnotations(store.sql),
      readProduction(store.sql),
    ]);
    return pageOf(context, paged, answered(list), ({ pool }) => pool.pool, "other").map((one) =>
      poolView(one, lore, produced.get(one.pool.pool) ?? 0n, epochs)
    );
  });

  route(app, "get", "/stake-pools/maintenance-actions", {
    operation: "getMaintenanceActions",
    summary: "Status of the garbage collection of pool metadata",
    answer: api.maintenance,
  }, async () => {
    const collection = await readCollection(store);
    const last_run = collection.status === "has_run" ? timeText(collection.at.getTime()) : undefined;
    return { gc_stake_pools: { status: collection.status, last_run } };
  });

  route(app, "post", "/stake-pools/maintenance-actions", {
    operation: "postMaintenanceAction",
    summary: "Delete the metadata of retired and delisted pools",
    body: api.maintenanceBody,
    status: 204,
  }, () => collect({ store, book, fetch: outside, log }));

  route(app, "get", "/settings", {
    operation: "getSettings",
    summary: "Settings of the service",
    answer: api.settings,
  }, async () => ({ pool_metadata_source: await readSource(store.sql) }));

  route(app, "put", "/settings", {
    operation: "putSettings",
    summary: "Set the source of pool metadata; metadata from the previous source is deleted",
    body: api.settingsBody,
    status: 204,
  }, async ({ body: { settings } }) => {
    if (!settings) return;
    const source = parseSource(settings.pool_metadata_source);
    if (source === undefined) throw new TypeError("a source of pool metadata has passed its schema and is invalid");
    await writeSource(store, source);
  });

  route(app, "get", "/smash/health", {
    operation: "getCurrentSmashHealth",
    summary: "Health of a SMASH server",
    query: api.smashQuery,
    answer: api.smashHealth,
  }, async ({ query: { url } }) => {
    const server = url ?? await readSource(store.sql);
    return { health: isServer(server) ? await smashHealth(server, outside) : "no_smash_configured" };
  });
}

const stakeMissing = () =>
  new HttpFailure(
    400,
    "query_param_missing",
    "The stake intended to delegate must be provided as a query parameter as it affects the rewards and ranking.",
  );

const percentOf = ({ numerator, denominator }: Ratio) =>
  denominator === 0n ? 0 : Number(numerator * 1_000_000_000_000n / denominator) / 1e10;

/** A pool as the API shows it. */
function poolView(
  { pool, rewards, relativeStake, saturation }: RankedPool,
  { metadata, delisted }: PoolAnnotations,
  produced: bigint,
  epochs: Epochs,
): z.infer<typeof api.stakePool> {
  const lore = pool.metadata && metadata.get(`${pool.pool} ${pool.metadata.hash}`);
  return {
    id: poolText(pool.pool),
    metrics: {
      non_myopic_member_rewards: lovelace(rewards),
      relative_stake: { quantity: relativeStake, unit: "percent" },
      saturation,
      produced_blocks: { quantity: produced, unit: "block" },
    },
    cost: lovelace(pool.cost),
    margin: { quantity: percentOf(pool.margin), unit: "percent" },
    pledge: lovelace(pool.pledge),
    metadata: lore,
    retirement: pool.retiring === undefined ? undefined : epochStartView(epochs, pool.retiring),
    flags: delisted.has(pool.pool) ? ["delisted"] : [],
  };
}

const lovelace = (quantity: bigint) => ({ quantity, unit: "lovelace" as const });
