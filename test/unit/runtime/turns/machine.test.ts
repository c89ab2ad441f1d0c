import { describe, expect, test } from "vitest";
import {
  type AnyStateMachine,
  assign,
  emit,
  enqueueActions,
  fromPromise,
  initialTransition,
  raise,
  setup,
  spawnChild,
  transition,
} from "xstate";
import { turnActions } from "#src/base/turn.ts";
import { fold } from "#src/runtime/turns/fold.ts";
import {
  dehydrate,
  hydrate,
  kindFaults,
  startMachine,
  stateName,
  stepMachine,
  unreadableFailure,
} from "#src/runtime/turns/machine.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import { accountKind } from "../../../support/runtime/account.ts";

const account = accountKind(async () => undefined);
const kindOf = (machine: AnyStateMachine): ActorKind => ({ ...account, machine });
const entity = { kind: "account", id: "a" };
const nothing = { snapshot: undefined, version: 0, inputSeq: 0 };

describe("a machine is refused at its definition", () => {
  const base = setup({
    types: { events: {} as { type: "GO" } },
    actions: turnActions,
    actors: { call: fromPromise(async () => 1) },
  });
  const refused: [string, AnyStateMachine, string][] = [
    ["with `after`", base.createMachine({ initial: "a", states: { a: { after: { 100: "b" } }, b: {} } }), "delayed"],
    ["with `invoke`", base.createMachine({ initial: "a", states: { a: { invoke: { src: "call" } } } }), "invokes"],
    ["with a spawned child", base.createMachine({ on: { GO: { actions: spawnChild("call") } } }), "xstate.spawnChild"],
    [
      "with a delayed raise",
      base.createMachine({ on: { GO: { actions: raise({ type: "GO" }, { delay: 5 }) } } }),
      "delay",
    ],
    ["with emitted events", base.createMachine({ entry: emit({ type: "x" }) }), "xstate.emit"],
    ["with an action of its own", base.createMachine({ on: { GO: { actions: () => {} } } }), "function"],
    [
      "with an unknown action",
      setup({ actions: { log: () => {} } }).createMachine({ initial: "a", states: { a: { exit: "log" } } }),
      '"log"',
    ],
  ];
  test.each(refused)("%s", (_, machine, why) => {
    expect(kindFaults(kindOf(machine)).join(" ")).toContain(why);
  });

  test("a machine with assignments, turn actions and `enqueueActions` is accepted", () => {
    expect(kindFaults(account)).toEqual([]);
    const machine = setup({ actions: { ...turnActions, note: assign({}) } }).createMachine({
      on: { GO: { actions: ["note", enqueueActions(() => {}), raise({ type: "X" })] } },
    });
    expect(kindFaults(kindOf(machine))).toEqual([]);
    expect(kindFaults({ ...account, kind: "Not.A.Token" })).toHaveLength(1);
  });
});

describe("errors that occur only in a turn", () => {
  const spoil = (machine: AnyStateMachine) =>
    fold(kindOf(machine), entity, nothing, [{ from: "command", id: "c", event: { type: "GO" } }], 1);
  const go = setup({ types: { context: {} as Record<string, unknown>, events: {} as { type: "GO" } } });
  test.each([
    [
      "an unknown action",
      go.createMachine({
        context: {},
        on: { GO: { actions: enqueueActions(({ enqueue }) => enqueue({ type: "launch" } as never)) } },
      }),
      "launch",
    ],
    [
      "a machine that throws",
      go.createMachine({
        context: {},
        on: {
          GO: {
            actions: assign(() => {
              throw new Error("no");
            }),
          },
        },
      }),
      "no",
    ],
    [
      "a bigint in the context",
      go.createMachine({ context: {}, on: { GO: { actions: assign({ n: () => 5n }) } } }),
      "BigInt",
    ],
    [
      "an unknown effect",
      go.createMachine({
        context: {},
        on: { GO: { actions: { type: "effect", params: { name: "fly", input: 1 } } as never } },
      }),
      "fly",
    ],
    [
      "a row without its key",
      go.createMachine({
        context: {},
        on: { GO: { actions: { type: "put", params: { table: "balances", row: { balance: 1 } } } as never } },
      }),
      "key",
    ],
  ])("%s sets the command aside", (_, machine, why) => {
    const folded = spoil(machine);
    expect(folded.next.version).toBe(0);
    expect(folded.results.get("c")).toMatchObject({ ok: false, error: { code: "failed" } });
    expect(folded.failed[0]!.error).toContain(why);
  });
});

describe("snapshots", () => {
  const folded = fold(account, entity, nothing, [{ from: "command", id: "c", event: { type: "ADD", amount: 5 } }], 1);
  test("are restored as stored", () => {
    const text = dehydrate(account.machine, folded.next.snapshot!);
    const back = hydrate(account, JSON.parse(text), 1);
    expect(back.context).toEqual(folded.next.snapshot!.context);
    expect(back.can({ type: "PAY", amount: 5 } as never)).toBe(true);
    expect(dehydrate(account.machine, back)).toBe(text);
  });
  test("of another version of the machine are migrated, or refused", () => {
    const json = JSON.parse(dehydrate(account.machine, folded.next.snapshot!));
    const newer = { ...account, version: 2 };
    expect(() => hydrate(newer, json, 1)).toThrow("version 1");
    const moved = hydrate(
      {
        ...newer,
        migrate: (old) => {
          const snapshot = old as { context: Record<string, unknown> };
          return { ...snapshot, context: { ...snapshot.context, balance: 50 } } as never;
        },
      },
      json,
      1,
    );
    expect(moved.context.balance).toBe(50);
    expect(() => hydrate(account, json, 3)).toThrow("version 3");
  });
  test("of a later version are reported as such; other unreadable ones are not", () => {
    const why = (version: number, kind = account) => {
      try {
        return hydrate(kind, JSON.parse(dehydrate(account.machine, folded.next.snapshot!)), version) && undefined;
      } catch (error) {
        return unreadableFailure(kind, error as Error).error.code;
      }
    };
    expect([why(99), why(1), why(1, { ...account, version: 2 })]).toEqual(["newer_version", undefined, "failed"]);
  });
});

test("a step is the one of XState's own `transition`", () => {
  const events = [
    { type: "ADD", amount: 5 },
    { type: "PAY", amount: 2 },
    { type: "PAID", n: 1 },
    { type: "CLOSE" },
  ].map((event) => ({ ...event, turn: { at: 1, command: "c" } }));
  let [mine, entered] = startMachine(account.machine, entity);
  let [theirs, first] = initialTransition(account.machine, entity);
  expect(entered).toEqual(first.map(({ type, params }) => ({ type, params })));
  for (const event of events) {
    const [next, actions] = stepMachine(account.machine, mine, event);
    const [reference, expected] = transition(account.machine, theirs, event);
    expect(actions).toEqual(expected.map(({ type, params }) => ({ type, params })));
    expect(account.machine.getPersistedSnapshot(next)).toEqual(account.machine.getPersistedSnapshot(reference));
    [mine, theirs] = [next, reference];
  }
  expect(mine.value).toBe("closed");
});

test("states have names", () => {
  expect(stateName("live")).toBe("live");
  expect(stateName({ live: "syncing" })).toBe("live.syncing");
  expect(stateName({ live: { a: "x", b: { c: "y" } } })).toBe("live.{a.x,b.c.y}");
});
