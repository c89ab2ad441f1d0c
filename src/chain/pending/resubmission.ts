/** Offers what is pending to the network again, all of it in one sweep, every few blocks. */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { offerPending } from "#src/chain/pending/submissions.ts";
import type { Store } from "#src/store/store.ts";

/** Blocks between two sweeps. */
export const EVERY_BLOCKS = 10;
/** Between two looks at the height, in ms. */
const LOOK_MS = 1_000;

export interface ResubmissionOptions {
  readonly store: Store;
  readonly port: Pick<ChainPort, "submit" | "inMempool">;
  /** Has the actor of a transaction look closer. */
  readonly check: (hash: string) => Promise<void>;
  readonly log: Log;
}

/** Sweeps at once and then every few blocks, until the signal aborts: one process at a time does (a lease). */
export async function resubmit({ store, port, check, log }: ResubmissionOptions, signal: AbortSignal): Promise<void> {
  let swept: number | undefined;
  while (!signal.aborted) {
    try {
      const { at } = await readCursor(store.sql);
      // a rollback is a reason as well: the mempool of whoever went back may lack what we have
      if (swept === undefined || at.height >= swept + EVERY_BLOCKS || at.height < swept) {
        const { offered, doubted } = await offerPending(store, port, signal);
        swept = at.height;
        for (const hash of doubted) if (!signal.aborted) await check(hash);
        if (offered > 0) log.debug("what is pending was offered again", { offered, doubted: doubted.length });
      }
    } catch (error) {
      if (!signal.aborted) log.warn("a sweep over what is pending is interrupted", { reason: reason(error) });
    }
    await sleep(LOOK_MS, signal);
  }
}
