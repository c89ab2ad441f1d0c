/** The role `worker`: serves a part of the actors, and does the background work that is shared by lease. */
import { startHousekeeper } from "#src/runtime/operations/retention.ts";
import { ping } from "#src/runtime/placement/failureDetector.ts";
import { startWorker } from "#src/runtime/worker.ts";
import { openStore } from "#src/store/store.ts";
import { endedTransactions } from "#actors/transaction.ts";
import { type AppContext, StartError } from "#src/app/context.ts";
import { workerCheck } from "#src/app/health.ts";
import { startWalletUpkeep } from "#src/app/walletRole.ts";

/**
 * Starts a worker of all actor kinds, the upkeep of wallets, and the retention of old rows.
 *
 * @throws {StartError} where another process answers to this worker's name: each would take the other's partitions.
 */
export async function startWorkerRole(context: AppContext): Promise<void> {
  const { store, bus, kinds, options, log, hooks, stops } = context;
  if (await ping(bus, options.worker) === "there") {
    throw new StartError(
      `A worker with the name ${options.worker} runs already: give each process a name of its own (--worker), or end that one.`,
    );
  }
  // Leases have connections of their own: they must be renewed however busy the others are.
  const leaseStore = openStore(context.databaseUrl, { max: 2, application: "arbor leases" });
  stops.push(() => leaseStore.close());
  const worker = await startWorker({
    id: options.worker,
    store,
    clock: context.clock,
    leaseStore,
    bus,
    kinds,
    log,
    leaseMs: options.leaseMs,
    waiting: options.mailbox,
    resident: options.actorsInMemory,
    eventsKeptMs: options.keep.history * 3_600_000,
    generation: () => context.restores.generation().id,
    ...(hooks.worker ? { onStep: hooks.worker } : {}),
  });
  context.health.checks.set("worker", () => workerCheck(worker));
  stops.push(() => worker.stop());
  startWalletUpkeep(context);
  const housekeeper = startHousekeeper({
    store,
    owner: options.worker,
    keep: options.keep,
    ended: [endedTransactions(options.keep.transactions)],
    ttlMs: options.leaseMs,
    log: log.with({ component: "housekeeper" }),
  });
  stops.push(() => housekeeper.stop());
}
