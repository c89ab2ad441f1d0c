/**
 * Follows a chain by polling a Blockfrost service: the newest block, the blocks after the last known one, their
 * transactions.
 *
 * Assumptions: the service pushes nothing, so a rollback shows as a missing block, a block with another parent, or
 * another hash at a known height. A block may be rolled back between two requests about it. Several machines may answer
 * for the service, one of them behind the others.
 */
import { sleep } from "#src/base/clock.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import type { Dialect, KnownBlock } from "#src/chain/provider/blockfrost/dialect.ts";
import { type BlockDocument, blockDocument, parse } from "#src/chain/provider/blockfrost/documents.ts";
import { blockfrostError, unless } from "#src/chain/provider/blockfrost/errors.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { mapParallel } from "#src/base/parallel.ts";
import type { KnownNetwork } from "#src/chain/provider/blockfrost/network.ts";
import type { ChainStep } from "#src/chain/provider/port.ts";

/** Blocks of one request. */
const PAGE = 100;
/** Blocks whose transactions are read ahead, and the number of parallel requests. */
const AHEAD = 16;
const PARALLEL = 4;

interface FollowSettings {
  readonly http: BlockfrostHttp;
  readonly dialect: Dialect;
  readonly known: KnownNetwork;
  /** Milliseconds between two polls of the newest block. */
  readonly pollMs: number;
  /** Hash of the block with which a new index begins; the chain's first block by default. */
  readonly from?: string | undefined;
}

/** The newest block; the origin if there is none. Throws `BlockfrostError`. */
export async function readTip(http: BlockfrostHttp, signal?: AbortSignal): Promise<Tip> {
  const newest = await http.find("/blocks/latest", signal);
  if (newest === undefined) return { ...origin, height: 0 };
  const { slot, hash, height } = parse(blockDocument, newest, "the newest block");
  return { slot, hash, height };
}

/**
 * The steps of the chain from the newest of `points` that is on it. Ends when the signal aborts; throws
 * `BlockfrostError`.
 */
export async function* followService(
  settings: FollowSettings,
  points: readonly Point[],
  signal: AbortSignal,
): AsyncGenerator<ChainStep, void, void> {
  const { http, dialect, known, pollMs } = settings;
  const { securityParameter: k } = known.network;
  /** Blocks that the caller has, oldest first. */
  let chain: KnownBlock[] = [...points].reverse().filter(({ slot }) => slot >= 0);
  chain = chain.slice(0, await countOnChain(http, chain, signal));
  const position = (): Point => {
    const { slot, hash } = chain.at(-1) ?? origin;
    return { slot, hash };
  };
  yield { type: "backward", point: position(), tip: await readTip(http, signal) };
  while (!signal.aborted) {
    const tip = await readTip(http, signal);
    const last = chain.at(-1);
    const next = tip.hash === position().hash ? [] : await blocksAfter(settings, last, tip, signal);
    if (
      next === "gone" ||
      (next.length === 0 && last && tip.hash !== last.hash && !await onChain(http, last, signal))
    ) {
      chain = chain.slice(0, await countOnChain(http, chain, signal));
      yield { type: "backward", point: position(), tip: await readTip(http, signal) };
      continue;
    }
    if (next.length === 0) {
      if (!last && tip.slot >= 0) {
        throw blockfrostError(
          "unusable",
          `${http.where} does not return the chain's first block: an index can only start at a later block.`,
        );
      }
      await sleep(pollMs, signal);
      continue;
    }
    for (let done = 0; done < next.length && !signal.aborted; done += AHEAD) {
      const some = next.slice(done, done + AHEAD);
      const blocks = await mapParallel(
        some,
        PARALLEL,
        (block) => unless(dialect.readBlock(block, known, signal), "absent"),
      );
      for (const [i, { slot, hash, height }] of some.entries()) {
        const block = blocks[i];
        if (!block) break;
        if (signal.aborted) return;
        chain.push({ slot, hash, height });
        yield { ...block, tip: height > tip.height ? { slot, hash, height } : tip };
      }
      if (blocks.includes(undefined)) break;
    }
    if (chain.length > 2 * k) chain = chain.slice(-k);
  }
}

/** The blocks after one, as far as each follows the previous; "gone" if the one is no longer on the chain. */
async function blocksAfter(
  { http, dialect, from }: FollowSettings,
  at: KnownBlock | undefined,
  tip: Tip,
  signal: AbortSignal,
): Promise<readonly BlockDocument[] | "gone"> {
  if (!at) {
    const first = await firstBlock(http, from, signal);
    return first ? [first] : [];
  }
  const blocks = await dialect.blocksAfter(at, tip, PAGE, signal);
  if (blocks === undefined) return "gone";
  let before = at.hash;
  const linked = blocks.findIndex(({ hash, previous_block }) => {
    const follows = previous_block === before;
    before = hash;
    return !follows;
  });
  if (linked === 0) return "gone";
  return linked < 0 ? blocks : blocks.slice(0, linked);
}

/**
 * The block with which a new index begins. The first block has number 0, or 1 after a Byron boundary block, which has
 * no number.
 */
async function firstBlock(
  http: BlockfrostHttp,
  from: string | undefined,
  signal: AbortSignal,
): Promise<BlockDocument | undefined> {
  if (from !== undefined) return await startBlock(http, from, signal);
  for (const number of [0, 1]) {
    const found = await http.find(`/blocks/${number}`, signal);
    if (found !== undefined) return parse(blockDocument, found, "a block");
  }
  return undefined;
}

/**
 * The block with which a new index is configured to begin.
 *
 * @throws BlockfrostError `refused` if the chain does not have it.
 */
export async function startBlock(http: BlockfrostHttp, from: string, signal?: AbortSignal): Promise<BlockDocument> {
  const found = await http.find(`/blocks/${from}`, signal);
  if (found !== undefined) return parse(blockDocument, found, "a block");
  throw blockfrostError("refused", `${http.where} does not know the block ${from}, at which the index should start.`);
}

/**
 * Checks that a service gives the blocks after another, which some do not.
 *
 * @throws BlockfrostError `unusable` if it does not.
 */
export async function requireFollowable(http: BlockfrostHttp, dialect: Dialect, signal?: AbortSignal): Promise<void> {
  // the newest block may be rolled back before the second request
  for (let left = 3; left > 0; left--) {
    const newest = await readTip(http, signal);
    if (newest.slot < 0 || await dialect.followable(newest, signal)) return;
  }
  throw blockfrostError(
    "unusable",
    `${http.where} does not return the next blocks (/blocks/{hash}/next), so its chain cannot be followed.`,
  );
}

/**
 * How many of some blocks, ordered oldest first, are on the chain: those up to some block are. Searches from the
 * newest, back in steps that double, then by bisection.
 */
async function countOnChain(http: BlockfrostHttp, blocks: readonly KnownBlock[], signal: AbortSignal): Promise<number> {
  /** Whether the last of so many blocks is on the chain. */
  const isThere = async (count: number) => {
    const block = blocks[count - 1];
    if (!block) throw new Error(`there is no block ${count} of ${blocks.length}`);
    return await onChain(http, block, signal);
  };
  let gone = blocks.length;
  let onChainCount = gone;
  for (let step = 1; onChainCount > 0; step *= 2) {
    if (await isThere(onChainCount)) break;
    gone = onChainCount - 1;
    onChainCount = Math.max(0, gone - step + 1);
  }
  while (onChainCount < gone) {
    const middle = Math.ceil((onChainCount + gone) / 2);
    if (await isThere(middle)) onChainCount = middle;
    else gone = middle - 1;
  }
  return onChainCount;
}

/** Whether the chain has a block at its height. */
async function onChain(http: BlockfrostHttp, { hash, height }: KnownBlock, signal: AbortSignal): Promise<boolean> {
  let number = height;
  if (number === undefined) {
    const found = await http.find(`/blocks/${hash}`, signal);
    if (found === undefined) return false;
    number = parse(blockDocument, found, "a block").height;
  }
  const there = await http.find(`/blocks/${number}`, signal);
  return there !== undefined && parse(blockDocument, there, "a block").hash === hash;
}
