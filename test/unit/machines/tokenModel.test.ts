/**
 * The token's machine, driven through the runtime's fold by random rows of the chain log, compared with a plain model:
 * once by rows in any order, and once by a simulated chain with rollbacks.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tokenActor } from "#actors/token.ts";
import type { TokenBuildOptions } from "#src/tokens/builds/reservedBuild.ts";
import { refusalOf, tokenInputs } from "#machines/token.ts";
import type { Json } from "#src/base/json.ts";
import { type EntityState, fold, type TurnItem } from "#src/runtime/turns/fold.ts";
import { hydrate, startMachine, stateName, viewOf } from "#src/runtime/turns/machine.ts";
import type { Event } from "#src/runtime/types.ts";
import { cases } from "../../support/base/longTests.ts";

/** Thrown where a build begins to read rows. */
const rows = new Error("rows are read");
const kind = tokenActor({
  get store(): never {
    throw rows;
  },
} as unknown as TokenBuildOptions);
const entity = { kind: "token", id: "cd".repeat(32) };
const RUNS = cases(600, 3_000);

type State = "absent" | "live" | "quarantined" | "ended";
type Input = ReturnType<typeof tokenInputs.parse>;

interface View {
  readonly state: State;
  readonly owner: string | null;
  readonly root: string | null;
  readonly ref: string | null;
  readonly slot: number | null;
  readonly quarantine: string | null;
}
const absent: View = { state: "absent", owner: null, root: null, ref: null, slot: null, quarantine: null };

/** The effect of a row of the log on a token; `undefined` if it does not fit. */
function after(view: View, input: Input): View | undefined {
  const { state } = view;
  if (input.type === "ROLLED_BACK") {
    const { to, owner, root, ref, slot, reason } = input;
    return { state: to, owner, root, ref, slot, quarantine: to === "quarantined" ? reason : null };
  }
  const { slot } = input;
  const caged = state === "live" || state === "quarantined";
  if (input.type === "BOOTED") {
    const { owner, root, ref } = input;
    return state === "absent" ? { ...view, state: "live", owner, root, ref, slot } : undefined;
  }
  if (input.type === "UPDATED") {
    const { owner, root, ref } = input;
    return caged ? { ...view, owner, root, ref, slot } : undefined;
  }
  if (input.type === "APPLIED") return caged ? { ...view, slot } : undefined;
  if (input.type === "REQUESTED" || input.type === "RETRACTED") {
    return state === "absent" ? undefined : { ...view, slot };
  }
  if (input.type === "ENDED") return caged ? { ...view, state: "ended", slot, quarantine: null } : undefined;
  if (input.type === "QUARANTINED") {
    return state === "live" ? { ...view, state: "quarantined", slot, quarantine: input.reason } : undefined;
  }
  return state === "quarantined" ? { ...view, state: "live", slot, quarantine: null } : undefined;
}

const INTENTS = ["REQUEST", "UPDATE", "END"] as const;
/** The builds that a state allows: requesting, applying, ending. */
const POSSIBLE: Record<State, Record<(typeof INTENTS)[number], boolean>> = {
  absent: { REQUEST: false, UPDATE: false, END: false },
  live: { REQUEST: true, UPDATE: true, END: true },
  quarantined: { REQUEST: false, UPDATE: false, END: true },
  ended: { REQUEST: false, UPDATE: false, END: false },
};

const slot = fc.nat(10_000);
const word = fc.stringMatching(/^[0-9a-f]{1,8}$/);
const caged = { slot, owner: word, root: word, ref: word };
const reason = fc.string({ maxLength: 40 });
const anyInput: fc.Arbitrary<Input> = fc.oneof(
  fc.record({ type: fc.constant("BOOTED" as const), ...caged }),
  fc.record({ type: fc.constant("UPDATED" as const), ...caged, applied: fc.nat(9) }),
  fc.record({
    type: fc.constant("APPLIED" as const),
    slot,
    part: fc.integer({ min: 1, max: 9 }),
    parts: fc.nat(9),
    changes: fc.constant<never[]>([]),
  }),
  fc.record({ type: fc.constant("REQUESTED" as const), slot, request: word }),
  fc.record({ type: fc.constant("RETRACTED" as const), slot, request: word }),
  fc.record({ type: fc.constant("ENDED" as const), slot }),
  fc.record({ type: fc.constant("QUARANTINED" as const), slot, reason }),
  fc.record({ type: fc.constant("RELEASED" as const), slot }),
  fc.record({
    type: fc.constant("ROLLED_BACK" as const),
    slot,
    to: fc.constantFrom("absent" as const, "live" as const, "ended" as const, "quarantined" as const),
    owner: fc.option(word),
    root: fc.option(word),
    ref: fc.option(word),
    reason: fc.option(reason),
  }),
);

/** One entity as in its worker, restored from its stored form after every turn. */
class Token {
  held: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };
  private seq = 0;

  /** A turn over some rows; returns the outcome of each. */
  turn(inputs: readonly Input[]): readonly string[] {
    const items = inputs.map((event): TurnItem => ({
      from: "input",
      seq: ++this.seq,
      event: tokenInputs.parse(event) as Event,
    }));
    const folded = fold(kind, entity, this.held, items, 1_000);
    expect(folded.failed).toEqual([]);
    expect([folded.effects, folded.ended, folded.ownRows, [...folded.reminders], [...folded.results]]).toEqual([
      [],
      [],
      [],
      [],
      [],
    ]);
    expect(folded.next.inputSeq).toBe(this.seq);
    const snapshot = folded.text === undefined
      ? folded.next.snapshot
      : hydrate(kind, JSON.parse(folded.text), kind.version);
    this.held = { ...folded.next, snapshot };
    return folded.inputs.map(({ outcome }) => outcome);
  }

  expectToBe(view: View): void {
    const { snapshot, version } = this.held;
    if (snapshot === undefined) return expect(view).toEqual(absent);
    const { state, ...context } = view;
    expect(stateName(snapshot.value)).toBe(state);
    expect(snapshot.context).toEqual(context);
    const { can } = viewOf(entity, snapshot, version);
    for (const intent of INTENTS) expect(can({ type: intent })).toBe(POSSIBLE[state][intent]);
  }
}

describe("a token", () => {
  it(`follows the model through ${RUNS} random logs`, () => {
    const states = new Set<State>();
    fc.assert(
      fc.property(fc.array(fc.array(anyInput, { minLength: 1, maxLength: 6 }), { maxLength: 10 }), (turns) => {
        const token = new Token();
        let view = absent;
        let version = 0;
        for (const inputs of turns) {
          const expected = inputs.map((input) => {
            const next = after(view, input);
            if (next !== undefined) version++;
            view = next ?? view;
            states.add(view.state);
            return next === undefined ? "skipped" : "applied";
          });
          expect(token.turn(inputs)).toEqual(expected);
          expect(token.held.version).toBe(version);
          token.expectToBe(view);
        }
      }),
      { numRuns: RUNS },
    );
    expect([...states].sort()).toEqual(["absent", "ended", "live", "quarantined"]);
  });

  it(`has the chain's state, forward and back, in ${RUNS} random histories`, () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ is: fc.constant("block" as const), input: anyInput }) },
      { weight: 1, arbitrary: fc.record({ is: fc.constant("back" as const), blocks: fc.integer({ min: 1, max: 6 }) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (story, atOnce) => {
        const token = new Token();
        // The state after each block, the oldest first; block i is at slot i.
        const chain: View[] = [absent];
        const log: Input[] = [];
        for (const one of story) {
          const tip = chain.at(-1)!;
          if (one.is === "back") {
            const cut = chain.splice(Math.max(1, chain.length - one.blocks));
            if (cut.length === 0) continue;
            const { state: to, owner, root, ref, quarantine } = chain.at(-1)!;
            log.push({ type: "ROLLED_BACK", slot: chain.length - 1, to, owner, root, ref, reason: quarantine });
            continue;
          }
          if (one.input.type === "ROLLED_BACK") continue;
          const input = { ...one.input, slot: chain.length };
          const next = after(tip, input);
          // The ledger has no such block.
          if (next === undefined) continue;
          chain.push(next);
          log.push(input);
        }
        for (let i = 0; i < log.length; i += atOnce) {
          const rows = log.slice(i, i + atOnce);
          expect(token.turn(rows)).toEqual(rows.map(() => "applied"));
        }
        // A rollback records its own slot, which is that of the block it returned to.
        if (log.length > 0) token.expectToBe({ ...chain.at(-1)!, slot: chain.length - 1 });
      }),
      { numRuns: RUNS },
    );
  });

  it("refuses in each state the builds that its machine does not allow, with the reason", () => {
    const reasons = { absent: "token_unknown", quarantined: "token_quarantined", ended: "token_ended" };
    for (const state of ["absent", "live", "quarantined", "ended"] as const) {
      for (const type of INTENTS) {
        const reason = state === "live" || POSSIBLE[state][type] ? undefined : reasons[state];
        expect([state, type, refusalOf(state, { type })]).toEqual([state, type, reason]);
      }
    }
  });

  it("has builds that read rows whatever the actor knows: it reads the log later", async () => {
    const view = { owner: "ab", root: "00", ref: "cd#0", slot: 1 };
    const stories: Record<State, Input[]> = {
      absent: [],
      live: [{ type: "BOOTED", ...view }],
      quarantined: [{ type: "BOOTED", ...view }, { type: "QUARANTINED", slot: 2, reason: "r" }],
      ended: [{ type: "BOOTED", ...view }, { type: "ENDED", slot: 2 }],
    };
    const inputs = {
      REQUEST: ["request", { type: "delete", address: "ab", key: "", oldValue: "" }],
      UPDATE: ["update", { address: "ab", requests: [`${"0".repeat(64)}#0`], dryRun: false }],
      END: ["end", { address: "ab" }],
    } as const;
    for (const story of Object.values(stories)) {
      const token = new Token();
      token.turn(story);
      const snapshot = token.held.snapshot ?? startMachine(kind.machine, entity)[0];
      for (const [name, input] of Object.values(inputs)) {
        const context = { entity, signal: new AbortController().signal, deadline: 0 };
        const answer = kind.builds![name]!.run(viewOf(entity, snapshot, token.held.version), input as Json, context);
        await expect(answer).rejects.toBe(rows);
      }
    }
  });
});
