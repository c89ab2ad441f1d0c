/** The parts of the operator pages that need no browser: the drawing of statecharts, and why an actor waits. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { delegationMachine } from "#machines/delegation.ts";
import { sharedWalletMachine } from "#machines/sharedWallet.ts";
import { tokenMachine } from "#machines/token.ts";
import { transactionMachine } from "#machines/transaction.ts";
import { walletMachine } from "#machines/wallet.ts";
import { leavesOf } from "#src/pages/operator/chartGraph.ts";
import {
  type ChartLayout,
  clip,
  LABEL_CHARACTER,
  layoutChart,
  NOTE_LINE,
  takenOf,
} from "#src/pages/operator/chartLayout.ts";
import { effectSpans, stateSpans, sumsOf } from "#src/pages/operator/durations.ts";
import { placeOf } from "#src/pages/operator/kinds.ts";
import type { Actor, Lags, Machine } from "#src/pages/operator/types.ts";
import { reasonsOf } from "#src/pages/operator/why.ts";
import { graphOf } from "#src/runtime/operations/graph.ts";

/** Width of the panel of a statechart at 1280 pixels. */
const PANEL = 752;

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** Whether two rectangles share more than an edge. */
const overlap = (a: Rect, b: Rect) =>
  a.x < b.x + b.w - 0.01 && b.x < a.x + a.w - 0.01 && a.y < b.y + b.h - 0.01 && b.y < a.y + a.h - 0.01;

/** The defects of a layout, in sentences. */
function faults({ width, height, boxes, arrows }: ChartLayout): string[] {
  const found: string[] = [];
  const inside = ({ x, y, w, h }: Rect) => x >= -0.01 && y >= -0.01 && x + w <= width + 0.01 && y + h <= height + 0.01;
  boxes.forEach((box, i) => {
    if (![box.x, box.y, box.w, box.h].every(Number.isFinite)) found.push(`${box.id} has no position`);
    if (!inside(box)) found.push(`${box.id} is outside the drawing`);
    if (36 + box.notes.length * NOTE_LINE > box.h + 1) found.push(`the notes of ${box.id} are outside it`);
    for (const other of boxes.slice(i + 1)) if (overlap(box, other)) found.push(`${box.id} overlaps ${other.id}`);
  });
  // Labels that are always visible are over their arrow, between two boxes.
  const labels = arrows.filter(({ usual }) => usual).map(({ from, to, label, text }) => {
    const w = text.length * LABEL_CHARACTER;
    return { name: `${from} → ${to}`, x: label.x - w / 2, y: label.y - 11, w, h: 13 };
  });
  labels.forEach((label, i) => {
    for (const other of labels.slice(i + 1)) {
      if (overlap(label, other)) found.push(`the label of ${label.name} overlaps that of ${other.name}`);
    }
    for (const box of boxes) if (overlap(label, box)) found.push(`the label of ${label.name} overlaps ${box.id}`);
  });
  for (const { from, to, path } of arrows) {
    if (!/^M[-\d. CHMV]+$/.test(path)) found.push(`${from} → ${to} has no path: ${path}`);
  }
  return found;
}

/** Machines of up to a dozen states, nested up to three deep, with arbitrary arrows. */
const machines: fc.Arbitrary<Machine> = fc.record({
  parents: fc.array(fc.option(fc.nat(), { nil: null, freq: 2 }), { minLength: 1, maxLength: 12 }),
  edges: fc.array(
    fc.tuple(fc.nat(), fc.nat(), fc.string({ maxLength: 40 }), fc.option(fc.string({ maxLength: 40 }), { nil: null })),
    { maxLength: 30 },
  ),
}).map(({ parents, edges }) => {
  const ids: string[] = [];
  const inner = new Set<string>();
  const nodes = parents.map((choice, i) => {
    const parent = choice === null || i === 0 ? null : ids[choice % i]!;
    const id = parent === null || parent.split(".").length >= 3 ? `s${i}` : `${parent}.s${i}`;
    ids.push(id);
    if (id.includes(".")) inner.add(parent!);
    return { id, parent: id.includes(".") ? parent : null, label: `s${i}`, type: "atomic" as const, initial: i === 0 };
  });
  return {
    kind: "any",
    machineVersion: 1,
    initial: ids[0]!,
    nodes: nodes.map((node) => ({ ...node, type: inner.has(node.id) ? "compound" as const : "atomic" as const })),
    edges: edges.map(([from, to, event, guard]) => ({
      from: from % 7 === 0 ? "*" : ids[from % ids.length]!,
      to: ids[to % ids.length]!,
      event,
      guard,
    })),
  };
});

const PRODUCT = {
  token: tokenMachine,
  transaction: transactionMachine,
  wallet: walletMachine,
  "shared-wallet": sharedWalletMachine,
  delegation: delegationMachine,
};
const machineOf = (kind: keyof typeof PRODUCT) => ({ kind, machineVersion: 1, ...graphOf(PRODUCT[kind]) }) as Machine;

describe("a drawn statechart", () => {
  it.each(Object.keys(PRODUCT) as (keyof typeof PRODUCT)[])("fits its panel without overlaps: %s", (kind) => {
    const layout = layoutChart(machineOf(kind));
    expect(faults(layout)).toEqual([]);
    expect(layout.width).toBeLessThanOrEqual(PANEL);
    expect(layout.height).toBeLessThanOrEqual(300);
  });

  it("has no overlaps, each state once, and each transition between two states, for any machine", () => {
    fc.assert(
      fc.property(machines, (machine) => {
        const layout = layoutChart(machine);
        expect(faults(layout)).toEqual([]);
        const inner = machine.nodes.filter(({ id }) => !machine.nodes.some(({ parent }) => parent === id));
        expect(layout.boxes.map(({ id }) => id).sort()).toEqual(inner.map(({ id }) => id).sort());
        for (const { from, to } of machine.edges) {
          if (from === to || ![from, to].every((end) => inner.some(({ id }) => id === end))) continue;
          expect(takenOf(layout, from, to)).toMatchObject({ from, to });
        }
      }),
      { numRuns: 300 },
    );
  });

  it("draws the usual course as arrows from left to right, also by an event that every state has", () => {
    const layout = layoutChart(machineOf("transaction"));
    const course = ["created", "submitting", "pending", "in_ledger"];
    const boxes = course.map((id) => layout.boxes.find((box) => box.id === id)!);
    expect(boxes.map(({ y }) => y)).toEqual(boxes.map(() => boxes[0]!.y));
    expect(boxes.map(({ x }) => x)).toEqual(boxes.map(({ x }) => x).toSorted((a, b) => a - b));
    expect(layout.arrows.filter(({ usual }) => usual).map(({ from, to, text }) => [from, to, text])).toEqual([
      ["created", "submitting", "SUBMIT"],
      ["submitting", "pending", "ACCEPTED"],
      ["pending", "in_ledger", "IN_LEDGER"],
    ]);
  });

  it("lights the innermost states of a name", () => {
    expect(leavesOf("live")).toEqual(["live"]);
    expect(leavesOf("live.syncing")).toEqual(["live.syncing"]);
    expect(leavesOf("a.{b.x,c.{d,e.y}}")).toEqual(["a.b.x", "a.c.d", "a.c.e.y"]);
  });

  it("clips long texts", () => {
    expect(clip("abc", 3)).toBe("abc");
    expect(clip("abcd", 3)).toBe("ab…");
  });
});

describe("why an actor waits", () => {
  const actor: Actor = {
    entity: { kind: "transaction", id: "ab" },
    machineVersion: 2,
    state: "pending",
    context: { attempt: 2, validTo: 500, failures: [] },
    version: 3,
    inputSeq: 7,
    paused: false,
    changed: "2026-01-01T00:00:00.000Z",
    allowed: [],
    intents: [],
    reminders: [],
    effects: [],
    unreadInputs: 0,
    partition: 1,
    owner: "one",
    epoch: 1,
    mailbox: { depth: 0, resident: true, inTurn: false },
  };
  const lags = { follower: { slot: 400, tipSlot: 400, height: 1, tipHeight: 1 } } as Lags;
  const why = (changes: Partial<Actor>) =>
    reasonsOf({ ...actor, ...changes }, lags).map(({ tone, text }) => [tone, text]);

  it("names the effect that fails, with its error and its next attempt", () => {
    const effect = { n: 9, name: "submit", attempts: 7, nextAttempt: "2026-01-01T00:00:09.000Z", error: "no node" };
    expect(reasonsOf({ ...actor, state: "submitting", effects: [effect] }, lags)).toEqual([{
      tone: "bad",
      text: "The effect submit #9 failed 7 times.",
      detail: "no node",
      next: "2026-01-01T00:00:09.000Z",
      advice: "It is repeated until it succeeds. Correct what the error names.",
    }]);
  });

  it.each<[string, Partial<Actor>, [string, RegExp]]>([
    ["a pause", { paused: true }, ["warning", /paused/]],
    ["a missing worker", { owner: null }, ["bad", /No worker owns/]],
    ["a silent worker", { mailbox: null }, ["warning", /does not answer/]],
    ["a full queue", { mailbox: { depth: 99, resident: true, inTurn: true } }, ["waits", /99 commands/]],
    ["a block that has not come", {}, ["waits", /attempt 2.*expires at slot 500, in 100 slots/]],
    ["a passed slot", { context: { ...actor.context, validTo: 300 } }, ["waits", /slot 300 has passed/]],
    ["an expiry", { state: "expired" }, ["bad", /expired at slot 500/]],
    ["a failed script", { state: "in_ledger", context: { height: 8, valid: false } }, ["bad", /a script failed/]],
    ["nothing", { state: "in_ledger", context: { height: 8, valid: true } }, ["good", /since block 8/]],
  ])("says that it is %s", (_, changes, [tone, text]) => {
    expect(why(changes)[0]).toEqual([tone, expect.stringMatching(text)]);
  });

  it("says that no block comes, to a transaction that waits for one", () => {
    expect(reasonsOf(actor, lags, 300_000)[0]).toMatchObject({
      tone: "warning",
      text: "No block has come for 5 min, so no transaction gets into the ledger.",
    });
    expect(reasonsOf(actor, lags, 20_000)[0]!.tone).toBe("waits");
    expect(reasonsOf({ ...actor, state: "expired" }, lags, 300_000)[0]!.tone).toBe("bad");
  });

  it("has the ledger's reasons for a refusal", () => {
    const failures = [{ name: "BadInputsUTxO", message: "The input is spent." }];
    expect(reasonsOf({ ...actor, state: "refused", context: { failures } }, lags)[0]).toMatchObject({
      tone: "bad",
      detail: "BadInputsUTxO: The input is spent.",
    });
  });

  it("is empty for an actor of another kind that waits for nothing", () => {
    expect(why({ entity: { kind: "token", id: "ab" }, state: "live" })).toEqual([]);
  });
});

describe("colours of the chart of kinds", () => {
  it("are one for each kind of the product, and one more for others", () => {
    const kinds = ["token", "wallet", "transaction", "delegation", "shared-wallet"];
    expect(kinds.map(placeOf)).toEqual([0, 1, 2, 3, 4]);
    expect(placeOf("account")).toBe(5);
  });
});

describe("durations", () => {
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const entity = { kind: "transaction", id: "ab" };
  /** Newest first: submits at 10 s, is retried at 14 s, is accepted at 15 s, and stays so with an event at 16 s. */
  const history = [
    { version: 4, from: "pending", to: "pending", cause: "input:9", at: at(16) },
    { version: 3, from: "submitting", to: "pending", cause: "effect:transaction/ab:128", at: at(15) },
    { version: 2, from: "submitting", to: "submitting", cause: "effect:transaction/ab:64", at: at(14) },
    { version: 1, from: "created", to: "submitting", cause: "c", at: at(10) },
  ];

  it("are those of states, in which events without a change of state make no new span", () => {
    expect(stateSpans(history, 20_000)).toEqual([
      { name: "submitting", from: 10_000, to: 15_000, open: false },
      { name: "pending", from: 15_000, to: 20_000, open: true },
    ]);
    // a clock that is behind makes no negative span
    expect(stateSpans(history, 0).at(-1)).toMatchObject({ from: 15_000, to: 15_000 });
    expect(stateSpans([], 20_000)).toEqual([]);
  });

  it("are those of effects, from the version that requested them to their outcome", () => {
    const causes = [{ type: "effect" as const, ...entity, n: 128, name: "submit", href: "" }];
    const entries = history.map((one) => one.version === 3 ? { ...one, causes } : one);
    const open = { name: "watch", attempts: 0, nextAttempt: at(20), error: null };
    expect(effectSpans(entity, entries, [{ ...open, n: 256 }, { ...open, n: 9_999 }], 20_000)).toEqual([
      { name: "effect", from: 10_000, to: 14_000, open: false },
      { name: "submit", from: 14_000, to: 15_000, open: false },
      { name: "watch", from: 16_000, to: 20_000, open: true },
    ]);
    expect(effectSpans({ kind: "transaction", id: "a" }, entries, [], 20_000)).toEqual([]);
  });

  it("are summed by name, the longest first", () => {
    const span = (name: string, from: number, to: number, open = false) => ({ name, from, to, open });
    expect(sumsOf([span("a", 0, 2), span("b", 2, 9), span("a", 9, 12, true)])).toEqual([
      { name: "b", times: 1, total: 7, longest: 7, open: false },
      { name: "a", times: 2, total: 5, longest: 3, open: true },
    ]);
  });
});
