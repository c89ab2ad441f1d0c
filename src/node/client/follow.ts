/**
 * Following a node for as long as the caller wants: connects anew when the connection breaks, and goes on from where it was.
 *
 * Hypotheses: a node restarts, and its socket is away meanwhile; what another attempt cannot mend (another network, no common version, an
 * unknown era) is thrown; a broken connection is not the caller's concern, a rollback that happened meanwhile is.
 */
import { sleep } from "#src/base/clock.ts";
import { origin, type Point, samePoint } from "#src/cardano/block.ts";
import { connectNode, type ConnectOptions } from "#src/node/client/connection.ts";
import type { NodeAddress } from "#src/node/transport/dial.ts";
import { mayPass, NodeError, type NodeFailure } from "#src/node/errors.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";
import { Trail } from "#src/node/client/recentPoints.ts";

/** How to connect, and how patiently. */
export interface FollowOptions extends Omit<ConnectOptions, "signal"> {
  /** Milliseconds before the second attempt; each further one waits twice as long. 250 unless said otherwise. */
  readonly firstWait?: number;
  /** Milliseconds between attempts at the most; 30,000 unless said otherwise. */
  readonly longestWait?: number;
  /** Attempts in a row that may fail before the last failure is thrown; without it, no end. */
  readonly attempts?: number;
  /** Told of each connection that was made, and of each failure with the time until the next attempt. */
  readonly onState?: (state: FollowState) => void;
}

/** How following goes. */
export type FollowState =
  | { readonly type: "connected"; readonly version: number }
  | { readonly type: "disconnected"; readonly failure: NodeFailure; readonly retryIn: number };

/**
 * The chain's steps from the newest of `points` (newest first) that the node has, else from the origin. The first step is `backward` to
 * that point; after a new connection comes another `backward` where the node stands at another block than the last one given. Has a
 * connection of its own. Ends when the signal aborts; throws a `NodeError` that another attempt cannot mend.
 */
export async function* followNode(
  address: NodeAddress,
  options: FollowOptions,
  points: readonly Point[],
  signal: AbortSignal,
): AsyncGenerator<SyncStep, void, void> {
  const trail = new Trail(points);
  const { firstWait = 250, longestWait = 30_000, attempts = Infinity, onState } = options;
  let failures = 0;
  /** Where the caller stands; undefined until a step was given. */
  let given: Point | undefined;
  let begun = false;
  while (!signal.aborted) {
    const connected = await connectNode(address, { ...options, signal });
    let failure: NodeFailure;
    if (connected.ok) {
      const connection = connected.value;
      onState?.({ type: "connected", version: connection.version });
      try {
        let first = true;
        for await (const step of connection.follow(trail.points(), signal)) {
          // the first step of a new connection is told only where it leads elsewhere
          const same = first && step.type === "backward" && given !== undefined && samePoint(step.point, given);
          first = false;
          failures = 0;
          if (same) continue;
          trail.step(step);
          begun = true;
          yield step;
        }
        return;
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        failure = error.failure;
      } finally {
        connection.close();
      }
      if (begun) given = trail.points()[0] ?? origin;
    } else failure = connected.error;
    if (signal.aborted) return;
    // what was a node before is one that has not come up yet
    const passing = mayPass(failure.code) || (begun && failure.code === "not_a_node");
    if (!passing || ++failures >= attempts) throw new NodeError(failure);
    // half of it by chance: many followers of one node do not come back at once
    const wait = Math.min(longestWait, firstWait * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
    onState?.({ type: "disconnected", failure, retryIn: wait });
    await sleep(wait, signal);
  }
}
