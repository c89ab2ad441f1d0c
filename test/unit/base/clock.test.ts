import { expect, test, vi } from "vitest";
import { inTime, sleep } from "#src/base/clock.ts";

test("a value in time is returned, a late one is not, and a failure rejects", async () => {
  expect(await inTime(Promise.resolve(1), 1_000)).toBe(1);
  expect(await inTime(new Promise(() => {}), 5)).toBeUndefined();
  expect(await inTime(sleep(5).then(() => 2), -1)).toBeUndefined();
  await expect(inTime(Promise.reject(new Error("away")), 1_000)).rejects.toThrow("away");
});

test("a sleep of several signals ends with the first, and leaves no listener on the others", async () => {
  const [ending, waking] = [new AbortController(), new AbortController()];
  const listened = [ending, waking].map(({ signal }) => ({
    added: vi.spyOn(signal, "addEventListener"),
    removed: vi.spyOn(signal, "removeEventListener"),
  }));
  const sleeps = [sleep(60_000, ending.signal, waking.signal), sleep(60_000, undefined, waking.signal, ending.signal)];
  waking.abort();
  await Promise.all(sleeps);
  await sleep(60_000, ending.signal, waking.signal);
  await sleep(1, ending.signal);
  for (const { added, removed } of listened) {
    expect(added.mock.calls.length).toBeGreaterThan(1);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  }
});
