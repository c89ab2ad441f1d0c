/**
 * Following a chain on one connection: blocks are asked for ahead, and given one by one.
 *
 * Hypotheses: answers come in the order of the questions, so that after a rollback those that are still to come go on from it; nobody
 * asks for more blocks than there are up to the tip (a question beyond it stays open until the next block); a caller that is slow is
 * not sent more than it was going to take.
 */
import { origin, type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { ChainSyncMessage, ChainSyncState } from "#src/node/protocols/chainSync.ts";
import { asNodeError, NodeError, nodeError } from "#src/node/errors.ts";
import { heightOf } from "#src/node/client/header.ts";
import type { Desk } from "#src/node/transport/exclusive.ts";

/** One step of a followed chain. A `block` is the bytes of `[era tag, block]`, a slice of what came. */
export type SyncStep =
  | { readonly type: "forward"; readonly block: Uint8Array; readonly tip: Tip }
  | { readonly type: "backward"; readonly point: Point; readonly tip: Tip };

/** Blocks asked for ahead unless said otherwise. */
export const DEPTH = 100;
/** Bytes of blocks at hand above which no more are asked for. */
const AT_HAND = 4 * 2 ** 20;

/** Who follows on one connection. */
export interface Following {
  readonly desk: Desk<ChainSyncState, ChainSyncMessage>;
  /** Blocks asked for ahead at the most. */
  readonly depth: number;
  /** Ends the connection; gives the reason that stands. */
  readonly fail: (reason: NodeError) => NodeError;
}

/**
 * Follows from the newest of `points` (newest first) that the node has, else from the origin; the first step is `backward` to it. Ends
 * when the signal aborts; throws a `NodeError` when the connection ends or a block is of an unknown era. One caller follows at a time.
 */
export async function* follow(
  { desk, depth, fail }: Following,
  points: readonly Point[],
  signal: AbortSignal | undefined,
): AsyncGenerator<SyncStep, void, void> {
  const { speaker } = desk;
  let leave: (() => void) | undefined;
  try {
    leave = await desk.enter(signal);
    speaker.send({ type: "findIntersect", points: [...points.filter(({ slot }) => slot >= 0), origin] });
    const found = await speaker.receive(signal);
    if (found.type !== "intersectFound") {
      throw fail(nodeError("protocol_violation", "The node does not know the chain's origin."));
    }
    let { tip } = found;
    yield { type: "backward", point: found.point, tip };
    let begun = false;
    // answers that come without waiting, as far as is known: after a step back there is one block at least, unless that is the tip
    const afterBack = (point: Point) => samePoint(point, tip) ? 1 : 2;
    let left = afterBack(found.point);
    while (!signal?.aborted) {
      const wanted = Math.min(depth, left);
      if (speaker.outstanding <= wanted >> 1 && speaker.channel.buffered < AT_HAND) {
        while (speaker.outstanding < wanted) speaker.send({ type: "requestNext" });
      }
      const message = speaker.next() ?? await speaker.receive(signal);
      if (message.type === "rollForward") {
        begun = true;
        tip = message.tip;
        left = Math.max(1, tip.height - readHeight(message.block, fail));
        yield { type: "forward", block: message.block, tip };
      } else if (message.type === "rollBackward") {
        // the first answer repeats the intersection, which has been given
        const repeated = !begun && samePoint(message.point, found.point);
        begun = true;
        tip = message.tip;
        left = afterBack(message.point);
        if (!repeated) yield { type: "backward", point: message.point, tip };
      }
    }
  } catch (error) {
    if (error instanceof NodeError && error.code === "aborted" && signal?.aborted) return;
    throw error;
  } finally {
    if (leave) drain(desk).then(leave);
  }
}

/** Takes the answers to what was asked ahead: the next caller asks anew. */
async function drain({ speaker }: Desk<ChainSyncState, ChainSyncMessage>): Promise<void> {
  try {
    while (speaker.outstanding > 0) await speaker.receive();
  } catch {
    // the connection has ended, and whoever comes next is told why
  }
}

/** A block that cannot be read ends the connection for all, as any other error of the node's does. */
function readHeight(block: Uint8Array, fail: (reason: NodeError) => NodeError): number {
  try {
    return heightOf(block);
  } catch (error) {
    throw fail(asNodeError(error, "A block cannot be read"));
  }
}
