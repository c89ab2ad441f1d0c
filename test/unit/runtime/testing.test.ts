/** The runtime in memory: what it does is what the runtime does, at times that the test chooses. */
import { expect, test } from "vitest";
import { systemClock } from "#src/base/clock.ts";
import { createTestRuntime } from "#src/runtime/testing/testing.ts";
import { type EffectRun, Unfinished, type WorkerStage } from "#src/runtime/types.ts";
import { accountKind } from "../../support/runtime/account.ts";

const entity = { kind: "account", id: "a" };
const paid: EffectRun = async (_, { attempt }) => ({ type: "PAID", n: attempt });
const add = (amount: number) => ({ type: "ADD", amount });

test("commands, builds, inputs and own rows", async () => {
  const runtime = await createTestRuntime({ actors: [accountKind(paid)], now: 1_000 });
  expect(runtime.read(entity)).toBeUndefined();
  expect(await runtime.ask(entity, add(5), { commandId: "x" })).toEqual({ ok: true, value: { balance: 5, adds: 1 } });
  expect(await runtime.ask(entity, add(5), { commandId: "x" })).toEqual({ ok: true, value: { balance: 5, adds: 1 } });
  expect(await runtime.ask(entity, { type: "PAY", amount: 9 })).toMatchObject({ error: { code: "not_possible" } });
  expect(await runtime.ask(entity, { type: "NONSENSE" })).toMatchObject({ error: { code: "invalid" } });
  expect(await runtime.ask({ kind: "door", id: "a" }, add(1))).toMatchObject({ error: { code: "unknown_kind" } });
  expect(await runtime.build(entity, "quote", { amount: 2 })).toEqual({
    ok: true,
    value: { state: "open", after: 3, version: 1 },
  });
  await runtime.input(entity, { type: "SEEN", n: 7 });
  expect(runtime.read(entity)).toMatchObject({ state: "open", version: 2, context: { balance: 5, seen: [7] } });
  expect(runtime.rows("test_balance")).toEqual([{ account: "a", balance: 5 }]);
  expect(runtime.transitions(entity)).toMatchObject([
    { version: 1, type: "ADD", cause: "x", at: 1_000 },
    { version: 2, type: "SEEN", cause: "input:1" },
  ]);
  expect(runtime.transitions({ kind: "account", id: "b" })).toEqual([]);
  await runtime.input(entity, { type: "NONSENSE" });
  expect(runtime.deadLetters()).toMatchObject([{ entity, from: "input", event: { type: "NONSENSE" } }]);
});

test("a reminder fires when its time has come, also after a crash", async () => {
  const runtime = await createTestRuntime({ actors: [accountKind(paid)] });
  const at = runtime.now() + 60_000;
  await runtime.ask(entity, { type: "REMEMBER", at });
  expect(runtime.pending().reminders).toMatchObject([{ entity, name: "wake", at }]);
  await runtime.advance(59_999);
  expect(runtime.transitions()).toHaveLength(1);
  await runtime.crash();
  await runtime.advance(1);
  expect(runtime.transitions()).toMatchObject([{}, { type: "WOKEN", cause: "reminder:wake", at }]);
  expect(runtime.pending().reminders).toEqual([]);
  await runtime.ask(entity, { type: "REMEMBER", at: 5 });
  await runtime.settled();
  expect(runtime.read(entity)!.context.woken).toBe(2);
});

test("an effect is retried with backoff, ends at its timeout, and goes on after a slice", async () => {
  const attempts: number[] = [];
  const wire: EffectRun = async (_, { attempt, deadline, signal }) => {
    attempts.push(runtime.now());
    if (attempts.length === 1) throw new Error("refused");
    if (attempts.length === 2) {
      expect(deadline).toBe(runtime.now() + 1_000);
      return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }
    return attempts.length === 3 ? new Unfinished(5_000) : { type: "PAID", n: attempt };
  };
  const runtime = await createTestRuntime({ actors: [accountKind(wire)], now: 0, effectMs: 1_000 });
  await runtime.ask(entity, add(5));
  const reply = runtime.ask(entity, { type: "PAY", amount: 1 });
  await runtime.settled();
  const [first] = runtime.pending().effects;
  expect(first).toMatchObject({ entity, name: "wire", attempts: 1, error: "refused" });
  expect(first!.at).toBeGreaterThanOrEqual(75);
  expect(first!.at).toBeLessThanOrEqual(125);
  await runtime.advance(10_000);
  expect(await reply).toEqual({ ok: true, value: { paid: 1 } });
  expect(attempts.length).toBe(4);
  expect(attempts[1]).toBe(first!.at);
  expect(attempts[3]! - attempts[2]!).toBe(5_000);
  const again = await createTestRuntime({ actors: [accountKind(async () => Promise.reject(new Error("no")))], now: 0 });
  await again.ask(entity, add(5));
  void again.ask(entity, { type: "PAY", amount: 1 });
  await again.settled();
  // The same seed gives the same jitter.
  expect(again.pending().effects[0]!.at).toBe(first!.at);
});

test.each<WorkerStage["at"]>(
  ["before-commit", "after-commit", "before-reply", "before-publish", "before-effect", "after-effect"],
)("a command is applied once and answered, although the worker crashes %s", async (at) => {
  let payments = 0;
  const runtime = await createTestRuntime({
    actors: [accountKind(async () => ({ type: "PAID", n: ++payments }))],
  });
  await runtime.ask(entity, add(5));
  const crashed = runtime.crash({ at, entity });
  const reply = await runtime.ask(entity, { type: "PAY", amount: 2 });
  await crashed;
  expect(reply).toEqual({ ok: true, value: { paid: at === "after-effect" ? 2 : 1 } });
  expect(payments).toBe(at === "after-effect" ? 2 : 1);
  await runtime.idle();
  expect(runtime.read(entity)).toMatchObject({ version: 3, context: { balance: 3, payments: 1 } });
  expect(runtime.transitions().map(({ type }) => type)).toEqual(["ADD", "PAY", "PAID"]);
  expect(runtime.pending().effects).toEqual([]);
});

test("idle waits for effects that wait for something outside", async () => {
  const slow: EffectRun = async () => {
    await new Promise<void>((resolve) => void systemClock.after(20, resolve));
    return { type: "PAID", n: 1 };
  };
  const runtime = await createTestRuntime({ actors: [accountKind(slow)] });
  await runtime.ask(entity, add(5));
  void runtime.ask(entity, { type: "PAY", amount: 2 });
  await runtime.settled();
  expect(runtime.read(entity)!.state).toBe("paying");
  await runtime.idle();
  expect(runtime.read(entity)!.state).toBe("open");
  runtime.stop();
});

test("a kind that cannot be run is refused", async () => {
  const kind = accountKind(paid);
  await expect(createTestRuntime({ actors: [kind, kind] })).rejects.toThrow('There are two kinds "account".');
});
