import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { together } from "#src/store/together.ts";

test("gives all results in order", async () => {
  expect(await together([Promise.resolve(1), "two", setImmediate(3)])).toEqual([1, "two", 3]);
});

test("fails only when nothing goes on any more", async () => {
  const seen: string[] = [];
  const slow = async () => {
    await setImmediate();
    await setImmediate();
    seen.push("the other ended");
  };
  await together([Promise.reject(new Error("first")), slow()]).catch(({ message }: Error) => seen.push(message));
  expect(seen).toEqual(["the other ended", "first"]);
});
