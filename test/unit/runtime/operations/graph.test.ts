import { describe, expect, it } from "vitest";
import { type AnyStateMachine, setup } from "xstate";
import { allowedIn, eventsOf, graphOf } from "#src/runtime/operations/graph.ts";
import { stateName } from "#src/runtime/turns/machine.ts";
import { RateCounter } from "#src/runtime/operations/rateCounter.ts";
import { delegationMachine } from "#machines/delegation.ts";
import { tokenMachine } from "#machines/token.ts";
import { transactionMachine } from "#machines/transaction.ts";

const nested = setup({ guards: { ready: () => true } }).createMachine({
  initial: "live",
  on: { RESET: ".live" },
  states: {
    live: {
      initial: "syncing",
      on: { STOP: "gone" },
      states: {
        syncing: { on: { CAUGHT_UP: { guard: "ready", target: "synced" }, TICK: {} } },
        synced: { always: { guard: () => false, target: "syncing" } },
      },
    },
    gone: { type: "final" },
  },
});
const parallel = setup({}).createMachine({
  type: "parallel",
  states: {
    a: { initial: "x", states: { x: { on: { GO: "y" } }, y: {} } },
    b: { initial: "x", states: { x: {}, y: { on: { BACK: "x" } } } },
  },
});

describe("the graph of a machine", () => {
  it("names nested states in the same form as actors", () => {
    const { initial, nodes, edges } = graphOf(nested);
    expect(initial).toBe("live");
    expect(nodes).toEqual([
      { id: "live", parent: null, label: "live", type: "compound", initial: true },
      { id: "live.syncing", parent: "live", label: "syncing", type: "atomic", initial: true },
      { id: "live.synced", parent: "live", label: "synced", type: "atomic", initial: false },
      { id: "gone", parent: null, label: "gone", type: "final", initial: false },
    ]);
    expect(edges).toEqual([
      { from: "*", to: "live", event: "RESET", guard: null },
      { from: "live", to: "gone", event: "STOP", guard: null },
      { from: "live.syncing", to: "live.synced", event: "CAUGHT_UP", guard: "ready" },
      { from: "live.syncing", to: "live.syncing", event: "TICK", guard: null },
      { from: "live.synced", to: "live.syncing", event: "", guard: "(condition)" },
    ]);
    expect(nodes.map(({ id }) => id)).toContain(stateName({ live: "syncing" }));
  });

  it("begins in every part of a parallel machine", () => {
    const { initial, nodes } = graphOf(parallel);
    expect(initial).toBe("*");
    expect(nodes.filter((node) => node.initial).map(({ id }) => id)).toEqual(["a", "a.x", "b", "b.x"]);
  });

  it("has one state if the machine has none", () => {
    expect(graphOf(setup({}).createMachine({ id: "one", on: { GO: {} } }))).toEqual({
      initial: "{}",
      nodes: [{ id: "{}", parent: null, label: "one", type: "atomic", initial: true }],
      edges: [{ from: "*", to: "*", event: "GO", guard: null }],
    });
  });

  it.each([["token", tokenMachine], ["transaction", transactionMachine]] as const)(
    "of a %s joins existing states",
    (_, machine) => {
      const { initial, nodes, edges } = graphOf(machine);
      const ids = new Set(["*", ...nodes.map(({ id }) => id)]);
      expect(ids.has(initial)).toBe(true);
      expect(ids.size).toBe(nodes.length + 1);
      expect(edges.length).toBeGreaterThan(nodes.length);
      for (const { from, to } of edges) expect([...ids]).toEqual(expect.arrayContaining([from, to]));
    },
  );
});

describe("the events that a state allows", () => {
  it("are its own, those around it and those of the machine", () => {
    const events = (machine: AnyStateMachine, value: unknown) => allowedIn(machine, value).events;
    expect(events(nested, { live: "syncing" })).toEqual(["CAUGHT_UP", "RESET", "STOP", "TICK"]);
    expect(events(nested, { live: "synced" })).toEqual(["RESET", "STOP"]);
    expect(events(parallel, { a: "x", b: "y" })).toEqual(["BACK", "GO"]);
    expect(events(parallel, { a: "y", b: "x" })).toEqual([]);
    expect(events(nested, "nowhere")).toEqual(["RESET"]);
  });
});

describe("an intent", () => {
  it("is shown as such, and is not among the events that can be applied", () => {
    const { edges } = graphOf(tokenMachine);
    expect(edges.filter(({ intent }) => intent).map(({ from, event }) => [from, event])).toEqual([
      ["live", "REQUEST"],
      ["live", "UPDATE"],
      ["live", "END"],
      ["quarantined", "END"],
    ]);
    expect(allowedIn(tokenMachine, "quarantined")).toEqual({
      events: ["APPLIED", "ENDED", "REFUSED", "RELEASED", "REQUESTED", "RETRACTED", "ROLLED_BACK", "UPDATED"],
      intents: ["END"],
    });
    expect(allowedIn(tokenMachine, "absent")).toEqual({ events: ["BOOTED", "ROLLED_BACK"], intents: [] });
    expect(allowedIn(delegationMachine, "both").intents).toEqual(["CAST", "JOIN", "QUIT"]);
    expect(eventsOf(delegationMachine)).toEqual(["CERTIFIED", "EPOCH", "REWARDED", "ROLLED_BACK", "TOLD"]);
  });
});

describe("the recent rate of an event", () => {
  it("counts the last minute, or less if the counter is younger", () => {
    let now = 5_000;
    const recent = new RateCounter(() => now);
    expect(recent.perSecond()).toBe(0);
    recent.add(10);
    now += 2_000;
    expect(recent.perSecond()).toBe(5);
    for (let second = 0; second < 120; second++) {
      now += 1_000;
      recent.add(3);
    }
    expect(recent.perSecond()).toBeCloseTo(3, 0);
    now += 30_000;
    expect(recent.perSecond()).toBeCloseTo(1.5, 0);
    now += 60_000;
    expect(recent.perSecond()).toBe(0);
    now += 3_600_000;
    recent.add(6);
    expect(recent.perSecond()).toBeCloseTo(6 / 59, 3);
  });
});
