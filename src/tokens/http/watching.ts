/**
 * Waiting for a transaction until a block has it, at a depth: all waiting clients share one statement, and there is
 * none while no client waits.
 */
import { inTime, sleep } from "#src/base/clock.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { findTransaction, type IndexedTransaction, readDepths } from "#src/chain/index/transactions.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { Queries } from "#src/store/store.ts";

/** Time between two reads, in milliseconds. */
const LOOK_MS = 50;
/** Most transactions that are waited for at a time. */
const MOST_WAITING = 5_000;

/** A transaction of the ledger, and the number of blocks on top of its own. */
export interface DeepTransaction extends IndexedTransaction {
  readonly depth: number;
}

export interface TransactionWait {
  readonly hash: string;
  /** Blocks on top. */
  readonly depth: number;
  /** Milliseconds. */
  readonly longestMs: number;
  readonly signal: AbortSignal;
}

/** A function that gives a transaction once it is as deep as required, or as it is when the time is up. */
export function transactionWatch(sql: Queries): (wanted: TransactionWait) => Promise<DeepTransaction | undefined> {
  const waiting = new Map<string, number>();
  let look: Promise<ReadonlyMap<string, number>> | undefined;
  const seen = () =>
    look ??= sleep(LOOK_MS).then(() => readDepths(sql, [...waiting.keys()])).finally(() => look = undefined);
  const find = async (hash: string): Promise<DeepTransaction | undefined> => {
    const [found, { at }] = await Promise.all([findTransaction(sql, hash), readCursor(sql)]);
    return found && { ...found, depth: Math.max(0, at.height - found.height) };
  };
  return async ({ hash, depth, longestMs, signal }) => {
    const end = performance.now() + longestMs;
    const first = await find(hash);
    if (longestMs === 0 || (first && first.depth >= depth)) return first;
    if (waiting.size >= MOST_WAITING) {
      throw new HttpFailure(
        503,
        "too_many_waiting",
        `The limit of ${MOST_WAITING} requests that wait for transactions is reached.`,
      );
    }
    waiting.set(hash, (waiting.get(hash) ?? 0) + 1);
    try {
      for (let left = longestMs; left > 0 && !signal.aborted; left = end - performance.now()) {
        const depths = await inTime(seen(), left);
        if ((depths?.get(hash) ?? -1) >= depth) break;
      }
    } finally {
      const others = (waiting.get(hash) ?? 1) - 1;
      if (others === 0) waiting.delete(hash);
      else waiting.set(hash, others);
    }
    return await find(hash);
  };
}
