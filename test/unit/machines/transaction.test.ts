/** The transaction machine: its table of states, and random events against a plain model. */
import { createActor, initialTransition, transition } from "xstate";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type TransactionEvent, transactionMachine } from "#machines/transaction.ts";

type State = ReturnType<typeof fresh>;
const input = { kind: "transaction", id: "aa" };
const fresh = () => initialTransition(transactionMachine, input)[0];
let command = 0;

function apply(state: State, event: TransactionEvent) {
  const full = { ...event, turn: { at: 1_000, command: event.type === "SUBMIT" ? `c${++command}` : undefined } };
  const possible = state.can(full as never);
  const [next, actions] = transition(transactionMachine, state, full as never);
  return { next, possible, actions: actions.map(({ type, params }) => ({ type, params })) };
}

const submit: TransactionEvent = { type: "SUBMIT", cbor: "80", inputs: ["i"], addresses: ["a"], validTo: 50 };
const inLedger: TransactionEvent = { type: "IN_LEDGER", slot: 7, block: "bb", height: 3, valid: true };

function run(...events: TransactionEvent[]) {
  return events.reduce((state, event) => apply(state, event).next, fresh());
}

describe("transaction machine", () => {
  it("asks the network before it answers, and answers everybody who waited", () => {
    const first = apply(fresh(), submit);
    expect(first.next.value).toBe("submitting");
    expect(first.actions.map(({ type }) => type)).toEqual(["put", "put", "effect"]);
    const second = apply(first.next, submit);
    expect(second.actions).toEqual([]);
    const accepted = apply(second.next, { type: "ACCEPTED", attempt: 1 });
    expect(accepted.next.value).toBe("pending");
    expect(accepted.actions.filter(({ type }) => type === "reply").length).toBe(2);
    expect(apply(accepted.next, submit).actions).toEqual([{ type: "reply", params: { ok: { txHash: "aa" } } }]);
  });

  it("is refused, but not for ever", () => {
    const failures = [{ name: "BadInputsUTxO", message: "An input is unknown." }];
    const refused = apply(run(submit), { type: "REFUSED", attempt: 1, failures });
    expect(refused.next.value).toBe("refused");
    expect(refused.actions).toContainEqual({
      type: "reply",
      params: {
        to: expect.any(String),
        error: expect.objectContaining({ code: "refused_by_ledger", details: failures }),
      },
    });
    expect(apply(refused.next, submit).next.value).toBe("submitting");
  });

  it("goes back to pending when its block is rolled back, and looks after itself", () => {
    const back = apply(run(submit, { type: "ACCEPTED", attempt: 1 }, inLedger), { type: "ROLLED_BACK", slot: 2 });
    expect(back.next.value).toBe("pending");
    expect(back.next.context).toMatchObject({ slot: null, block: null, valid: null });
    expect(back.actions.map(({ type }) => type)).toContain("effect");
  });

  it("expires only while it is pending", () => {
    expect(run(submit, { type: "ACCEPTED", attempt: 1 }, { type: "EXPIRED", slot: 50 }).value).toBe("expired");
    expect(apply(run(submit), { type: "EXPIRED", slot: 50 }).possible).toBe(false);
  });

  it("ignores answers to an earlier question", () => {
    const state = run(submit, { type: "ACCEPTED", attempt: 1 }, { type: "CHECK" });
    expect(apply(state, { type: "REFUSED", attempt: 1, failures: [] }).possible).toBe(false);
    expect(apply(state, { type: "REFUSED", attempt: 2, failures: [] }).next.value).toBe("refused");
  });

  it("follows a plain model through random events, keeps its rows in step and survives being stored", () => {
    const event = fc.oneof(
      fc.constant(submit),
      fc.record({ type: fc.constant("ACCEPTED" as const), attempt: fc.integer({ min: 1, max: 6 }) }),
      fc.record({
        type: fc.constant("REFUSED" as const),
        attempt: fc.integer({ min: 1, max: 6 }),
        failures: fc.constant<{ name: string; message: string }[]>([]),
      }),
      fc.constant(inLedger),
      fc.constant<TransactionEvent>({ type: "EXPIRED", slot: 60 }),
      fc.constant<TransactionEvent>({ type: "ROLLED_BACK", slot: 1 }),
      fc.constant<TransactionEvent>({ type: "CHECK" }),
    );
    fc.assert(fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      let state = fresh();
      let model = "created";
      let attempt = 0;
      let open = false;
      let waiting = 0;
      for (const one of events) {
        const { next, possible, actions } = apply(state, one);
        const before = model;
        const mine = "attempt" in one && one.attempt === attempt;
        if (one.type === "IN_LEDGER") model = "in_ledger";
        else if (one.type === "SUBMIT" && ["created", "expired", "refused"].includes(before)) model = "submitting";
        else if (one.type === "ACCEPTED" && before === "submitting" && mine) model = "pending";
        else if (one.type === "REFUSED" && ["submitting", "pending"].includes(before) && mine) model = "refused";
        else if (one.type === "EXPIRED" && before === "pending") model = "expired";
        else if (one.type === "ROLLED_BACK" && before === "in_ledger") model = "pending";
        const asks = (one.type === "SUBMIT" && model === "submitting" && before !== "submitting") ||
          (one.type === "CHECK" && before === "pending") || (one.type === "ROLLED_BACK" && before === "in_ledger");
        if (asks) attempt++;
        expect(actions.filter(({ type }) => type === "effect").length).toBe(asks ? 1 : 0);
        if (possible) {
          for (const { type, params } of actions) {
            if (type === "put" && (params as { table: string }).table === "open") open = true;
            if (type === "remove") open = false;
          }
          if (one.type === "SUBMIT" && model === "submitting") waiting++;
          waiting -= actions.filter(({ type, params }) => type === "reply" && "to" in (params as object)).length;
        }
        expect(next.value).toBe(model);
        expect(open).toBe(model === "submitting" || model === "pending");
        expect(next.context.waiting.length).toBe(waiting);
        expect(model === "submitting" || waiting === 0).toBe(true);
        const stored = JSON.parse(JSON.stringify(transactionMachine.getPersistedSnapshot(next)));
        state = createActor(transactionMachine, { snapshot: stored, input }).getSnapshot();
        expect(state.context).toEqual(next.context);
      }
    }));
  });
});
