/** Whether processes are there, asked over the bus. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { announcePresence } from "#src/runtime/placement/presence.ts";
import { sharedInfra } from "../../../support/infra.ts";

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

it("is known of those that live, of oneself, and of those that ended", async () => {
  const [one, other] = [announcePresence(bus), announcePresence(bus)];
  expect(one.name).not.toBe(other.name);
  expect(await one.isGone(other.name)).toBe(false);
  expect(await one.isGone(one.name)).toBe(false);
  other.close();
  expect(await one.isGone(other.name)).toBe(true);
  expect(await one.isGone(crypto.randomUUID())).toBe(true);
  one.close();
});
