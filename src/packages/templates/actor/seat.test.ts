/** Tests of a seat in memory: no database, and no waiting. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestRuntime } from "@arbor-cardano/runtime/testing";
import { HOLD_MS, seat } from "./seat.ts";

test("a seat is free again when its time is up, also after a crash", async () => {
  const runtime = await createTestRuntime({ actors: [seat] });
  assert.deepEqual(await runtime.ask(seat, "a1", { type: "HOLD", customer: "Ada" }), { ok: true, value: "held" });
  await runtime.crash();
  await runtime.advance(HOLD_MS - 1);
  assert.equal(runtime.read(seat, "a1")?.state, "held");
  await runtime.advance(1);
  assert.equal(runtime.read(seat, "a1")?.state, "free");
});

test("only its holder buys a seat", async () => {
  const runtime = await createTestRuntime({ actors: [seat] });
  await runtime.ask(seat, "a1", { type: "HOLD", customer: "Ada" });
  const refused = await runtime.ask(seat, "a1", { type: "BUY", customer: "Eve" });
  assert.equal(refused.ok ? refused.value : refused.error.code, "held_by_another");
  assert.deepEqual(await runtime.ask(seat, "a1", { type: "BUY", customer: "Ada" }), { ok: true, value: "sold" });
});
