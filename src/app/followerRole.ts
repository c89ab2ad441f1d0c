/** The role `follower`: one process at a time reads the chain into the index; the others stand by. */
import { watchMempool } from "#src/wallets/mempoolWatch.ts";
import { tokenReleases } from "#src/tokens/tokenRelease.ts";
import { cageProjection } from "#src/tokens/index/projection.ts";
import { noteRollback } from "#src/tokens/log/append.ts";
import { WitnessRequests } from "#src/tokens/log/witnessRequests.ts";
import { LogWriter } from "#src/tokens/log/writer.ts";
import { cageScripts } from "#src/contract/script.ts";
import { allOutputsProjection } from "#src/chain/index/allOutputs.ts";
import { Follower, KEEP_BLOCKS } from "#src/chain/index/follower.ts";
import { leaveOutputSet, OutputSet, outputsIncomplete } from "#src/chain/index/outputSet.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { utxoProjection } from "#src/chain/index/utxo.ts";
import { fence } from "#src/runtime/placement/namedLease.ts";
import type { Queries } from "#src/store/store.ts";
import { undoSeen } from "#src/wallets/seen/rows.ts";
import { readBeginning } from "#src/app/beginning.ts";
import {
  type AppContext,
  appendTouched,
  holdProcessLease,
  notifyTouched,
  StartError,
  WAKE_FOLLOWER,
} from "#src/app/context.ts";
import { followerCheck } from "#src/app/health.ts";
import { isDevnet } from "#src/app/network.ts";
import { logSnapshots, tokenLogOf } from "#src/app/tokenLog.ts";
import { readWalletProjections } from "#src/app/walletRole.ts";

/** Name of the lease. */
const FOLLOWER = "follower";

/**
 * Follows the chain while this process holds the lease.
 *
 * @throws {StartError} where it should keep the root of the unspent outputs and cannot
 */
export async function startFollowerRole(context: AppContext): Promise<void> {
  const { store, bus, port, log, options, hooks, health } = context;
  const beginning = options.utxoRoot === undefined ? undefined : await readBeginning(context, options.utxoRoot);
  if (beginning) {
    const incomplete = await outputsIncomplete(store.sql);
    if (incomplete) throw new StartError(`--utxo-root: ${incomplete.message}`);
  }
  let running: Follower | undefined;
  const lease = holdProcessLease(context, FOLLOWER, async (epoch, signal) => {
    const wallets = await readWalletProjections(context, signal);
    if (!wallets) return;
    const ownLease = async (sql: Queries) => {
      if ((await fence(sql, FOLLOWER, epoch)).length === 0) throw new Error("the follower's lease is lost");
    };
    const shared = { store, port, fence: ownLease, append: appendTouched, ring: notifyTouched(bus) };
    const settings = tokenLogOf(options);
    const logging = { store, fence: ownLease, log: log.with({ component: "token-log" }) };
    const witnesses = new WitnessRequests({ ...logging, witnesses: settings.witnesses });
    const tokenLog = new LogWriter({
      ...{ ...logging, networkMagic: options.networkMagic, settings, snapshots: logSnapshots(context) },
      onCheckpoint: () => witnesses.wake(),
    });
    const outputs = beginning &&
      new OutputSet({ store, fence: ownLease, log, keepBlocks: KEEP_BLOCKS, snapshotEvery: settings.snapshots });
    if (outputs && beginning) {
      const opened = await outputs.open(beginning);
      if (!opened.ok) return context.lose(opened.error.message);
    } else await leaveOutputSet(store);
    const follower = running = new Follower({
      ...shared,
      ...wallets,
      projections: [
        transactionProjection,
        utxoProjection,
        cageProjection({ scripts: cageScripts.map((script) => script.hash), network: context.networkId }),
        ...wallets.projections,
        ...(outputs ? [allOutputsProjection] : []),
      ],
      ...(outputs ? { outputs } : {}),
      networkQueries: [...wallets.networkQueries, tokenReleases(store)],
      onUndo: async (sql, slot, affected) => {
        await undoSeen(sql, slot, affected);
        await noteRollback(sql, slot);
      },
      onMoved: () => tokenLog.wake(),
      // the restore of a snapshot rolls a devnet back any number of blocks
      ...(isDevnet(options) ? { keepBlocks: Number.MAX_SAFE_INTEGER } : {}),
      log: log.with({ component: "follower" }),
      onProgress: context.progress,
      ...(hooks.follower ? { onStep: hooks.follower } : {}),
    });
    const unsubscribe = bus.subscribe(WAKE_FOLLOWER, () => follower.wake());
    try {
      const watch = { ...shared, pollMs: options.mempoolMs, log: log.with({ component: "mempool" }) };
      await Promise.all([
        follower.run(signal),
        watchMempool(watch, signal),
        tokenLog.run(signal),
        witnesses.run(signal),
      ]);
    } finally {
      unsubscribe();
    }
  });
  health.checks.set("follower", () => followerCheck(lease, store, () => running?.halted));
}
