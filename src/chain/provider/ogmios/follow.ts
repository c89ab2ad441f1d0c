/**
 * Follows the chain of an Ogmios server across connections.
 *
 * Assumptions: a server restarts, and answers of a connection are in the order of the requests. Blocks are requested
 * ahead only as far as the caller takes them, and not beyond the tip: a request there stays open until the next block.
 * A block is given only if it follows the one before, so what a server gets wrong ends the connection, and the next one
 * intersects at the last block that was right. A rollback of any depth is given: the caller knows how deep it may be.
 */
import { sleep } from "#src/base/clock.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { origin, type Point, samePoint, type ScannedBlock, type Tip } from "#src/cardano/block.ts";
import type { Answer, OgmiosConnection } from "#src/chain/provider/ogmios/connection.ts";
import {
  asOgmiosError,
  isTransient,
  OgmiosError,
  ogmiosError,
  type OgmiosFailure,
  ServerError,
} from "#src/chain/provider/ogmios/errors.ts";
import { mapInSteps } from "#src/chain/provider/ogmios/steps.ts";
import type { ChainStep } from "#src/chain/provider/port.ts";
import { RecentPoints } from "#src/node/client/recentPoints.ts";
import { ERA_TEXTS } from "#src/ogmios/block.ts";
import { isGiven, listOf, objectOf, OgmiosFormError } from "#src/ogmios/form.ts";
import { readBlock } from "#src/ogmios/readBlock.ts";
import { readTransaction } from "#src/ogmios/readTransaction.ts";
import { pointJson, readPoint, readTip as readTipJson } from "#src/ogmios/values.ts";

/** Blocks requested ahead. */
const DEPTH = 100;
/** Characters of answers that wait above which no more blocks are requested. */
const MAX_WAITING = 8_000_000;
/** Milliseconds at the tip after which a silent server is queried for it. */
const QUIET_MS = 20_000;
/** The server's code for points of which its chain has none. */
const NO_INTERSECTION = 1000;

export interface FollowSettings {
  /** Connects to the server. Throws what `asOgmiosError` reads. */
  readonly connect: (signal: AbortSignal) => Promise<OgmiosConnection>;
  /** The server, for messages. */
  readonly where: string;
  /** The block after which a new index begins; the origin by default. */
  readonly from?: Point | undefined;
  /** Milliseconds before the second attempt to connect; 250 by default. Each further wait is twice as long. */
  readonly firstWaitMs?: number;
  /** Milliseconds between two attempts at most. */
  readonly longestWaitMs: number;
  /** Milliseconds at the tip after which a silent server is queried for it; 20,000 by default. */
  readonly quietMs?: number;
  readonly onState?: (state: FollowState) => void;
}

/** State of following. */
export type FollowState =
  | { readonly type: "connected" }
  | { readonly type: "disconnected"; readonly failure: OgmiosFailure; readonly retryIn: number };

type Step = Exclude<ChainStep, { readonly type: "forward" }>;

/** The newest block in an answer; at the origin its height is 0. @throws OgmiosFormError */
export function tipOf(json: Json | undefined): Tip {
  const tip = readTipJson(json);
  return tip.slot < 0 ? { ...origin, height: 0 } : tip;
}

/**
 * The chain's steps from the newest of `points` (newest first) that the server has; see `ChainPort.follow`. A new
 * connection adds a `backward` step only if the server intersects at another block than the last one given.
 *
 * @throws OgmiosError that another attempt cannot fix
 */
export async function* followServer(
  settings: FollowSettings,
  points: readonly Point[],
  signal: AbortSignal,
): AsyncGenerator<Step, void, void> {
  const { firstWaitMs = 250, longestWaitMs, onState } = settings;
  const recent = new RecentPoints<ScannedBlock>(points, (block) => block);
  let failures = 0;
  /** The point of the last step; undefined before the first. */
  let given: Point | undefined;
  while (!signal.aborted) {
    let failure: OgmiosFailure;
    try {
      const connection = await settings.connect(signal);
      onState?.({ type: "connected" });
      try {
        let first = true;
        for await (const step of followOnConnection(connection, settings, recent.points(), signal)) {
          const same = first && step.type === "backward" && given !== undefined && samePoint(step.point, given);
          first = false;
          // a server that only intersects has not yet shown that it works
          if (step.type === "scanned") failures = 0;
          if (same) continue;
          if (step.type === "backward") recent.rollBack(step.point);
          else recent.add(step.block);
          given = step.type === "backward" ? step.point : { slot: step.block.slot, hash: step.block.hash };
          yield step;
        }
        return;
      } finally {
        connection.close();
      }
    } catch (error) {
      ({ failure } = asOgmiosError(error, `Ogmios at ${settings.where}`));
    }
    if (signal.aborted) return;
    if (!isTransient(failure.code)) throw new OgmiosError(failure);
    // half of the wait is random, so that many followers of a server do not reconnect at once
    const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** failures++) * (0.5 + Math.random() / 2);
    onState?.({ type: "disconnected", failure, retryIn: wait });
    await sleep(wait, signal);
  }
}

/** The point from which a connection gives the chain. */
async function intersect(
  connection: OgmiosConnection,
  points: readonly Point[],
  from: Point | undefined,
  signal: AbortSignal,
): Promise<{ readonly point: Point; readonly tip: Tip }> {
  const candidates = [...points.filter(({ slot }) => slot >= 0), from ?? origin];
  const answer = await connection.request("findIntersection", { points: candidates.map(pointJson) }, signal)
    .catch((error) => {
      if (!(error instanceof ServerError) || error.number !== NO_INTERSECTION) throw error;
      if (!from) {
        throw connection.fail(
          ogmiosError("unusable", `Ogmios at ${connection.where} does not know the chain's origin.`),
        );
      }
      throw ogmiosError(
        "unknown_start",
        `Ogmios at ${connection.where} does not know the block ${from.hash} at slot ${from.slot}, after which the index should start.`,
      );
    });
  const { intersection, tip } = objectOf(answer, "the intersection");
  const found = { point: readPoint(intersection), tip: tipOf(tip) };
  if (!candidates.some((point) => samePoint(point, found.point))) {
    throw ogmiosError("unusable", `Ogmios at ${connection.where} intersected at a point that was not in the request.`);
  }
  return found;
}

async function* followOnConnection(
  connection: OgmiosConnection,
  { from, quietMs = QUIET_MS }: FollowSettings,
  points: readonly Point[],
  signal: AbortSignal,
): AsyncGenerator<Step, void, void> {
  const found = await intersect(connection, points, from, signal);
  let { tip } = found;
  let at: Tip | Point = found.point;
  // before the block after which it begins, an index has none
  const start = from && samePoint(at, from) && !points.some((point) => samePoint(point, at)) ? origin : at;
  yield { type: "backward", point: start, tip };
  const requests = new Requests(connection);
  let begun = false;
  // blocks known to exist between here and the tip; after a step back at least one, unless that is the tip
  const afterBack = (point: Point) => samePoint(point, tip) ? 1 : 2;
  let remaining = afterBack(at);
  while (!signal.aborted) {
    requests.fill(Math.min(DEPTH, remaining));
    const answer = await requests.next(quietMs, at, signal);
    const { direction, block, point: to, tip: newest } = objectOf(answer, "the next block");
    tip = tipOf(newest);
    if (direction === "forward") {
      begun = true;
      requireKnownEra(block);
      const scanned = await readInSteps(block, at);
      const wrong = problemOf(scanned, at, tip);
      if (wrong !== undefined) {
        throw ogmiosError("unusable", `Ogmios at ${connection.where} is not consistent: ${wrong}.`);
      }
      at = { slot: scanned.slot, hash: scanned.hash, height: scanned.height };
      remaining = Math.max(1, tip.height - scanned.height);
      yield { type: "scanned", block: scanned, tip };
    } else if (direction === "backward") {
      const point = readPoint(to);
      // the first answer repeats the intersection
      const repeated = !begun && samePoint(point, found.point);
      begun = true;
      remaining = afterBack(point);
      if (repeated) continue;
      if (point.slot > at.slot || point.slot > tip.slot) {
        throw ogmiosError(
          "unusable",
          `Ogmios at ${connection.where} is not consistent: it rolls back to a later slot.`,
        );
      }
      at = point;
      yield { type: "backward", point, tip };
    } else throw new OgmiosFormError("its direction is neither forward nor backward");
  }
}

/** Throws `OgmiosError` `era_unknown` for a block of an era that came after those that are read here. */
function requireKnownEra(block: Json | undefined): void {
  const era = isObject(block) ? block.era : undefined;
  if (typeof era !== "string" || ERA_TEXTS.some((known) => known === era)) return;
  throw ogmiosError("era_unknown", `blocks of the era ${era.slice(0, 40)} are not known to this release`);
}

/** The block after a point. Without CBOR its transactions are encoded one by one, which takes long for a full block. */
async function readInSteps(json: Json | undefined, at: Point): Promise<ScannedBlock> {
  const block = objectOf(json, "the block");
  const header = readBlock({ ...block, transactions: [] }, at);
  const transactions = await mapInSteps(
    isGiven(block.transactions) ? listOf(block.transactions, "transactions") : [],
    (transaction, index) => readTransaction(transaction, index, header.era),
  );
  return { ...header, transactions };
}

/** Why a block cannot be the one after a point, or not with this tip. */
function problemOf({ slot, hash, height, previous, era }: ScannedBlock, at: Tip | Point, tip: Tip): string | undefined {
  const name = `block ${hash} at height ${height}`;
  if (tip.height < height || tip.slot < slot) return `${name} is after the tip at height ${tip.height}`;
  if (tip.height === height && tip.hash !== hash) return `${name} is another than the tip of that height`;
  if (at.slot < 0) return undefined;
  if (previous !== at.hash) return `${name} does not follow ${at.hash}`;
  // a boundary block of Byron shares its slot with the next one, and its height with the one before
  if (slot < at.slot || (slot === at.slot && era > 1)) return `${name} is at slot ${slot}, not after ${at.slot}`;
  if (era > 1 && "height" in at && height !== at.height + 1) return `${name} follows height ${at.height}`;
  return undefined;
}

/** Requests of blocks that are not answered yet, or whose answers were not taken. */
class Requests {
  readonly #answers: Promise<Answer>[] = [];
  #waiting = 0;

  constructor(private readonly connection: OgmiosConnection) {}

  /** Requests further blocks, up to so many at a time, unless many characters of answers wait. */
  fill(target: number): void {
    if (this.#answers.length > target >> 1 || this.#waiting >= MAX_WAITING) return;
    while (this.#answers.length < target) {
      const answer = this.connection.send("nextBlock");
      answer.then(({ size }) => this.#waiting += size, () => {});
      this.#answers.push(answer);
    }
  }

  /**
   * The next answer. A server that is silent for long is queried for its tip: if it does not answer that either, or is
   * past `at` and still gives no block, the connection has ended.
   */
  async next(quietMs: number, at: Tip | Point, signal: AbortSignal): Promise<Json> {
    const next = this.#answers.shift();
    if (!next) throw new Error("no block was requested");
    for (let behind = false;;) {
      const answer = await firstOf(next, quietMs, signal);
      if (answer) {
        this.#waiting -= answer.size;
        return answer.result;
      }
      if (signal.aborted) throw ogmiosError("aborted", "following was stopped");
      const tip = readPoint(await this.connection.request("queryNetwork/tip", undefined, signal));
      const isBehind = !samePoint(tip, at);
      if (isBehind && behind) {
        throw ogmiosError(
          "unreachable",
          `Ogmios at ${this.connection.where} gives no block after slot ${at.slot}, and its tip is at slot ${tip.slot}.`,
        );
      }
      behind = isBehind;
    }
  }
}

/** An answer; undefined if it does not come within so many milliseconds, or the signal aborts before. */
async function firstOf(answer: Promise<Answer>, ms: number, signal: AbortSignal): Promise<Answer | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([answer, sleep(ms, AbortSignal.any([signal, settled.signal])).then(() => undefined)]);
  } finally {
    settled.abort();
  }
}
