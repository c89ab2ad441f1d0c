/** Tests of orders in memory: no database, no payment service, and no waiting. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestRuntime } from "@arbor-cardano/runtime/testing";
import { order } from "./orders.ts";

const book = { type: "PLACE", customer: "Ada", item: "a book", cents: 1_200 } as const;

test("an order expires after 15 minutes, also when the process has crashed", async () => {
  const runtime = await createTestRuntime({ actors: [order] });
  assert.deepEqual(await runtime.ask(order, "a", book), { ok: true, value: "placed" });
  await runtime.advance(14 * 60_000);
  await runtime.crash();
  assert.equal(runtime.read(order, "a")?.state, "placed");
  await runtime.advance(60_000);
  assert.equal(runtime.read(order, "a")?.state, "expired");
});

test("a charge is applied once, wherever the process crashes", async () => {
  for (const stage of ["after-commit", "before-effect", "after-effect", "before-commit"] as const) {
    const keys = new Set<string>();
    const charge = async (_: unknown, { id }: { id: string }) =>
      ({ type: "CHARGED", receipt: `r${keys.add(id).size}` }) as const;
    const runtime = await createTestRuntime({ actors: [{ ...order, effects: { charge } }] });
    await runtime.ask(order, "a", book);
    const crashed = runtime.crash(stage);
    await runtime.ask(order, "a", { type: "PAY", source: "card-1" });
    await crashed;
    await runtime.idle();
    assert.equal(runtime.read(order, "a")?.context.receipt, "r1");
    assert.deepEqual(runtime.events(order, "a").map(({ type }) => type), ["PLACE", "PAY", "CHARGED"]);
  }
});
