/**
 * Following a chain by asking: what is the newest block, what came after the one that is known, what is in them.
 *
 * Hypotheses: a service pushes nothing, so a rollback shows itself in a block that is not there any more, in one that follows another,
 * or in another hash at a known height; a block may be rolled back between two questions about it; several machines may answer for one service, of
 * which one is behind.
 */
import { sleep } from "#src/base/clock.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import { readBlock } from "#src/chain/provider/blockfrost/block.ts";
import { type BlockDocument, blockDocument, blocksDocument, read } from "#src/chain/provider/blockfrost/documents.ts";
import { ApiError, apiError } from "#src/chain/provider/blockfrost/errors.ts";
import type { Http } from "#src/chain/provider/blockfrost/http.ts";
import { eachOf } from "#src/chain/provider/blockfrost/pace.ts";
import type { Known } from "#src/chain/provider/blockfrost/network.ts";
import type { ChainStep } from "#src/chain/provider/port.ts";

/** Blocks asked for at once. */
const PAGE = 100;
/** Blocks whose transactions are asked for ahead, and how many at the same time. */
const AHEAD = 16;
const AT_ONCE = 4;

export interface FollowSettings {
  readonly http: Http;
  readonly known: Known;
  /** Milliseconds between two looks at the newest block. */
  readonly pollMs: number;
  /** Hash of the block that a chain of which nothing is known is read from; its first one where undefined. */
  readonly from?: string | undefined;
}

/** A block that was given; its height is unknown where the caller named it. */
interface Given extends Point {
  readonly height?: number;
}

/** The newest block; the origin where there is none. Throws `ApiError`. */
export async function readTip(http: Http, signal?: AbortSignal): Promise<Tip> {
  const newest = await http.find("/blocks/latest", signal);
  if (newest === undefined) return { ...origin, height: 0 };
  const { slot, hash, height } = read(blockDocument, newest, "the newest block");
  return { slot, hash, height };
}

/** The steps of the chain from the newest of `points` that is on it. Ends when the signal aborts; throws `ApiError`. */
export async function* followService(
  settings: FollowSettings,
  points: readonly Point[],
  signal: AbortSignal,
): AsyncGenerator<ChainStep, void, void> {
  const { http, known, pollMs } = settings;
  const { securityParameter: k } = known.network;
  /** Blocks that the caller has, oldest first. */
  let trail: Given[] = [...points].reverse().filter(({ slot }) => slot >= 0);
  trail = trail.slice(0, await countOnChain(http, trail, signal));
  const at = () => trail.at(-1);
  const here = (): Point => {
    const { slot, hash } = at() ?? origin;
    return { slot, hash };
  };
  yield { type: "backward", point: here(), tip: await readTip(http, signal) };
  while (!signal.aborted) {
    const tip = await readTip(http, signal);
    const next = tip.hash === here().hash ? [] : await blocksAfter(settings, at(), signal);
    if (
      next === "gone" || (next.length === 0 && tip.hash !== here().hash && at() && !await onChain(http, at()!, signal))
    ) {
      trail = trail.slice(0, await countOnChain(http, trail, signal));
      yield { type: "backward", point: here(), tip: await readTip(http, signal) };
      continue;
    }
    if (next.length === 0) {
      if (!at() && tip.slot >= 0) {
        throw apiError(
          "unusable",
          `${http.where} does not tell the chain's first block: an index can begin with a later one alone.`,
        );
      }
      await sleep(pollMs, signal);
      continue;
    }
    for (let done = 0; done < next.length && !signal.aborted; done += AHEAD) {
      const blocks = await eachOf(
        next.slice(done, done + AHEAD),
        AT_ONCE,
        (block) => unlessGone(readBlock(http, block, known.eraAt(block.slot), signal)),
      );
      const whole = blocks.findIndex((block) => block === undefined);
      for (const block of whole < 0 ? blocks : blocks.slice(0, whole)) {
        if (signal.aborted) return;
        const { slot, hash, height } = block!;
        trail.push({ slot, hash, height });
        yield { type: "scanned", block: block!, tip: height > tip.height ? { slot, hash, height } : tip };
      }
      if (whole >= 0) break;
    }
    if (trail.length > 2 * k) trail = trail.slice(-k);
  }
}

/** The blocks after one, as long as each follows the one before; "gone" where the one is no longer on the chain. */
async function blocksAfter(
  { http, from }: FollowSettings,
  at: Given | undefined,
  signal: AbortSignal,
): Promise<readonly BlockDocument[] | "gone"> {
  if (!at) {
    const first = await firstBlock(http, from, signal);
    return first ? [first] : [];
  }
  const answer = await http.find(`/blocks/${at.hash}/next?count=${PAGE}&page=1`, signal);
  if (answer === undefined) return "gone";
  const blocks = read(blocksDocument, answer, "blocks");
  let before = at.hash;
  const linked = blocks.findIndex(({ hash, previous_block }) => {
    const follows = previous_block === before;
    before = hash;
    return !follows;
  });
  if (linked === 0) return "gone";
  return linked < 0 ? blocks : blocks.slice(0, linked);
}

/** The block that reading begins with. The first one has number 0 or 1: Byron begins with one that has no number. */
async function firstBlock(
  http: Http,
  from: string | undefined,
  signal: AbortSignal,
): Promise<BlockDocument | undefined> {
  if (from !== undefined) return await beginning(http, from, signal);
  for (const number of [0, 1]) {
    const found = await http.find(`/blocks/${number}`, signal);
    if (found !== undefined) return read(blockDocument, found, "a block");
  }
  return undefined;
}

/** The block that an index is to begin with. Throws `ApiError` (`refused`) where the chain does not have it. */
export async function beginning(http: Http, from: string, signal?: AbortSignal): Promise<BlockDocument> {
  const found = await http.find(`/blocks/${from}`, signal);
  if (found !== undefined) return read(blockDocument, found, "a block");
  throw apiError("refused", `${http.where} does not know the block ${from}, which the index is to begin with.`);
}

/** Asks whether a service tells what follows a block, which some do not. Throws `ApiError` (`unusable`) where it does not. */
export async function followable(http: Http, signal?: AbortSignal): Promise<void> {
  // the newest block may be gone by the time of the second question
  for (let left = 3; left > 0; left--) {
    const { slot, hash } = await readTip(http, signal);
    if (slot < 0 || await http.find(`/blocks/${hash}/next?count=1`, signal) !== undefined) return;
  }
  throw apiError(
    "unusable",
    `${http.where} does not tell which blocks follow another (/blocks/{hash}/next): its chain cannot be followed.`,
  );
}

/**
 * How many of some blocks, oldest first, are on the chain: all up to one of them. Looks at the newest first, goes back in steps
 * that double, and halves what is left.
 */
async function countOnChain(http: Http, blocks: readonly Given[], signal: AbortSignal): Promise<number> {
  let gone = blocks.length;
  let stands = gone;
  for (let step = 1; stands > 0; step *= 2) {
    if (await onChain(http, blocks[stands - 1]!, signal)) break;
    gone = stands - 1;
    stands = Math.max(0, gone - step + 1);
  }
  while (stands < gone) {
    const middle = Math.ceil((stands + gone) / 2);
    if (await onChain(http, blocks[middle - 1]!, signal)) stands = middle;
    else gone = middle - 1;
  }
  return stands;
}

/** Whether the chain has a block at its height. */
async function onChain(http: Http, { hash, height }: Given, signal: AbortSignal): Promise<boolean> {
  let number = height;
  if (number === undefined) {
    const found = await http.find(`/blocks/${hash}`, signal);
    if (found === undefined) return false;
    number = read(blockDocument, found, "a block").height;
  }
  const there = await http.find(`/blocks/${number}`, signal);
  return there !== undefined && read(blockDocument, there, "a block").hash === hash;
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError && error.failure.code === "absent") return undefined;
    throw error;
  }
}
