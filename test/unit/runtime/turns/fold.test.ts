import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { type EntityState, fold, type TurnItem } from "#src/runtime/turns/fold.ts";
import { dehydrate, hydrate } from "#src/runtime/turns/machine.ts";
import type { Event } from "#src/runtime/types.ts";
import { accountKind } from "../../../support/runtime/account.ts";
import { jobKind } from "../../../support/runtime/job.ts";

const kind = accountKind(async () => undefined);
const entity = { kind: "account", id: "a" };
const nothing: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };
let ids = 0;
const command = (event: Event, id = `c${++ids}`): TurnItem => ({ from: "command", id, event });

describe("fold", () => {
  test("gives each event its own version, answer and transition", () => {
    const folded = fold(kind, entity, nothing, [
      command({ type: "ADD", amount: 3 }, "x"),
      command({ type: "ADD", amount: 4 }, "y"),
    ], 77);
    expect(folded.next.version).toBe(2);
    expect(folded.transitions).toEqual([
      { entity, version: 1, from: "open", to: "open", type: "ADD", cause: "x", at: 77 },
      { entity, version: 2, from: "open", to: "open", type: "ADD", cause: "y", at: 77 },
    ]);
    expect([...folded.results]).toEqual([
      ["x", { ok: true, value: { balance: 3, adds: 1 } }],
      ["y", { ok: true, value: { balance: 7, adds: 2 } }],
    ]);
    expect(folded.ownRows).toEqual([
      { table: "test_balance", key: ["account"], values: { account: "a", balance: 7 }, remove: false },
    ]);
  });

  test("leaves a reply open until a later event answers it, in the same turn or another", () => {
    const paid = fold(kind, entity, nothing, [
      command({ type: "ADD", amount: 3 }),
      command({ type: "PAY", amount: 1 }, "p"),
    ], 1);
    expect(paid.results.has("p")).toBe(true);
    expect(paid.results.get("p")).toBeUndefined();
    const [effect] = paid.effects;
    expect(effect).toMatchObject({ name: "wire", input: { amount: 1 } });
    const later = fold(kind, entity, paid.next, [{ from: "outcome", n: effect!.n, event: { type: "PAID", n: 5 } }], 2);
    expect([...later.answers]).toEqual([["p", { ok: true, value: { paid: 5 } }]]);
    expect(later.ended).toEqual([effect!.n]);
    expect(later.transitions[0]!.cause).toBe(`effect:account/a:${effect!.n}`);
  });

  test("refuses what the state does not allow, without a version, and continues", () => {
    const folded = fold(kind, entity, nothing, [
      command({ type: "PAY", amount: 1 }, "p"),
      { from: "input", seq: 9, event: { type: "SEEN", n: -1 } },
      command({ type: "ADD", amount: 1 }, "q"),
    ], 1);
    expect(folded.results.get("p")).toMatchObject({
      ok: false,
      error: { code: "not_possible", details: { state: "open", event: "PAY" } },
    });
    expect(folded.inputs).toEqual([{ seq: 9, outcome: "skipped" }]);
    expect(folded.next).toMatchObject({ version: 1, inputSeq: 9 });
  });

  test("sets aside the one event that makes a snapshot too large", () => {
    const folded = fold(kind, entity, nothing, [
      command({ type: "NOTE", text: "short" }, "a"),
      command({ type: "NOTE", text: "€".repeat(6_000) }, "b"),
      command({ type: "ADD", amount: 1 }, "c"),
    ], 1);
    expect(folded.next.version).toBe(2);
    expect(folded.next.snapshot!.context).toMatchObject({ note: "short", balance: 1 });
    expect(folded.results.get("b")).toMatchObject({ ok: false, error: { code: "failed" } });
    expect(folded.failed).toMatchObject([{ cause: "b", event: { type: "NOTE" } }]);
  });

  test("applies one outcome of an effect that ran twice", () => {
    const paid = fold(
      kind,
      entity,
      nothing,
      [command({ type: "ADD", amount: 9 }), command({ type: "PAY", amount: 1 })],
      1,
    );
    const { n } = paid.effects[0]!;
    const outcome: TurnItem = { from: "outcome", n, event: { type: "PAID", n: 5 } };
    const again = command({ type: "PAY", amount: 2 }, "p");
    const twice = fold(kind, entity, paid.next, [outcome, again, { ...outcome }, { from: "ended", n }], 2);
    expect(twice.transitions.map(({ type }) => type)).toEqual(["PAID", "PAY"]);
    expect(twice.ended).toEqual([n]);
    expect(twice.next.snapshot!.value).toBe("paying");
  });

  test("drops a reminder that an earlier event of the turn replaced or cancelled", () => {
    const set = fold(kind, entity, nothing, [command({ type: "REMEMBER", at: 5 })], 1);
    const { n } = set.reminders.get("wake")!;
    const fired: TurnItem = { from: "reminder", name: "wake", n, event: { type: "WOKEN" } };
    const both = fold(kind, entity, set.next, [command({ type: "REMEMBER", at: 9 }), fired], 2);
    expect(both.next.snapshot!.context.woken).toBe(0);
    expect(both.reminders.get("wake")).toMatchObject({ at: 9 });
    expect(both.fired).toEqual([]);
    const once = fold(kind, entity, set.next, [fired, fired], 2);
    expect(once.next.snapshot!.context.woken).toBe(1);
    expect(once.fired).toEqual([{ name: "wake", n }]);
    expect(once.reminders.get("wake")).toBeUndefined();
  });

  test("cancels effects of earlier turns by rows, and those of the same turn by leaving them out", () => {
    const job = jobKind(async () => undefined);
    const run = (n: number) => command({ type: "RUN", key: "k", n });
    const stop = (n?: number) => command({ type: "STOP", ...(n === undefined ? {} : { call: { n, key: "k" } }) });
    const once = fold(job, entity, nothing, [run(1), run(2), stop(2), run(3)], 1);
    expect(once.effects.map(({ input }) => input)).toEqual([{ key: "k", n: 1 }, { key: "k", n: 3 }]);
    expect(new Set(once.effects.map(({ n }) => n)).size).toBe(2);
    expect(once.cancelled).toEqual([{ name: "call", input: { n: 2, key: "k" } }]);
    const [first, second] = once.effects.map(({ n, ...effect }): TurnItem => (
      { from: "outcome", n, effect, event: { type: "DONE", n } }
    ));
    const both = fold(job, entity, once.next, [first!, stop(3), second!, stop()], 2);
    expect([both.ended, both.cancelled.length]).toEqual([[once.effects[0]!.n], 2]);
    expect(both.next.snapshot!.context.done).toEqual([once.effects[0]!.n]);
  });

  test("has the same result whether events come in one turn or in many, with a restore between", () => {
    const event = fc.oneof(
      fc.record({ type: fc.constant("ADD"), amount: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ type: fc.constant("PAY"), amount: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ type: fc.constant("REMEMBER"), at: fc.integer({ min: 1, max: 1e6 }) }),
      fc.constant({ type: "FORGET" }),
      fc.constant({ type: "CLOSE" }),
      fc.record({ type: fc.constant("SEEN"), n: fc.integer({ min: -2, max: 9 }) }),
      fc.record({ type: fc.constant("PAID"), n: fc.integer({ min: 1, max: 9 }) }),
    );
    fc.assert(fc.property(fc.array(event, { maxLength: 20 }), (events) => {
      const items = events.map((one, i): TurnItem =>
        one.type === "SEEN"
          ? { from: "input", seq: i + 1, event: one }
          : one.type === "PAID"
          ? { from: "outcome", n: i, event: one }
          : { from: "command", id: `c${i}`, event: one }
      );
      const together = fold(kind, entity, nothing, items, 1);
      let held = nothing;
      const answers = new Map<string, unknown>();
      for (const item of items) {
        const folded = fold(kind, entity, held, [item], 1);
        for (const [id, result] of [...folded.results, ...folded.answers]) answers.set(id, result);
        held = folded.next;
        if (held.snapshot !== undefined) {
          held = { ...held, snapshot: hydrate(kind, JSON.parse(dehydrate(kind.machine, held.snapshot)), 1) };
        }
      }
      expect(held.version).toBe(together.next.version);
      expect(held.snapshot?.value).toEqual(together.next.snapshot?.value);
      expect(held.snapshot?.context).toEqual(together.next.snapshot?.context);
      expect(answers).toEqual(new Map(together.results));
      expect(together.transitions.map(({ version }) => version)).toEqual(together.transitions.map((_, i) => i + 1));
    }));
  });
});
