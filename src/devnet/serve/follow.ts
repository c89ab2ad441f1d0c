/**
 * Follows the devnet's chain in its block table.
 *
 * Assumptions: a statement sees one state of the chain. A follower's block is in the table until it is rolled back, so
 * reading it together with its successors detects a rollback. Notifications may be lost, therefore it polls too.
 */
import { sleep } from "#src/base/clock.ts";
import { originTip, readAncestors, readBlocks, readNewest } from "#src/devnet/blocks/rows.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import type { RawStep } from "#src/chain/provider/port.ts";
import { BLOCK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** Blocks of one read. */
const BATCH = 100;

/** Of the blocks below the last k, which only the restore of a snapshot can undo, one in so many is remembered. */
const SPARSE = 100;

/** The chain that is followed. */
interface FollowedChain {
  readonly store: Store;
  /** Where the devnet announces blocks and rollbacks. */
  readonly bus: Pick<Bus, "subscribe">;
  /** Milliseconds between reads without an announcement. */
  readonly pollMs: number;
  /** Blocks that are remembered, to find the fork after a rollback. */
  readonly k: number;
}

/** The steps of the chain from the newest of `points` that is on it. Ends when the signal aborts. */
export async function* followBlocks(
  { store, bus, pollMs, k }: FollowedChain,
  points: readonly Point[],
  signal: AbortSignal,
): AsyncIterable<RawStep> {
  // an announcement between two waits ends the next one at once
  let announced = new AbortController();
  const stop = bus.subscribe(BLOCK_SUBJECT, () => announced.abort());
  try {
    yield* steps(store, points, k, signal, async () => {
      await sleep(pollMs, AbortSignal.any([announced.signal, signal]));
      announced = new AbortController();
    });
  } finally {
    stop();
  }
}

async function* steps(
  store: Store,
  points: readonly Point[],
  k: number,
  signal: AbortSignal,
  waitForChange: () => Promise<void>,
): AsyncIterable<RawStep> {
  let known: Tip[] = [];
  let at = originTip;
  const back = async (hashes: readonly string[]): Promise<RawStep> => {
    const { found = originTip, older, tip } = await readNewest(store.sql, hashes);
    known = [...older].reverse();
    at = found;
    return { type: "backward", point: at === originTip ? origin : { slot: at.slot, hash: at.hash }, tip };
  };
  /** The first step; also reads where a rollback goes that undoes the block which is begun with. */
  const begin = async (hashes: readonly string[]): Promise<RawStep> => {
    const step = await back(hashes);
    if (at.height <= 0) return step;
    const ancestors = await readAncestors(store.sql, at, k);
    // the block was undone in between
    if (ancestors.length === 0) return await begin(hashes);
    known = [...known.filter(({ height }) => height < at.height - k), ...ancestors];
    return step;
  };
  yield await begin(points.map(({ hash }) => hash));
  while (!signal.aborted) {
    const isOrigin = at === originTip;
    const { blocks, tip } = await readBlocks(store.sql, isOrigin ? 0 : at.height, BATCH);
    if (!isOrigin && blocks[0]?.hash !== at.hash) {
      yield await back(known.map(({ hash }) => hash));
      continue;
    }
    const next = isOrigin ? blocks : blocks.slice(1);
    for (const { bytes, ...point } of next) {
      if (signal.aborted) return;
      if (at !== originTip) known.push(at);
      at = point;
      yield { type: "forward", block: bytes, tip };
    }
    if (known.length > 2 * k) known = known.filter(({ height }) => height > at.height - k || height % SPARSE === 0);
    if (next.length === 0) await waitForChange();
  }
}
