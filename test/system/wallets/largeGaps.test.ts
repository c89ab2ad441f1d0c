/**
 * Wallets with large gaps become ready while others build and create; a wallet deleted in the meantime leaves nothing.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { greatGaps } from "../../support/wallets/largeGaps.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

let infra: Infra;
let store: Store;
let arbor: Arbor;

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 2 });
  arbor = await Arbor.start({ infra, env: { ARBOR_BUILDERS: "1" } });
});
afterAll(async () => {
  await arbor?.end();
  await store?.close();
  await infra?.stop();
});

it("three wallets with a gap of 4,000 and one that is deleted", async () => {
  const found = await greatGaps(arbor, store, { wallets: 3, deleted: 1, gap: 4_000, withinMs: 150_000 });
  expect(found.ready).toBe(3);
  expect(found.refused).toEqual([]);
  expect(found.failed).toBe(0);
  expect(found.builds.length).toBeGreaterThan(0);
  expect(found.small.length).toBeGreaterThan(0);
});
