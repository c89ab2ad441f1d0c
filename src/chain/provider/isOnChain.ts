/** Whether the network has a block: the index keeps only the blocks of the last hours. */
import { type Point, samePoint } from "#src/cardano/block.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";

/**
 * Whether the network's chain contains a block; false as well where it does not answer within `ms` milliseconds.
 */
export async function isOnChain(port: Pick<ChainPort, "follow">, point: Point, ms: number): Promise<boolean> {
  const steps = port.follow([point], AbortSignal.timeout(ms))[Symbol.asyncIterator]();
  try {
    const { value, done } = await steps.next();
    return !done && value.type === "backward" && samePoint(value.point, point);
  } finally {
    void steps.return?.().catch(() => {});
  }
}
