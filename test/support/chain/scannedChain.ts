/** Following a provider that gives scanned blocks. */
import { expect } from "vitest";
import type { Point, ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { ChainPort, ChainStep } from "#src/chain/provider/port.ts";
import { until } from "../base/until.ts";

/** What following has given so far. */
export interface Following {
  readonly steps: ChainStep[];
  /** The chain that results from the steps. */
  readonly chain: ScannedBlock[];
  stop(): Promise<void>;
}

/** Follows, and keeps the chain that results from the steps; fails at a block that does not follow the one before. */
export function followScanned(
  port: Pick<ChainPort, "follow">,
  points: readonly Point[] = [],
  held: readonly ScannedBlock[] = [],
): Following {
  const controller = new AbortController();
  const steps: ChainStep[] = [];
  const chain = [...held];
  const done = (async () => {
    for await (const step of port.follow(points, controller.signal)) {
      steps.push(step);
      if (step.type === "scanned") {
        if (chain.length > 0) expect(step.block.previous).toBe(chain.at(-1)!.hash);
        expect(step.tip.height).toBeGreaterThanOrEqual(step.block.height);
        chain.push(step.block);
      } else if (step.type === "backward") {
        while (chain.length > 0 && chain.at(-1)!.slot > step.point.slot) chain.pop();
      } else throw new Error("no bytes of blocks are available");
    }
  })();
  return {
    steps,
    chain,
    stop: async () => {
      controller.abort();
      await done;
    },
  };
}

/** Waits until the chain ends with a block. */
export const reaches = (there: Following, tip: Tip): Promise<boolean> =>
  until(`the block at height ${tip.height}`, async () => (there.chain.at(-1)?.hash ?? "") === tip.hash);
