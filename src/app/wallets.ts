/** What the wallets are made of, for the roles: their tables, actors, what the follower reads for them, and their edge. */
import { delegationActor, rewardsInquiry } from "#actors/delegation.ts";
import { sharedWalletActor } from "#actors/shared-wallet.ts";
import { walletActor } from "#actors/wallet.ts";
import { sleep } from "#src/base/clock.ts";
import { deriveSlice, deriveStock } from "#src/builders/credentials.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import { together } from "#src/cardano/projections.ts";
import type { FollowerOptions } from "#src/chain/index/follower.ts";
import { resubmit } from "#src/chain/pending/resubmission.ts";
import { walletApp } from "#src/edge/wallets/app.ts";
import { openPoolBook } from "#src/edge/wallets/poolBook.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import { notifyInputs } from "#src/runtime/turns/inputLog.ts";
import { holdLease } from "#src/runtime/placement/namedLease.ts";
import { announcePresence } from "#src/runtime/placement/presence.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Migration } from "#src/store/migrations.ts";
import { startVaultSweep } from "#src/vault/sweep.ts";
import { vaultMigrations } from "#src/vault/tables.ts";
import { createVault } from "#src/vault/vault.ts";
import { delegationMigrations } from "#src/wallet/delegation/migrations.ts";
import { delegationProjection } from "#src/wallet/delegation/projection.ts";
import { walletIndexMigrations } from "#src/wallet/index/migrations.ts";
import { walletProjection } from "#src/wallet/index/projection.ts";
import { walletSupply } from "#src/wallet/index/supply.ts";
import { WALLET_PROJECTION } from "#src/wallet/index/types.ts";
import { poolMigrations } from "#src/wallet/pools/migrations.ts";
import { productionProjection } from "#src/wallet/pools/production.ts";
import { requestMigrations } from "#src/wallet/requests.ts";
import { walletMigrations } from "#src/wallet/rows.ts";
import { sharedWalletMigrations } from "#src/wallet/shared/rows.ts";
import { startPoolKeeping } from "#src/app/poolKeeping.ts";
import { NETWORK_ID, type Rooms, WATCH } from "#src/app/context.ts";

/** Tables of the wallets and of what belongs to them. */
export const walletTables: readonly Migration[] = [
  ...walletMigrations,
  ...sharedWalletMigrations,
  ...vaultMigrations,
  ...walletIndexMigrations,
  ...delegationMigrations,
  ...poolMigrations,
  ...requestMigrations,
];

/** Between two tries to reach the network, in ms. */
const AGAIN_MS = 1_000;

/** The kinds of actors that wallets need. */
export function walletKinds({ store, port, builders, bus, clock }: Rooms): ActorKind[] {
  const options = {
    store,
    port,
    builders,
    clock,
    networkId: NETWORK_ID as 0 | 1,
    derive: deriveStock(builders),
    deriveSlice: deriveSlice(builders),
    vault: createVault({ store, builders }),
    wake: () => bus.publish(WATCH, null),
  };
  return [walletActor(options), sharedWalletActor(options), delegationActor()];
}

/** What the follower reads for wallets; waits until the network says how its epochs run. `undefined` when the signal aborts first. */
export async function walletReading(
  { store, port, builders, log }: Rooms,
  signal: AbortSignal,
): Promise<Required<Pick<FollowerOptions, "projections" | "supplies" | "inquiries">> | undefined> {
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
        supplies: new Map([[WALLET_PROJECTION, walletSupply(store.sql, deriveStock(builders))]]),
        inquiries: [rewardsInquiry(epochOf)],
      };
    }
    for (const one of [eras, parameters]) {
      if (!one.ok) log.warn("the network is not reached", { reason: one.error.message });
    }
    await sleep(AGAIN_MS, signal);
  }
  return undefined;
}

/** Looks after what is pending and after the vault, beside the actors. */
export function startWalletKeeping(rooms: Rooms): void {
  const { store, bus, port, builders, options, log, stops } = rooms;
  const ask = createAsk({ bus, store, log });
  stops.push(() => Promise.resolve(ask.close()));
  const sweep = startVaultSweep({ vault: createVault({ store, builders }), log: log.with({ room: "vault" }) });
  stops.push(() => sweep.stop());
  const lease = holdLease({
    store,
    bus,
    name: "resubmission",
    owner: options.worker,
    ttlMs: options.leaseMs,
    log,
    onHeld: (_, signal) =>
      resubmit({
        store,
        port,
        log: log.with({ room: "resubmission" }),
        check: async (hash) => {
          await ask.ask({ kind: "transaction", id: hash }, { type: "CHECK" });
        },
      }, signal),
  });
  stops.push(() => lease.stop());
}

/** The wallet service's app. */
export async function walletService(
  rooms: Rooms,
  { ask, events, health }: { ask: Ask; events: EventLog; health: (app: OpenAPIHono) => void },
): Promise<OpenAPIHono> {
  const { store, port, builders, bus, options, log, stops } = rooms;
  const { allowPrivate, tokenMetadata } = options.outside;
  const book = openPoolBook({ store, port });
  await startPoolKeeping(rooms, book);
  const presence = announcePresence(bus);
  stops.push(() => Promise.resolve(presence.close()));
  return walletApp({
    store,
    networkId: NETWORK_ID as 0 | 1,
    networkMagic: options.networkMagic,
    ask: ask.ask,
    ring: (entities) => notifyInputs(bus, entities),
    build: ask.build,
    port,
    vault: createVault({ store, builders }),
    builders,
    events,
    presence,
    toleranceS: options.syncToleranceS,
    clock: rooms.clock,
    clocked: options.nodeSocket !== undefined || options.blockfrost !== undefined || options.blockMs > 0,
    ...(tokenMetadata === undefined ? {} : { tokenMetadata }),
    outside: { allowPrivate },
    book,
    hosts: [...options.hosts, options.walletHost],
    wake: () => bus.publish(WATCH, null),
    health,
    log,
  });
}
