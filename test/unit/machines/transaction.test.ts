/** The transaction machine: its table of states; random histories are in `transaction_model.test.ts`. */
import { initialTransition, transition } from "xstate";
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
  it("queries the network before it answers, and answers every waiting command", () => {
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

  it("is pending for builds once the network has accepted it, or a wallet has signed it", () => {
    const opened = ({ actions }: ReturnType<typeof apply>) =>
      actions.some(({ type, params }) => type === "put" && (params as { table: string }).table === "open");
    const anyone = apply(fresh(), submit);
    expect(opened(anyone)).toBe(false);
    expect(opened(apply(anyone.next, { type: "ACCEPTED", attempt: 1 }))).toBe(true);
    expect(opened(apply(fresh(), { ...submit, by: { wallet: "w", slot: 1, height: 1 } }))).toBe(true);
  });

  it("is refused, but not permanently", () => {
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

  it("returns to pending when its block is rolled back, and checks again by itself", () => {
    const back = apply(run(submit, { type: "ACCEPTED", attempt: 1 }, inLedger), { type: "ROLLED_BACK", slot: 2 });
    expect(back.next.value).toBe("pending");
    expect(back.next.context).toMatchObject({ slot: null, block: null, valid: null });
    expect(back.actions.map(({ type }) => type)).toContain("effect");
  });

  it("keeps its state when a rollback ends above it", () => {
    const there = run(submit, { type: "ACCEPTED", attempt: 1 }, inLedger);
    expect(apply(there, { type: "ROLLED_BACK", slot: 7 }).possible).toBe(false);
  });

  it("is valid again when the chain returns below its last slot, and only then", () => {
    const expired = run(submit, { type: "ACCEPTED", attempt: 1 }, { type: "EXPIRED", slot: 50 });
    expect(apply(expired, { type: "ROLLED_BACK", slot: 50 }).possible).toBe(false);
    const back = apply(expired, { type: "ROLLED_BACK", slot: 49 });
    expect(back.next.value).toBe("pending");
    expect(back.actions.map(({ type }) => type)).toContain("effect");
  });

  it("is forgotten when the last wallet removes it, but not once the ledger has it", () => {
    const by = (wallet: string): TransactionEvent => ({ ...submit, by: { wallet, slot: 1, height: 1 } });
    const pending = run(by("w1"), by("w2"), { type: "ACCEPTED", attempt: 1 });
    const one = apply(pending, { type: "FORGET", wallet: "w1" });
    expect(one.next.value).toBe("pending");
    expect(one.next.context.wallets).toEqual(["w2"]);
    const both = apply(one.next, { type: "FORGET", wallet: "w2" });
    expect(both.next.value).toBe("forgotten");
    expect(apply(both.next, inLedger).next.value).toBe("in_ledger");
    const refused = apply(run(by("w1"), { type: "ACCEPTED", attempt: 1 }, inLedger), { type: "FORGET", wallet: "w1" });
    expect(refused.next.value).toBe("in_ledger");
    expect(refused.actions).toEqual([{
      type: "reply",
      params: { error: expect.objectContaining({ code: "transaction_already_in_ledger" }) },
    }]);
  });

  it("is not listed if the network never accepted it", () => {
    const refused = apply(run({ ...submit, by: { wallet: "w", slot: 1, height: 1 } }), {
      type: "REFUSED",
      attempt: 1,
      failures: [],
    });
    expect(refused.actions.filter(({ type }) => type === "remove").map(({ params }) => params)).toEqual([
      { table: "open", key: { hash: "aa" } },
      { table: "link", key: { hash: "aa", wallet: "w" } },
    ]);
    const rows = refused.actions.filter(({ type }) => type === "put").map(({ params }) => params);
    expect(rows).toEqual([
      { table: "status", row: { hash: "aa", status: "refused", lapsed_until: null, failures: null } },
    ]);
  });

  it("expires only while it is pending", () => {
    expect(run(submit, { type: "ACCEPTED", attempt: 1 }, { type: "EXPIRED", slot: 50 }).value).toBe("expired");
    expect(apply(run(submit), { type: "EXPIRED", slot: 50 }).possible).toBe(false);
  });

  it("ignores answers to an earlier query", () => {
    const state = run(submit, { type: "ACCEPTED", attempt: 1 }, { type: "CHECK" });
    expect(apply(state, { type: "REFUSED", attempt: 1, failures: [] }).possible).toBe(false);
    expect(apply(state, { type: "REFUSED", attempt: 2, failures: [] }).next.value).toBe("refused");
  });
});
