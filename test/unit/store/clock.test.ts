/** A clock that follows another one by readings of it. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { FollowingClock } from "#src/store/clock.ts";

it("is within half of the fastest reading's time of the other clock, whatever the local clock shows", () => {
  fc.assert(fc.property(
    fc.integer({ min: 0, max: 2_000_000_000_000 }),
    fc.array(
      fc.record({ pause: fc.nat(5_000), there: fc.nat(2_000), back: fc.nat(2_000) }),
      { minLength: 1, maxLength: 30 },
    ),
    (start, readings) => {
      let elapsed = 0;
      const clock = new FollowingClock(() => elapsed + 77);
      let bound = Infinity;
      for (const { pause, there, back } of readings) {
        elapsed += pause;
        const readAt = elapsed + 77;
        elapsed += there;
        const reading = start + elapsed;
        elapsed += back;
        clock.observe(reading, readAt, elapsed + 77);
        bound = Math.min(bound, there + back);
        expect(Math.abs(clock.now() - (start + elapsed))).toBeLessThanOrEqual(bound + 1);
      }
    },
  ));
});

it("moves with a clock that is set, and ignores a slow reading", () => {
  let now = 0;
  const clock = new FollowingClock(() => now);
  expect(() => clock.now()).toThrow("not been read yet");
  clock.observe(1_000_000, 0, 0);
  now = 5_000;
  clock.observe(1_004_000, 0, 5_000);
  expect(clock.now()).toBe(1_005_000);
  clock.observe(9_000_000, 5_000, 5_000);
  expect(clock.now()).toBe(9_000_000);
  clock.observe(1_005_000, 5_000, 5_000);
  expect(clock.now()).toBe(1_005_000);
});
