/**
 * Chain synchronisation: a cursor on the devnet's chain.
 *
 * A new cursor stands at the origin. The first `nextBlock` after it was placed goes back to its point, the others go
 * forward, and back after a rollback. At the tip one waits for a block.
 */
import { type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { RawStep } from "#src/chain/provider/port.ts";
import { toJson } from "#src/base/json.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { Answer } from "#src/devnet/serve/ogmios/envelope.ts";
import { DevnetLost, type Protocol } from "#src/devnet/serve/ogmios/method.ts";
import { ogmiosError } from "#src/ogmios/errors.ts";
import { listOf } from "#src/ogmios/form.ts";
import { pointJson, readPoint, tipJson } from "#src/ogmios/values.ts";

/** The chain that is synchronised. */
export interface SyncedChain {
  /** The steps from a point on, which is the first step's if the chain has it. */
  follow(points: readonly Point[], signal: AbortSignal): AsyncIterable<RawStep>;
  /** The first of some points that is on the chain, and the tip. */
  firstOf(points: readonly Point[]): Promise<{ readonly found: Point | undefined; readonly tip: Tip }>;
  /** JSON text of a block. */
  blockText(bytes: Uint8Array): string;
}

const INTERLEAVED = ogmiosError(
  1001,
  "Cannot interleave 'findIntersection' requests with 'nextBlock'. Note that you should never face this error. If you do, please open an issue.",
);

/** The cursor of a client. */
export function chainSync(chain: SyncedChain, signal: AbortSignal): Protocol {
  const pace = new EventLoopPacer();
  let cursor: Cursor | undefined;
  /** Requests for a block without an answer. */
  let requested = 0;

  const findIntersection = async (points: readonly Point[]): Promise<Answer> => {
    const { found, tip } = await chain.firstOf(points);
    if (!found) return { error: ogmiosError(1000, "No intersection found.", { tip: tipJson(tip) }) };
    cursor?.close();
    cursor = new Cursor(chain, found, signal);
    const first = await cursor.first();
    if (first.type !== "backward" || !samePoint(first.point, found)) {
      // undone since it was found
      cursor.close();
      cursor = undefined;
      return await findIntersection(points);
    }
    return { result: { intersection: pointJson(found), tip: tipJson(first.tip) } };
  };

  const nextBlock = async (): Promise<Answer> => {
    try {
      await pace.step();
      cursor ??= new Cursor(chain, ORIGIN, signal);
      const step = await cursor.next();
      const tip = toJson(tipJson(step.tip));
      return {
        resultText: step.type === "forward"
          ? `{"direction":"forward","block":${chain.blockText(step.block)},"tip":${tip}}`
          : `{"direction":"backward","point":${toJson(pointJson(step.point))},"tip":${tip}}`,
      };
    } finally {
      requested--;
    }
  };

  return {
    methods: {
      findIntersection: ({ points }) => {
        const read = listOf(points, "field 'points'").map(readPoint);
        return requested > 0 ? { now: { error: INTERLEAVED } } : { run: () => findIntersection(read) };
      },
      nextBlock: () => {
        requested++;
        return { run: nextBlock };
      },
    },
    close: () => cursor?.close(),
  };
}

const ORIGIN: Point = { slot: -1, hash: "" };

/** The steps from a point on. */
class Cursor {
  readonly #controller = new AbortController();
  readonly #steps: AsyncIterator<RawStep>;
  /** The first step, if it was read and not yet taken. */
  #first: RawStep | undefined;

  constructor(chain: Pick<SyncedChain, "follow">, point: Point, ended: AbortSignal) {
    const signal = AbortSignal.any([ended, this.#controller.signal]);
    this.#steps = chain.follow([point], signal)[Symbol.asyncIterator]();
  }

  /** The step to the point; the next one stays the same. */
  async first(): Promise<RawStep> {
    return this.#first ??= await this.#read();
  }

  async next(): Promise<RawStep> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? await this.#read();
  }

  close(): void {
    this.#controller.abort();
    // a waiting generator ends with the signal; nothing needs its result
    this.#steps.return?.().catch(() => {});
  }

  async #read(): Promise<RawStep> {
    const { value, done } = await this.#steps.next();
    if (done) throw new DevnetLost("The chain's steps have ended.");
    return value;
  }
}
