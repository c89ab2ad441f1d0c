/** Selections of transitions and actors that can match nothing. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { setup } from "xstate";
import { z } from "zod";
import { delegationActor } from "#actors/delegation.ts";
import { sharedWalletActor } from "#actors/sharedWallet.ts";
import { tokenActor } from "#actors/token.ts";
import { transactionActor } from "#actors/transaction.ts";
import { walletActor } from "#actors/wallet.ts";
import { knownSelection } from "#src/operators/http/selection.ts";
import { kebab } from "#src/runtime/events/transition.ts";
import { frozenPath } from "../../../support/base/frozenFiles.ts";
import { notCalled } from "../../../support/service/walletEdge.ts";

const unused = notCalled("options") as never;
const kinds = [
  delegationActor(),
  sharedWalletActor(unused),
  tokenActor(unused),
  transactionActor(unused),
  walletActor(unused),
];

/** Entity and type of every transition in the log of a database that an earlier release wrote. */
function oldTransitions() {
  const dump = gunzipSync(readFileSync(frozenPath("database-3cb51ef.sql.gz"))).toString("utf8");
  const from = dump.indexOf("INSERT INTO public.outbox VALUES");
  const rows = dump.slice(from, dump.indexOf(";\n", from));
  return [...rows.matchAll(/^\t\('([^']*)', '([^']*)', \d+, \d+, '([^']*)', '([^']*)', '([^']*)'/gm)].map(
    ([, kind = "", id = "", , to = "", type = ""]) => ({ kind, id, state: to, transition: kebab(type) }),
  );
}

describe("a selection", () => {
  it("may name every transition in the log of an earlier release", () => {
    const all = oldTransitions();
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(kinds.map(({ kind }) => kind)));
    for (const one of all) knownSelection(one, kinds);
  });

  it.each(kinds.map((one) => [one.kind, one] as const))("may name every event in the history of a %s", (name) => {
    const { history } = JSON.parse(readFileSync(frozenPath(`kinds/${name}.json`), "utf8"));
    expect(Object.keys(history).length).toBeGreaterThan(0);
    for (const type of Object.keys(history)) knownSelection({ kind: name, transition: kebab(type) }, kinds);
  });

  it.each([
    [{ kind: "bogus" }, "bad_kind", { kinds: kinds.map(({ kind }) => kind) }],
    [{ transition: "bogus" }, "bad_transition", { transitions: expect.arrayContaining(["booted", "submit"]) }],
    [{ kind: "token", transition: "submit" }, "bad_transition", {
      transitions: expect.not.arrayContaining(["submit"]),
    }],
    [{ kind: "token", transition: "BOOTED" }, "bad_transition", { transitions: expect.arrayContaining(["booted"]) }],
    [{ state: "bogus" }, "bad_state", { states: expect.arrayContaining(["in_ledger", "quarantined"]) }],
    [{ kind: "token", state: "in_ledger" }, "bad_state", { states: ["absent", "ended", "live", "quarantined"] }],
    [{ kind: "token", id: "zz" }, "bad_id", undefined],
    [{ kind: "token", id: "AB".repeat(32) }, "bad_id", undefined],
    [{ kind: "wallet", id: "ab".repeat(32) }, "bad_id", undefined],
    [{ id: "zz" }, "bad_id", undefined],
  ])("of %j is refused with %s", (selection, code, details) => {
    let refused: unknown;
    try {
      // as a map gives them: once
      knownSelection(selection, kinds.values());
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ status: 400, code, ...(details && { details }) });
  });

  it("may name an event that only an older machine had, while its content is known", () => {
    const machine = setup({}).createMachine({ on: { NOW: {} } });
    const content = { schemas: { BEFORE: z.object({}) } };
    const some = [{ kind: "changed", machine, content }];
    for (const transition of ["now", "before"]) knownSelection({ kind: "changed", transition }, some);
    expect(() => knownSelection({ kind: "changed", transition: "later" }, some)).toThrow(/before, now/);
  });

  it("may name any state of a parallel machine, and any id of a kind without a form", () => {
    const machine = setup({}).createMachine({ type: "parallel", states: { a: {}, b: {} } });
    knownSelection({ state: "{a,b}", id: "é 1" }, [{ kind: "both", machine }]);
  });
});
