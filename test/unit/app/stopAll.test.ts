import { expect, test } from "vitest";
import { stopAll } from "#src/app/stopAll.ts";
import { silentLog } from "#src/base/log.ts";

test("a stop that fails does not prevent the others", async () => {
  const ended: string[] = [];
  const stops = ["database", "bus", "worker"].map((name) => async () => {
    ended.push(name);
    if (name === "bus") throw new Error("closed already");
  });
  await stopAll(stops, silentLog);
  expect(ended).toEqual(["worker", "bus", "database"]);
  expect(stops).toEqual([]);
});
