/**
 * Two processes with one name: the second start is refused; where both have started, each says so. Starts with wrong or
 * without credentials of NATS.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLog } from "#src/base/log.ts";
import { type App, startApp } from "#src/app/application.ts";
import { readOptions } from "#src/app/options.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { PLACEMENT } from "#src/runtime/placement/failureDetector.ts";
import { until } from "../../support/base/until.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

let infra: Infra;
beforeAll(async () => void (infra = await sharedInfra()));
afterAll(() => infra?.stop());

const lines: string[] = [];
async function start(name: string, token = infra.natsToken): Promise<App> {
  const read = readOptions(["--roles", "worker", "--worker", name], {
    DATABASE_URL: infra.databaseUrl,
    NATS_URL: infra.natsUrl,
    ...(token === undefined ? {} : { NATS_TOKEN: token }),
    ARBOR_HEALTH_PORT: "0",
  });
  if (!read.ok || read.value === "help") throw new Error("the options are not valid");
  return await startApp(read.value, createLog("warn", {}, (line) => lines.push(line)), () => {});
}

it("refuses the name of a worker that runs, and reports one that appears later", async () => {
  const first = await start("one");
  try {
    await expect(start("one")).rejects.toThrow("A worker with the name one runs already");
    await (await start("two")).stop();
    expect(lines.filter((line) => line.includes("has the name of this worker"))).toEqual([]);
    const bus = await connectBus({ url: infra.natsUrl, token: infra.natsToken });
    bus.publish(PLACEMENT, { worker: "one", instance: "another" });
    await until(
      "the worker says it",
      () =>
        Promise.resolve(
          lines.some((line) => line.includes("has the name of this worker") && line.includes("--worker")),
        ),
    );
    await bus.close();
  } finally {
    await first.stop();
  }
  // its name is free again
  await (await start("one")).stop();
});

it("says who refuses the credentials of NATS, and where they come from", async () => {
  await expect(start("three", "not-the-token-of-this-server")).rejects.toThrow(
    /^The NATS server at 127\.0\.0\.1:\d+ \(--nats-url\) refuses the token: compare NATS_USER and NATS_TOKEN/,
  );
});

it("refuses to start as a guest of NATS", async () => {
  await expect(start("four", "")).rejects.toThrow(
    /^The NATS server at 127\.0\.0\.1:\d+ \(--nats-url\) admits this process as a guest, .*: set NATS_TOKEN/,
  );
});

it.each(["a b", "a.*", ">", "a..b"])("refuses %j as a name", (name) => {
  const read = readOptions([`--worker=${name}`], {});
  expect(read).toMatchObject({ ok: false, error: { message: expect.stringContaining("--worker") } });
});
