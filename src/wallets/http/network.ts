/** The network as the wallet service shows it. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { epochTimes, ERAS, eraStart, slotAt } from "#src/cardano/eras.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { eraCache } from "#src/chain/provider/eraCache.ts";
import * as api from "#src/wallets/api/network.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { cacheFor } from "#src/http/responseCache.ts";
import { route } from "#src/wallets/http/route.ts";
import type { WalletEdgeOptions } from "#src/wallets/http/options.ts";
import { syncState } from "#src/wallets/walletStatus.ts";
import { answered } from "#src/wallets/http/status.ts";
import { blockView, epochAfter, epochView, slotView, timeText } from "#src/wallets/http/times.ts";

/**
 * How long an answer about the tip is cached, in milliseconds: within that time no block is missed that matters to a
 * client.
 */
const TIP_MS = 50;

type ReadEras = ReturnType<typeof eraCache>;

const away = { 503: "`network_unreachable`" };

/** Adds `/network/…` and `/blocks/latest/header`. */
export function networkRoutes(app: OpenAPIHono, options: WalletEdgeOptions): void {
  const { store, port, ntp } = options;
  const readEras = eraCache(port);
  informationRoute(app, options, readEras);
  parameterRoute(app, port, readEras);

  route(app, "get", "/network/clock", {
    operation: "getNetworkClock",
    summary: "Status of the clock",
    description:
      "`available`: `offset` is what must be added to the clock of this machine, on which most of the NTP servers agree. " +
      "`pending`: they were asked and have not answered yet. `unavailable`: none is configured (`--ntp-servers`), or too " +
      "few of them answer and agree. Results are kept for 30 minutes.",
    query: api.clockQuery,
    answer: api.networkClock,
  }, async ({ query }) => {
    const status = await ntp.status({ force: query.forceNtpCheck ?? false });
    return status.status === "available"
      ? { status: status.status, offset: { quantity: status.offset, unit: "microsecond" } }
      : status;
  });

  route(app, "get", "/blocks/latest/header", {
    operation: "getBlocksLatestHeader",
    summary: "The last block that this service has processed",
    answer: api.blockHeader,
    refusals: { 404: "`block_header_not_found`: no block has been processed yet" },
  }, async () => {
    const { at } = await readCursor(store.sql);
    if (at.slot < 0) throw new HttpFailure(404, "block_header_not_found", "No block has been processed yet.");
    return {
      header_hash: at.hash,
      slot_no: { quantity: at.slot, unit: "slot" },
      block_height: { quantity: at.height, unit: "block" },
    };
  });
}

function informationRoute(app: OpenAPIHono, options: WalletEdgeOptions, readEras: ReadEras): void {
  const { store, port, networkMagic, toleranceS, clocked, clock } = options;

  route(app, "get", "/network/information", {
    operation: "getNetworkInformation",
    cache: cacheFor(TIP_MS),
    summary: "Status of the network and progress of this service",
    answer: api.networkInformation,
    refusals: away,
  }, async () => {
    const [{ at, networkTip }, network] = await Promise.all([readCursor(store.sql), port.network()]);
    const eras = answered(await readEras(Math.max(at.slot, networkTip.slot)));
    const { slots, slotsAhead = 0 } = network;
    const now = slotAt(eras, clock.now());
    const tip = blockView(eras, at);
    const epoch = epochTimes(eras, tip.epoch_number);
    return {
      sync_progress: syncState(at, networkTip.slot, { slots, slotsAhead, toleranceS, clocked, clock }),
      node_tip: tip,
      network_tip: now.ok ? slotView(eras, now.value + slotsAhead) : undefined,
      next_epoch: epoch.ok ? epochAfter(epoch.value) : undefined,
      node_era: eras.current.toLowerCase(),
      network_info: {
        protocol_magic: networkMagic,
        network_id: networkMagic === MAINNET_MAGIC ? "mainnet" : "testnet",
      },
      wallet_mode: "node",
    };
  });
}

function parameterRoute(app: OpenAPIHono, port: WalletEdgeOptions["port"], readEras: ReadEras): void {
  const parameters = async (epoch: string | undefined) => {
    const [eras, genesis, now] = await Promise.all([readEras(), port.genesis(), port.parameters()]);
    const [how, first, { value }] = [answered(eras), answered(genesis), answered(now)];
    if (epoch !== undefined && epoch !== "latest") await notLater(Number(epoch));
    return {
      genesis_block_hash: first.hash ?? "",
      blockchain_start_time: timeText(first.systemStart),
      slot_length: { quantity: first.slotLength / 1_000, unit: "second" },
      epoch_length: { quantity: first.epochLength, unit: "slot" },
      security_parameter: { quantity: first.securityParameter, unit: "block" },
      active_slot_coefficient: { quantity: decimal(first.activeSlots) * 100, unit: "percent" },
      // since Babbage all block producers are chosen by stake
      decentralization_level: { quantity: 100, unit: "percent" },
      desired_pool_number: value.desiredPools,
      eras: Object.fromEntries(
        ERAS.slice(0, 7).map((era) => {
          const start = eraStart(how, era);
          return [era.toLowerCase(), start === undefined ? null : epochView(start)];
        }),
      ),
      maximum_collateral_input_count: value.maxCollateralInputs,
      minimum_collateral_percentage: value.collateralPercentage,
      maximum_token_bundle_size: { quantity: value.maxValueSize, unit: "byte" },
      execution_unit_prices: {
        step_price: decimal(value.prices.steps),
        memory_unit_price: decimal(value.prices.memory),
      },
    };
  };
  const notLater = async (epoch: number) => {
    const { value } = answered(await port.epoch());
    if (epoch <= value.number) return;
    throw new HttpFailure(404, "not_found", `Epoch ${epoch} has not started; the current epoch is ${value.number}.`);
  };
  route(app, "get", "/network/parameters", {
    operation: "getNetworkParameters",
    summary: "Parameters of the network",
    query: api.epochQuery,
    answer: api.networkParameters,
    refusals: { ...away, 404: "`not_found`: no such epoch" },
  }, ({ query }) => parameters(query.epoch));
}

const decimal = ({ numerator, denominator }: Ratio): number => Number(numerator) / Number(denominator);
