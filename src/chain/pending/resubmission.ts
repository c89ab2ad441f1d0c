/**
 * Submits pending transactions to the network again, all of them every few blocks, and those that a block has overtaken
 * at once.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { resubmitPending } from "#src/chain/pending/submissions.ts";
import type { Store } from "#src/store/store.ts";

/** Blocks between two sweeps. */
const SWEEP_BLOCKS = 10;
/** Milliseconds between two polls of the height. */
const POLL_MS = 1_000;

interface ResubmissionOptions {
  readonly store: Store;
  readonly port: Pick<ChainPort, "submit" | "inMempool">;
  /** Has the actor of a transaction check its state with the network. */
  readonly check: (hash: string) => Promise<void>;
  /** Hashes of the pending transactions that need an output which a block has spent. */
  readonly overtaken: () => Promise<readonly string[]>;
  readonly log: Log;
}

/** Sweeps at once and then every few blocks, until the signal aborts. A lease makes sure that one process does. */
export async function resubmit(options: ResubmissionOptions, signal: AbortSignal): Promise<void> {
  const { store, port, check, overtaken, log } = options;
  let swept: number | undefined;
  let seen: string | undefined;
  while (!signal.aborted) {
    try {
      const { at } = await readCursor(store.sql);
      if (at.hash !== seen) {
        for (const hash of await overtaken()) if (!signal.aborted) await check(hash);
        seen = at.hash;
      }
      // sweep after a rollback too: the node's mempool may lack transactions that were in the blocks
      if (swept === undefined || at.height >= swept + SWEEP_BLOCKS || at.height < swept) {
        const { resubmitted, toCheck } = await resubmitPending(store, port, signal);
        swept = at.height;
        for (const hash of toCheck) if (!signal.aborted) await check(hash);
        if (resubmitted > 0) {
          log.debug("pending transactions were resubmitted", { resubmitted, toCheck: toCheck.length });
        }
      }
    } catch (error) {
      if (!signal.aborted) log.warn("resubmission of pending transactions is interrupted", { reason: reason(error) });
    }
    await sleep(POLL_MS, signal);
  }
}
