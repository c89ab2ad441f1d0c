/** Migration plans that are returned in parts. */
import { expect, test } from "vitest";
import { MigrationPlans, partOf } from "#src/wallets/migrationPlans.ts";

const planOf = (wallet: string, count: number, seed = 0) => ({
  wallet,
  slot: 7,
  transactions: Array.from({ length: count }, (_, i) => Uint8Array.of(seed, i)),
});

test("all parts of a plan are returned once, whatever other requests arrive in the meantime", () => {
  const plans = new MigrationPlans();
  const plan = planOf("one", 40);
  const first = plans.begin(plan);
  plans.begin(planOf("one", 40, 1));
  expect([first.parts, first.slot]).toEqual([3, 7]);
  const parts = [first, plans.next("one", first.plan, 1)!, plans.next("one", first.plan, 2)!];
  expect(parts.flatMap(({ transactions }) => transactions)).toEqual(plan.transactions);
  for (const [i, part] of parts.entries()) expect(part).toEqual(partOf(plan, i));
  expect(plans.next("one", first.plan, 1)).toBeUndefined();
});

test("a plan is returned only for its own wallet, and one of a single part is not stored", () => {
  const plans = new MigrationPlans();
  const { plan } = plans.begin(planOf("one", 40));
  expect(plans.next("another", plan, 1)).toBeUndefined();
  expect(plans.next("one", plan, 1)).toBeDefined();
  expect(plans.next("one", plans.begin(planOf("one", 16)).plan, 0)).toBeUndefined();
});

test("the oldest plans are dropped", () => {
  const plans = new MigrationPlans();
  const names = Array.from({ length: 20 }, (_, seed) => plans.begin(planOf("one", 40, seed)).plan);
  expect(new Set(names).size).toBe(20);
  const kept = names.filter((name) => plans.next("one", name, 1) !== undefined);
  expect(kept).toEqual(names.slice(-8));
});
