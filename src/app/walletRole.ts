/** Wallets in each role: their actors, their part of the index, their upkeep, their service. */
import { rewardsInquiry } from "#actors/delegation.ts";
import { readOvertakenByBlocks } from "#src/tokens/pendingTokens.ts";
import { sleep } from "#src/base/clock.ts";
import { NtpClock } from "#src/base/ntpClock.ts";
import { deriveCredentialsInThreads } from "#src/wallets/builds/credentials.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import { together } from "#src/chain/index/projections.ts";
import type { FollowerOptions } from "#src/chain/index/follower.ts";
import { resubmit } from "#src/chain/pending/resubmission.ts";
import { walletApp } from "#src/wallets/http/app.ts";
import { openPoolBook } from "#src/wallets/poolBook.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import { notifyInputs } from "#src/runtime/inputLog.ts";
import { announcePresence } from "#src/runtime/placement/presence.ts";
import { startVaultSweep } from "#src/wallets/vault/sweep.ts";
import { delegationProjection } from "#src/wallets/delegation/projection.ts";
import { walletProjection } from "#src/wallets/index/projection.ts";
import { walletSupply } from "#src/wallets/index/supply.ts";
import { WALLET_PROJECTION } from "#src/wallets/index/types.ts";
import { productionProjection } from "#src/wallets/pools/production.ts";
import type { PoolBook } from "#src/wallets/pools/book.ts";
import { keepPools } from "#src/wallets/pools/keeper.ts";
import { beginSource, isServer } from "#src/wallets/pools/source.ts";
import { PAGES } from "#src/app/pages.ts";
import { isDevnet } from "#src/app/network.ts";
import { type AppContext, holdProcessLease, WAKE_FOLLOWER } from "#src/app/context.ts";

/** Time between two attempts to reach the network, in milliseconds. */
const RETRY_MS = 1_000;

/**
 * The follower's part for wallets. Waits until the network gives its eras and parameters; `undefined` when the signal
 * aborts first.
 */
export async function readWalletProjections(
  { store, port, builders, log }: AppContext,
  signal: AbortSignal,
): Promise<Required<Pick<FollowerOptions, "projections" | "supplies" | "networkQueries">> | undefined> {
  while (!signal.aborted) {
    const [eras, parameters] = await Promise.all([port.eras(), port.parameters()]);
    if (eras.ok && parameters.ok) {
      const epochs = epochsOf(eras.value.value);
      const epochOf = (slot: number) => epochs.of(slot);
      return {
        projections: [
          together([
            walletProjection({ keyDeposit: parameters.value.value.keyDeposit }),
            delegationProjection(epochOf),
          ]),
          productionProjection,
        ],
        supplies: new Map([[WALLET_PROJECTION, walletSupply(store.sql, deriveCredentialsInThreads(builders))]]),
        networkQueries: [rewardsInquiry(epochOf)],
      };
    }
    for (const one of [eras, parameters]) {
      if (!one.ok) log.warn("the network is not reachable", { reason: one.error.message });
    }
    await sleep(RETRY_MS, signal);
  }
  return undefined;
}

/** Resubmits pending transactions, in one process at a time, and sweeps root keys that no wallet adopted. */
export function startWalletUpkeep(context: AppContext): void {
  const { store, bus, port, vault, log, stops } = context;
  const ask = createAsk({ bus, store, log });
  stops.push(() => Promise.resolve(ask.close()));
  const sweep = startVaultSweep({ vault, log: log.with({ component: "vault" }) });
  stops.push(() => sweep.stop());
  const check = async (hash: string) => {
    await ask.ask({ kind: "transaction", id: hash }, { type: "CHECK" });
  };
  const overtaken = () => readOvertakenByBlocks(store.sql);
  const resubmission = { store, port, log: log.with({ component: "resubmission" }), check, overtaken };
  holdProcessLease(context, "resubmission", (_, signal) => resubmit(resubmission, signal));
}

/**
 * Fetches pool metadata in one process at a time, until the process stops. Its source is that of the options unless one
 * was ever set by `PUT /settings`.
 */
async function startPoolKeeping(context: AppContext, book: PoolBook): Promise<void> {
  const { options: { outside: { poolMetadata, allowPrivate, ipfs } }, store, log } = context;
  if (poolMetadata !== "none") await beginSource(store, poolMetadata);
  const chosen = isServer(poolMetadata) ? poolMetadata : undefined;
  const keeping = { store, book, fetch: { allowPrivate, chosen, ipfs }, log: log.with({ component: "pools" }) };
  holdProcessLease(context, "pool-metadata", (_, signal) => keepPools(keeping, signal));
}

/** What the services of the edge share. */
export interface EdgeServices {
  readonly ask: Ask;
  readonly events: EventLog;
  readonly health: (app: OpenAPIHono) => void;
}

/** The app of the wallet service. Starts the fetching of pool metadata as well. */
export async function walletService(
  context: AppContext,
  { ask, events, health }: EdgeServices,
): Promise<OpenAPIHono> {
  const { store, port, vault, builders, bus, options, log, stops } = context;
  const { allowPrivate, ipfs, ntpServers, tokenMetadata } = options.outside;
  const book = openPoolBook({ store, port });
  await startPoolKeeping(context, book);
  const presence = announcePresence(bus);
  stops.push(() => Promise.resolve(presence.close()));
  return walletApp({
    store,
    networkId: context.networkId,
    networkMagic: options.networkMagic,
    ask: ask.ask,
    ring: (entities) => notifyInputs(bus, entities),
    build: ask.build,
    port,
    vault,
    builders,
    pages: PAGES,
    links: context.links,
    events,
    presence,
    toleranceS: options.syncToleranceS,
    clock: context.clock,
    clocked: !isDevnet(options) || options.mining === "interval",
    ntp: new NtpClock({ servers: ntpServers, log: log.with({ component: "ntp" }) }),
    tokenMetadata,
    outside: { allowPrivate, ipfs },
    book,
    hosts: [...options.hosts, options.walletHost],
    // a page that was loaded over TLS may not call a devnet without it
    devnet: options.walletTls ? undefined : context.devnetWallet.port,
    wake: () => bus.publish(WAKE_FOLLOWER, null),
    health,
    log,
  });
}
