/** The wallet machine compared with a plain model: states, its row, its key's adoption, effects and open replies. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createActor, initialTransition, transition } from "xstate";
import { type WalletEvent, walletMachine } from "#machines/wallet.ts";

const input = { kind: "wallet", id: "ab".repeat(20) };
const create: Extract<WalletEvent, { type: "CREATE" }> = {
  type: "CREATE",
  kind: "shelley",
  name: "first",
  gap: 20,
  key: "11".repeat(64),
  policyKey: null,
  attempt: "one",
  passphrase: { at: 5, method: "argon2id-v2" },
  birth: { slot: -1, hash: "" },
  oneChange: false,
  selection: "per-output",
};
const life = fc.integer({ min: 1, max: 3 });
const slot = fc.nat(50);
const event: fc.Arbitrary<WalletEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ attempt: fc.option(fc.constantFrom("one", "two")) }).map((more) => ({ ...create, ...more })),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("BEGUN" as const), life }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("ENDED" as const), life }) },
  { weight: 2, arbitrary: fc.constant<WalletEvent>({ type: "DELETE" }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("RENAME" as const), name: fc.constantFrom("a", "b") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("SETTINGS" as const), oneChange: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant<WalletEvent>({ type: "POLICY_KEY_SET", key: "22".repeat(64) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("RESTORED" as const), slot }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("ROLLED_BACK" as const), slot }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("ASSETS" as const), slot, assets: fc.constant({}) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("GOVERNED" as const), slot, hash: fc.constant("ab".repeat(32)) }),
  },
);

interface Model {
  state: "absent" | "beginning" | "restoring" | "live" | "deleting" | "deleted";
  life: number;
  row: { name: string; oneChange: boolean; policyKey: string | null } | undefined;
  attempt: string | null;
  open: string | null;
}

/** The described effect of an event; false if it is not accepted. Returns the answered commands, with their outcome. */
function expected(model: Model, event: WalletEvent, command: string): Map<string, "ok" | "error"> | false {
  const answers = new Map<string, "ok" | "error">();
  const there = model.state === "restoring" || model.state === "live";
  const answer = () => {
    if (model.open !== null) answers.set(model.open, "ok");
    model.open = null;
  };
  switch (event.type) {
    case "CREATE":
      if (model.state !== "absent" && model.state !== "deleted") return false;
      Object.assign(model, {
        state: "beginning",
        life: model.life + 1,
        row: { name: event.name, oneChange: event.oneChange, policyKey: null },
        attempt: event.attempt,
        open: command,
      });
      return answers;
    case "BEGUN":
      if (model.state !== "beginning" || event.life !== model.life) return false;
      model.state = "restoring";
      answer();
      return answers;
    case "RESTORED":
      if (model.state === "beginning") answer();
      else if (model.state !== "restoring") return false;
      model.state = "live";
      return answers;
    case "DELETE":
      if (!there && model.state !== "beginning") return false;
      if (model.open !== null) answers.set(model.open, "error");
      Object.assign(model, { state: "deleting", row: undefined, attempt: null, open: command });
      return answers;
    case "ENDED":
      if (model.state !== "deleting" || event.life !== model.life) return false;
      model.state = "deleted";
      answer();
      return answers;
    case "RENAME":
    case "SETTINGS":
    case "POLICY_KEY_SET":
      if (!there && model.state !== "beginning") return false;
      if (event.type === "RENAME") model.row!.name = event.name;
      if (event.type === "SETTINGS") model.row!.oneChange = event.oneChange!;
      if (event.type === "POLICY_KEY_SET") model.row!.policyKey = event.key;
      answers.set(command, "ok");
      return answers;
    default:
      return there || model.state === "beginning" ? answers : false;
  }
}

/** The parameters of actions, as far as they are compared. */
interface Params {
  readonly table: string;
  readonly row: Record<string, unknown>;
  readonly to?: string;
  readonly ok?: unknown;
}

describe("wallet machine", () => {
  it("follows the model through random histories, and is restored from its stored form", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let state = initialTransition(walletMachine, input)[0];
        const model: Model = { state: "absent", life: 0, row: undefined, attempt: null, open: null };
        const rows = new Map<string, Record<string, unknown>>();
        events.forEach((one, i) => {
          const command = `c${i}`;
          const full = { ...one, turn: { at: 1_000 + i, command } };
          const attempt = model.attempt;
          const answers = expected(model, one, command);
          expect(state.can(full as never)).toBe(answers !== false);
          if (answers === false) return;
          const [next, actions] = transition(walletMachine, state, full as never);
          const effects: unknown[] = [];
          const replies = new Map<string, "ok" | "error">();
          for (const { type, params } of actions as { type: string; params: Params }[]) {
            if (type === "put") rows.set(params.table, params.row);
            else if (type === "remove") rows.delete(params.table);
            else if (type === "effect") effects.push(params);
            else if (type === "reply") replies.set(params.to ?? command, "ok" in params ? "ok" : "error");
          }
          expect(replies).toEqual(answers);
          const id = { wallet: input.id, life: model.life };
          expect(effects).toEqual(
            one.type === "CREATE"
              ? [{ name: "begin", input: id }]
              : one.type === "DELETE"
              ? [{ name: "end", input: { ...id, attempt } }]
              : [],
          );
          expect(next.value).toBe(model.state);
          seen.add(model.state);
          const row = rows.get("wallet");
          if (model.row === undefined) expect(row).toBeUndefined();
          else {
            const { name, oneChange, policyKey } = model.row;
            expect(row).toMatchObject({
              id: input.id,
              life: model.life,
              name,
              one_change: oneChange,
              policy_key: policyKey,
            });
          }
          expect(rows.get("adoption")).toEqual(
            model.attempt === null ? undefined : { wallet: input.id, attempt: model.attempt },
          );
          const stored = JSON.parse(JSON.stringify(walletMachine.getPersistedSnapshot(next)));
          state = createActor(walletMachine, { snapshot: stored, input }).getSnapshot();
          expect(state.context).toEqual(next.context);
        });
      }),
      { numRuns: 500 },
    );
    expect([...seen].sort()).toEqual(["beginning", "deleted", "deleting", "live", "restoring"]);
  });

  it("stores no passphrase of a wallet without one", () => {
    const [born] = transition(
      walletMachine,
      initialTransition(walletMachine, input)[0],
      { ...create, attempt: null, passphrase: null, turn: { at: 1, command: "c" } } as never,
    );
    const [begun] = transition(walletMachine, born, { type: "BEGUN", life: 1, turn: { at: 2 } } as never);
    const changed = {
      type: "PASSPHRASE_CHANGED",
      attempt: "a",
      passphrase: { at: 3, method: "scrypt" },
      turn: { at: 3 },
    };
    expect(begun.can(changed as never)).toBe(false);
  });

  it("accepts a change of passphrase once, and only one of its own key", () => {
    const [born] = transition(
      walletMachine,
      initialTransition(walletMachine, input)[0],
      { ...create, attempt: "mine", passphrase: { at: 1, method: "scrypt" }, turn: { at: 1, command: "c" } } as never,
    );
    const changed = (attempt: string, at: number) =>
      ({ type: "PASSPHRASE_CHANGED", attempt, passphrase: { at, method: "argon2id-v2" }, turn: { at } }) as never;
    expect(born.can(changed("that of an earlier life", 5))).toBe(false);
    expect(born.can(changed("mine", 1))).toBe(false);
    const [next] = transition(walletMachine, born, changed("mine", 5));
    expect(next.context.record?.passphrase).toEqual({ at: 5, method: "argon2id-v2" });
    // the command and the input log bring the same event
    expect(next.can(changed("mine", 5))).toBe(false);
    expect(next.can(changed("mine", 4))).toBe(false);
    expect(next.can(changed("mine", 6))).toBe(true);
  });

  it("does not accept unread events of an earlier wallet with its id", () => {
    const [born] = transition(
      walletMachine,
      initialTransition(walletMachine, input)[0],
      { ...create, turn: { at: 1, command: "c" } } as never,
    );
    const again = { ...born, context: { ...born.context, life: 2 } } as typeof born;
    const restored = (life?: number) =>
      ({ type: "RESTORED", slot: 5, ...(life === undefined ? {} : { life }), turn: { at: 2, input: 1 } }) as never;
    expect([again.can(restored(1)), again.can(restored(2)), again.can(restored())]).toEqual([false, true, true]);
    const [live] = transition(walletMachine, again, restored(2));
    expect(live.value).toBe("live");
    for (const type of ["ROLLED_BACK", "TRANSACTION", "SEEN", "WITHDRAWN"]) {
      const event = (life: number) => ({ type, slot: 6, life, turn: { at: 3, input: 2 } }) as never;
      expect([live.can(event(1)), live.can(event(2))]).toEqual([false, true]);
    }
  });

  it("applies a name and settings of one command together", () => {
    const [born] = transition(
      walletMachine,
      initialTransition(walletMachine, input)[0],
      { ...create, turn: { at: 1, command: "c" } } as never,
    );
    const settings = { type: "SETTINGS", name: "Another", selection: "round-robin", turn: { at: 2, command: "d" } };
    const [next] = transition(walletMachine, born, settings as never);
    expect(next.context.record).toMatchObject({ name: "Another", selection: "round-robin" });
  });
});
