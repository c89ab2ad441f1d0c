import { expect, test } from "vitest";
import { endAll } from "#src/app/shutdown.ts";
import { silentLog } from "#src/base/log.ts";

test("one that fails to end keeps none from ending", async () => {
  const ended: string[] = [];
  const stops = ["database", "bus", "worker"].map((name) => async () => {
    ended.push(name);
    if (name === "bus") throw new Error("closed already");
  });
  await endAll(stops, silentLog);
  expect(ended).toEqual(["worker", "bus", "database"]);
  expect(stops).toEqual([]);
});
