import { expect, it, vi } from "vitest";
import type { Cursor } from "#src/chain/index/cursor.ts";
import { blockWaiter } from "#src/tokens/http/wait.ts";

const cursor = (height: number): Cursor => ({
  at: { slot: height, hash: "", height },
  networkTip: { slot: height, height },
});

it("reads once for all who wait for blocks, and no more after the last of them", async () => {
  vi.useFakeTimers();
  try {
    let height = 7;
    const read = vi.fn(() => Promise.resolve(cursor(height)));
    const wait = blockWaiter(read, 5_000, () => Promise.resolve(-1));
    const gone = new AbortController();
    const dropped = Promise.allSettled(Array.from({ length: 20 }, () => wait(1_000, gone.signal)));
    const kept = wait(2, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(1_000);
    const looks = read.mock.calls.length;
    // 21 first reads, and 20 a second for all together.
    expect(looks).toBeLessThan(50);
    gone.abort();
    height = 9;
    await vi.advanceTimersByTimeAsync(100);
    expect(await kept).toEqual({ height: 9 });
    for (const one of await dropped) expect(one).toMatchObject({ reason: { code: "client_gone" } });
    read.mockClear();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(read).not.toHaveBeenCalled();
    const late = expect(wait(1, new AbortController().signal)).rejects.toMatchObject({ code: "wait_too_long" });
    await vi.advanceTimersByTimeAsync(6_000);
    await late;
  } finally {
    vi.useRealTimers();
  }
});

it("counts from the network's tip, where the index is behind it", async () => {
  vi.useFakeTimers();
  try {
    let height = 7;
    const wait = blockWaiter(() => Promise.resolve(cursor(height)), 60_000, () => Promise.resolve(10));
    let done: unknown;
    void wait(2, new AbortController().signal).then((answer) => done = answer);
    height = 11;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toBeUndefined();
    height = 12;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toEqual({ height: 12 });
  } finally {
    vi.useRealTimers();
  }
});
