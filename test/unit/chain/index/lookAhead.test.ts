/** Look-ahead: order, rollbacks of waiting steps, bounds, and the end. */
import { describe, expect, it } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { origin } from "#src/cardano/block.ts";
import { LookAhead } from "#src/chain/index/lookAhead.ts";
import type { ChainStep } from "#src/chain/provider/port.ts";
import { MemoryChain } from "../../../support/chain/memoryChain.ts";

const chain = new MemoryChain();
for (let i = 0; i < 3_000; i++) chain.add();
const forward = (height: number): ChainStep => ({
  type: "forward",
  block: chain.blocks[height]!.bytes,
  tip: chain.tip,
});
const back = (height: number): ChainStep => ({
  type: "backward",
  point: height < 0 ? origin : chain.blocks[height]!.scanned,
  tip: chain.tip,
});

/** A source that gives steps on demand. */
function source() {
  const steps: ChainStep[] = [];
  let given = 0;
  let idle = false;
  let failure: Error | undefined;
  return {
    /** Gives steps, and waits until the reader requests more, or for a while, since it may wait for capacity. */
    push: async (...more: ChainStep[]) => {
      steps.push(...more);
      idle = false;
      for (let waited = 0; waited < 300 && !idle; waited++) await sleep(1);
    },
    fail: (error: Error) => failure = error,
    given: () => given,
    async *read(): AsyncIterable<ChainStep> {
      for (;;) {
        if (steps[given]) yield steps[given++]!;
        else if (failure) throw failure;
        else {
          idle = true;
          await sleep(1);
        }
      }
    },
  };
}

const heights = (ahead: LookAhead) => ahead.blocks(100).map(({ block }) => block.height - 1);

describe("look-ahead", () => {
  it("removes rolled-back steps, but none that are being applied", async () => {
    const stop = new AbortController();
    const from = source();
    const ahead = new LookAhead(from.read(), () => [], stop.signal);
    await from.push(forward(0), forward(1), forward(2), forward(3));
    expect(heights(ahead)).toEqual([0, 1, 2, 3]);
    ahead.begin(2);
    await from.push(back(0), forward(1));
    // the first two are being applied, so the rollback to the first is given
    expect(heights(ahead)).toEqual([0, 1]);
    ahead.done(2);
    expect(ahead.first).toMatchObject({ type: "backward", point: { slot: 1 } });
    ahead.done(1);
    expect(heights(ahead)).toEqual([1]);
    await from.push(forward(2), back(-1), forward(0));
    expect(ahead.first?.type).toBe("backward");
    stop.abort();
  });

  it("waits while much is buffered, and continues when it is taken", async () => {
    const stop = new AbortController();
    const from = source();
    const ahead = new LookAhead(from.read(), () => [], stop.signal);
    await from.push(...chain.blocks.map((_, height) => forward(height)));
    for (let last = -1; last !== from.given(); await sleep(50)) last = from.given();
    expect(from.given()).toBeLessThan(2_100);
    ahead.done(1_000);
    for (let last = -1; last !== from.given(); await sleep(50)) last = from.given();
    expect(from.given()).toBeGreaterThan(2_900);
    stop.abort();
  });

  it("gives the steps before the source failed, then the failure", async () => {
    const from = source();
    const ahead = new LookAhead(from.read(), () => [], new AbortController().signal);
    await from.push(forward(0));
    from.fail(new Error("the connection is lost"));
    const more = ahead.more();
    expect(ahead.first?.type).toBe("forward");
    ahead.done(1);
    await more;
    expect(() => ahead.first).toThrow("the connection is lost");
  });

  it("fails for bytes that are not a block", async () => {
    const from = source();
    const ahead = new LookAhead(from.read(), () => [], new AbortController().signal);
    await from.push(forward(0), { type: "forward", block: new Uint8Array([1]), tip: chain.tip });
    ahead.done(1);
    expect(() => ahead.first).toThrow();
  });
});
