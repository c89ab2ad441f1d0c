/**
 * Waiting for a transaction: until a block has it, and so many blocks are on top. However many wait, one statement in a moment looks for
 * all of their transactions, and none where nobody waits.
 */
import { inTime, sleep } from "#src/base/clock.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { rolledBackFrom } from "#src/chain/index/rolledBack.ts";
import { findTransaction, type IndexedTransaction } from "#src/chain/index/transactions.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import type { Queries } from "#src/store/store.ts";

/** Time between two looks, in milliseconds. */
const LOOK_MS = 50;
/** Most that wait at a time. */
const MOST_WAITING = 5_000;

/** A transaction of the ledger, and how many blocks are on top of its own. */
export interface Deep extends IndexedTransaction {
  readonly depth: number;
}

export interface Wanted {
  readonly hash: string;
  /** Blocks on top. */
  readonly depth: number;
  /** Milliseconds. */
  readonly longestMs: number;
  readonly signal: AbortSignal;
}

/** A function that gives a transaction once it is as deep as wanted; what there is of it by then where the time is up. */
export function transactionWatch(sql: Queries): (wanted: Wanted) => Promise<Deep | undefined> {
  const waiting = new Map<string, number>();
  let look: Promise<ReadonlyMap<string, number>> | undefined;
  const seen = () =>
    look ??= sleep(LOOK_MS).then(() => depthsOf(sql, [...waiting.keys()])).finally(() => look = undefined);
  const find = async (hash: string): Promise<Deep | undefined> => {
    const [found, { at }] = await Promise.all([findTransaction(sql, hash), readCursor(sql)]);
    return found && { ...found, depth: Math.max(0, at.height - found.height) };
  };
  return async ({ hash, depth, longestMs, signal }) => {
    const end = performance.now() + longestMs;
    const first = await find(hash);
    if (longestMs === 0 || (first && first.depth >= depth)) return first;
    if (waiting.size >= MOST_WAITING) {
      throw new HttpFailure(503, "too_many_waiting", `${MOST_WAITING} transactions are waited for already.`);
    }
    waiting.set(hash, (waiting.get(hash) ?? 0) + 1);
    try {
      for (let left = longestMs; left > 0 && !signal.aborted; left = end - performance.now()) {
        const depths = await inTime(seen(), left);
        if ((depths?.get(hash) ?? -1) >= depth) break;
      }
    } finally {
      const others = waiting.get(hash)! - 1;
      if (others === 0) waiting.delete(hash);
      else waiting.set(hash, others);
    }
    return await find(hash);
  };
}

/** How deep each of some transactions is that the ledger has. */
async function depthsOf(sql: Queries, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ hash: string; depth: bigint }[]>`
    select t.hash, c.height - t.height as depth from chain_transaction t, chain_cursor c
    where c.id = 'main' and t.hash = any(${sql.array([...hashes])}::text[]) and t.to_slot is null`;
  return new Map(rows.map(({ hash, depth }) => [hash, Number(depth)]));
}

/** What is known of a transaction that no block holds; `rolledBackFrom` is the slot of a block that held it once. */
export interface OutsideLedger {
  readonly [detail: string]: string | number;
  readonly status: "mempool" | "pending" | "rolled_back" | "expired" | "unknown";
}

/** Asks rows and the network's mempool; a network that is not reached is left out. */
export async function outsideLedger(
  sql: Queries,
  port: Pick<ChainPort, "inMempool">,
  hash: string,
): Promise<OutsideLedger> {
  const [rolledBack, [submitted], mempool] = await Promise.all([
    rolledBackFrom(sql, hash),
    sql<{ status: string }[]>`select status from submission_status where hash = ${hash}`,
    port.inMempool(hash),
  ]);
  const from = rolledBack === undefined ? {} : { rolledBackFrom: rolledBack };
  if (mempool.ok && mempool.value) return { status: "mempool", ...from };
  if (submitted?.status === "expired") return { status: "expired", ...from };
  if (rolledBack !== undefined) return { status: "rolled_back", ...from };
  return { status: submitted?.status === "pending" ? "pending" : "unknown" };
}
