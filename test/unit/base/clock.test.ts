import { expect, test } from "vitest";
import { inTime, sleep } from "#src/base/clock.ts";

test("a value in time is returned, a late one is not, and a failure rejects", async () => {
  expect(await inTime(Promise.resolve(1), 1_000)).toBe(1);
  expect(await inTime(new Promise(() => {}), 5)).toBeUndefined();
  expect(await inTime(sleep(5).then(() => 2), -1)).toBeUndefined();
  await expect(inTime(Promise.reject(new Error("away")), 1_000)).rejects.toThrow("away");
});
