/** Whether processes are alive, queried over the bus. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { announcePresence } from "#src/runtime/placement/presence.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let bus: Bus;
beforeAll(async () => {
  infra = await sharedInfra();
  const { natsUrl: url, natsToken: token } = infra;
  bus = await connectBus({ url, ...(token === undefined ? {} : { token }) });
});
afterAll(async () => {
  await bus?.close();
  await infra?.stop();
});

it("is known of live processes, of this one, and of ended ones", async () => {
  const [one, other] = [announcePresence(bus), announcePresence(bus)];
  expect(one.name).not.toBe(other.name);
  expect(await one.isGone(other.name)).toBe(false);
  expect(await one.isGone(one.name)).toBe(false);
  other.close();
  expect(await one.isGone(other.name)).toBe(true);
  expect(await one.isGone(crypto.randomUUID())).toBe(true);
  one.close();
});
