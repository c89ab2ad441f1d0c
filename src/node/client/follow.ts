/**
 * Follows a node across connections: reconnects when the connection breaks, and continues where it was.
 *
 * Assumptions: a node restarts, and its socket is gone meanwhile. Failures that another attempt cannot fix (another
 * network, no common version, an unknown era) are thrown. The caller does not see a broken connection, but it does see
 * a rollback that happened meanwhile.
 */
import { sleep } from "#src/base/clock.ts";
import { origin, type Point, samePoint } from "#src/cardano/block.ts";
import { connectNode, type ConnectOptions } from "#src/node/client/connection.ts";
import type { NodeAddress } from "#src/node/transport/dial.ts";
import { isTransient, NodeError, type NodeFailure } from "#src/node/errors.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";
import { readHeader } from "#src/node/client/header.ts";
import { RecentPoints } from "#src/node/client/recentPoints.ts";

/** Options of a connection, and of reconnecting. */
interface NodeFollowOptions extends Omit<ConnectOptions, "signal"> {
  /** Milliseconds before the second attempt; 250 by default. Each further wait is twice as long. */
  readonly firstWaitMs?: number;
  /** Milliseconds between two attempts at most; 30,000 by default. */
  readonly longestWaitMs?: number;
  /** Consecutive attempts that may fail before the last failure is thrown; unlimited by default. */
  readonly attempts?: number;
  /** Called for each new connection, and for each failure with the time until the next attempt. */
  readonly onState?: (state: FollowState) => void;
}

/** State of following. */
export type FollowState =
  | { readonly type: "connected"; readonly version: number }
  | { readonly type: "disconnected"; readonly failure: NodeFailure; readonly retryIn: number };

/**
 * The chain's steps from the newest of `points` (newest first) that the node has, else from the origin. The first step
 * is `backward` to that point; a new connection adds another `backward` step only if the node intersects at another
 * block than the last one given. Uses its own connection. Ends when the signal aborts.
 *
 * @throws NodeError that another attempt cannot fix
 */
export async function* followNode(
  address: NodeAddress,
  options: NodeFollowOptions,
  points: readonly Point[],
  signal: AbortSignal,
): AsyncGenerator<SyncStep, void, void> {
  const recent = new RecentPoints(points, readHeader);
  const { firstWaitMs = 250, longestWaitMs = 30_000, attempts = Infinity, onState } = options;
  let failures = 0;
  /** The point of the last step; undefined before the first. */
  let given: Point | undefined;
  let started = false;
  while (!signal.aborted) {
    const connected = await connectNode(address, { ...options, signal });
    let failure: NodeFailure;
    if (connected.ok) {
      const connection = connected.value;
      onState?.({ type: "connected", version: connection.version });
      try {
        let first = true;
        for await (const step of connection.follow(recent.points(), signal)) {
          // the first step of a new connection is given only if it leads elsewhere
          const same = first && step.type === "backward" && given !== undefined && samePoint(step.point, given);
          first = false;
          failures = 0;
          if (same) continue;
          if (step.type === "forward") recent.add(step.block);
          else recent.rollBack(step.point);
          started = true;
          yield step;
        }
        return;
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        failure = error.failure;
      } finally {
        connection.close();
      }
      if (started) given = recent.points()[0] ?? origin;
    } else failure = connected.error;
    if (signal.aborted) return;
    // something else than a node answers at an address where a node was: the node may not be up yet
    const passing = isTransient(failure.code) || (started && failure.code === "not_a_node");
    if (!passing || ++failures >= attempts) throw new NodeError(failure);
    // half of the wait is random, so that many followers of a node do not reconnect at once
    const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
    onState?.({ type: "disconnected", failure, retryIn: wait });
    await sleep(wait, signal);
  }
}
