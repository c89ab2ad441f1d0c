/** Lists that are written in pieces are the same JSON as lists that are written at once. */
import { expect, it } from "vitest";
import { toJson } from "#src/base/json.ts";
import { JsonList } from "#src/http/json.ts";

it.each([0, 1, 15, 16, 17, 100])("writes a list of %i", async (count) => {
  const items = Array.from({ length: count }, (_, i) => i);
  const view = (i: number) => ({ i, text: `[${i}],`, great: 2n ** 64n });
  const list = new JsonList();
  await list.add(items.slice(0, 3), view);
  await list.add([], view);
  await list.add(items.slice(3), view);
  expect(String(list)).toBe(toJson(items.map(view)));
});
