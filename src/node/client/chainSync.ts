/**
 * Client of chain-sync: requests blocks ahead on one connection, and gives them one by one.
 *
 * Assumptions: answers arrive in the order of the requests, so after a rollback those still outstanding follow from it.
 * No more blocks are requested than there are up to the tip, since a request beyond the tip stays open until the next
 * block. A slow caller is not sent more than it is about to take.
 */
import { origin, type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { ChainSyncMessage, ChainSyncState } from "#src/node/protocols/chainSync.ts";
import { asNodeError, NodeError, nodeError } from "#src/node/errors.ts";
import { heightOf } from "#src/node/client/header.ts";
import type { ExclusiveProtocol } from "#src/node/transport/exclusiveProtocol.ts";

/** A step of a followed chain. A `block` is the bytes of `[era tag, block]`, a slice of the received message. */
export type SyncStep =
  | { readonly type: "forward"; readonly block: Uint8Array; readonly tip: Tip }
  | { readonly type: "backward"; readonly point: Point; readonly tip: Tip };

/** Blocks requested ahead by default. */
export const DEFAULT_DEPTH = 100;
/** Bytes of waiting blocks above which no more are requested. */
const MAX_WAITING_BYTES = 4 * 2 ** 20;

/** What following needs of a connection. */
interface FollowContext {
  readonly protocol: ExclusiveProtocol<ChainSyncState, ChainSyncMessage>;
  /** Blocks requested ahead at most. */
  readonly depth: number;
  /** Ends the connection; gives the reason that counts, which is the first one. */
  readonly fail: (reason: NodeError) => NodeError;
}

/**
 * Follows from the newest of `points` (newest first) that the node has, else from the origin; the first step is
 * `backward` to that point. Ends when the signal aborts. One caller follows at a time.
 *
 * @throws NodeError when the connection ends or a block is of an unknown era
 */
export async function* followOnConnection(
  { protocol, depth, fail }: FollowContext,
  points: readonly Point[],
  signal: AbortSignal | undefined,
): AsyncGenerator<SyncStep, void, void> {
  const { speaker } = protocol;
  let leave: (() => void) | undefined;
  try {
    leave = await protocol.enter(signal);
    speaker.send({ type: "findIntersect", points: [...points.filter(({ slot }) => slot >= 0), origin] });
    const found = await speaker.receive(signal);
    if (found.type !== "intersectFound") {
      throw fail(nodeError("protocol_violation", "The node does not know the chain's origin."));
    }
    let { tip } = found;
    yield { type: "backward", point: found.point, tip };
    let begun = false;
    // blocks known to exist between here and the tip: after a step back at least one, unless that is the tip
    const afterBack = (point: Point) => samePoint(point, tip) ? 1 : 2;
    let remaining = afterBack(found.point);
    while (!signal?.aborted) {
      const target = Math.min(depth, remaining);
      if (speaker.outstanding <= target >> 1 && speaker.channel.buffered < MAX_WAITING_BYTES) {
        while (speaker.outstanding < target) speaker.send({ type: "requestNext" });
      }
      const message = speaker.next() ?? await speaker.receive(signal);
      if (message.type === "rollForward") {
        begun = true;
        tip = message.tip;
        remaining = Math.max(1, tip.height - readHeight(message.block, fail));
        yield { type: "forward", block: message.block, tip };
      } else if (message.type === "rollBackward") {
        // the first answer repeats the intersection
        const repeated = !begun && samePoint(message.point, found.point);
        begun = true;
        tip = message.tip;
        remaining = afterBack(message.point);
        if (!repeated) yield { type: "backward", point: message.point, tip };
      }
    }
  } catch (error) {
    if (error instanceof NodeError && error.code === "aborted" && signal?.aborted) return;
    throw error;
  } finally {
    if (leave) drain(protocol).then(leave);
  }
}

/** Receives the outstanding answers, so that the next caller can begin. */
async function drain({ speaker }: ExclusiveProtocol<ChainSyncState, ChainSyncMessage>): Promise<void> {
  try {
    while (speaker.outstanding > 0) await speaker.receive();
  } catch {
    // the connection has ended; the next caller gets the reason
  }
}

/** A block's height. A block that cannot be read ends the connection, like any other error of the node. */
function readHeight(block: Uint8Array, fail: (reason: NodeError) => NodeError): number {
  try {
    return heightOf(block);
  } catch (error) {
    throw fail(asNodeError(error, "A block cannot be read"));
  }
}
