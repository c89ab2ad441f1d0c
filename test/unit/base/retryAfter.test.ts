import { expect, it } from "vitest";
import { retryAfterMs } from "#src/base/retryAfter.ts";

it.each([
  ["0", 0],
  ["120", 120_000],
  [" 3 ", 3_000],
  ["99999999999999999999", 2 ** 31 - 1],
  ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
  ["soon", undefined],
  ["", undefined],
  [null, undefined],
  [undefined, undefined],
])("Retry-After: %s is %s ms", (value, ms) => expect(retryAfterMs(value)).toBe(ms));

it("a date is converted to the time until it", () => {
  const ms = retryAfterMs(new Date(Date.now() + 60_000).toUTCString())!;
  expect(ms).toBeGreaterThan(50_000);
  expect(ms).toBeLessThanOrEqual(60_000);
});
