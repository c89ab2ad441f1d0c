import { setImmediate } from "node:timers";
import { expect, test } from "vitest";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { each, finish, inTurns, STEP_ITEMS, type Steps } from "#src/base/steps.ts";

test("stops after so many items, handles all of them in order, and gives the result at the end", () => {
  const items = Array.from({ length: 2 * STEP_ITEMS + 1 }, (_, i) => i);
  const handled: number[] = [];
  const steps = each(items, (item) => handled.push(item));
  const counts = [];
  do counts.push(handled.length); while (!steps.next().done);
  expect(counts).toEqual([0, STEP_ITEMS, 2 * STEP_ITEMS]);
  expect(handled).toEqual(items);
});

function* sum(upTo: number): Steps<number> {
  let sum = 0;
  yield* each(Array.from({ length: upTo }, (_, i) => i), (i) => sum += i);
  return sum;
}

test("gives the same at once and in turns", async () => {
  expect(finish(sum(3 * STEP_ITEMS))).toBe(await inTurns(sum(3 * STEP_ITEMS), new EventLoopPacer()));
});

test("lets other work run between two steps when the pacer is due", async () => {
  const seen: string[] = [];
  function* work(): Steps<void> {
    setImmediate(() => seen.push("other work"));
    seen.push("first step");
    yield;
    seen.push("second step");
  }
  await inTurns(work(), new EventLoopPacer(0));
  expect(seen).toEqual(["first step", "other work", "second step"]);
});

test("throws what a step throws", async () => {
  function* fails(): Steps<void> {
    yield;
    throw new Error("no");
  }
  expect(() => finish(fails())).toThrow("no");
  await expect(inTurns(fails(), new EventLoopPacer())).rejects.toThrow("no");
});
