/** Deltas: applied, undone, on a state and on an overlay of another. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import { parseRefKey, refKey } from "#src/cardano/output.ts";
import { type Applied, applyDelta, undoDelta } from "#src/ledger/delta.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { type MutableLedgerState, overlay } from "#src/ledger/state.ts";
import { fitsBlock, validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import {
  ada,
  alice,
  atScript,
  bob,
  type Draft,
  output,
  type Person,
  reference,
  slots,
  World,
} from "../../support/ledger/draft.ts";
import { plutusHash, refuses } from "../../support/plutus/scripts.ts";
import { cases } from "../../support/base/longTests.ts";

const of = (person: Person): Encodable => [0, fromHex(person.stakeHash)];
const keys = [alice, bob].flatMap(({ payment, stake }) => [payment, stake]);

/** The whole content of a state, for comparison. */
function picture(state: MutableLedgerState, outputs: ReadonlySet<string>) {
  const rows = <V>(table: { entries(): Iterable<readonly [string, V]> }) =>
    [...table.entries()].sort(([a], [b]) => a < b ? -1 : 1);
  return structuredClone({
    outputs: [...outputs].sort().flatMap((key) => state.utxo.get(parseRefKey(key)) ? [key] : []),
    accounts: rows(state.accounts),
    pools: rows(state.pools),
    dreps: rows(state.dreps),
    committee: rows(state.committee),
    pots: state.pots,
  });
}

/** Random actions; some are refused. */
const steps = fc.constantFrom<(world: World) => Draft>(
  () => ({ outputs: [output(bob.address, 3n * ada)], paid: 3n * ada }),
  () => ({ certificates: [[0, of(alice)]], extra: -2n * ada }),
  () => ({ certificates: [[7, of(bob), 2n * ada], [9, of(bob), [0, fromHex(alice.stakeHash)]]], extra: -2n * ada }),
  () => ({ certificates: [[1, of(alice)]], extra: 2n * ada }),
  () => ({ certificates: [[8, of(bob), 2n * ada]], extra: 2n * ada }),
  () => ({ certificates: [[16, of(alice), 500n * ada, null]], extra: -500n * ada }),
  () => ({ certificates: [[17, of(alice), 500n * ada]], extra: 500n * ada }),
  () => ({ certificates: [[9, of(alice), [2]]] }),
  () => ({ certificates: [[0, of(alice)], [9, of(alice), [3]], [1, of(alice)]] }),
  () => ({ withdrawals: [[bob.reward, 0n]] }),
  () => ({ certificates: [[14, of(bob), of(alice)]] }),
  () => ({ fields: { 22: 9 }, extra: -9n }),
  (world) => ({
    inputs: [world.fund(atScript(plutusHash(3, refuses)), 10n * ada)],
    plutus: { 3: [refuses] },
    redeemers: [[0, 0]],
    valid: false,
    fields: { 13: [reference(world.fund(alice.address, 8n * ada))], 16: output(bob.address, 7n * ada) },
  }),
);

async function judgeOn(state: MutableLedgerState, bytes: Uint8Array): Promise<Applied | undefined> {
  const verdict = await validate(state, bytes, 1_000, async (input) => evaluateScripts(input), slots);
  return verdict.ok ? verdict.value : undefined;
}

describe("deltas", () => {
  it("undo exactly what they did, on a state and on an overlay, which alone changes", async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 12 }), async (drafts) => {
        const world = new World();
        world.state.committee.set("k" + bob.stakeHash, {});
        const transactions = drafts.map((draft) =>
          world.write({ inputs: [world.fund(alice.address, 900n * ada)], keys, ...draft(world) })
        );
        const refs = new Set(world.outputs.keys());
        const applied: Applied[] = [];
        const over = overlay(world.state);
        for (const bytes of transactions) {
          const delta = await judgeOn(over, bytes);
          if (!delta) continue;
          applied.push(delta);
          delta.created.forEach(({ ref }) => refs.add(refKey(ref)));
          applyDelta(over, delta);
        }
        accepted += applied.length;
        for (const state of [world.state, overlay(world.state)]) {
          const pictures = [picture(state, refs)];
          for (const delta of applied) {
            applyDelta(state, delta);
            pictures.push(picture(state, refs));
          }
          expect(picture(over, refs)).toEqual(pictures.at(-1));
          for (const delta of [...applied].reverse()) {
            expect(picture(state, refs)).toEqual(pictures.pop());
            undoDelta(state, delta);
          }
          expect(picture(state, refs)).toEqual(pictures.pop());
        }
      }),
      { numRuns: cases(10, 40) },
    );
    expect(accepted).toBeGreaterThan(cases(10, 40));
  });

  it("leave the state unchanged until they are applied", async () => {
    const world = new World();
    world.fund(alice.address);
    const refs = new Set(world.outputs.keys());
    const before = picture(world.state, refs);
    const draft: Draft = {
      inputs: [{ ref: parseRefKey([...refs][0]!), output: world.outputs.get([...refs][0]!)! }],
      certificates: [[0, of(alice)]],
      extra: -2n * ada,
    };
    expect(await world.failures({ ...draft, keys })).toEqual([]);
    expect(picture(world.state, refs)).toEqual(before);
  });
});

describe("fitsBlock", () => {
  const one = (changes: Partial<Applied> = {}) =>
    ({
      size: 1_000,
      units: { memory: 0n, steps: 0n },
      refScriptBytes: 0,
      ...changes,
    }) as Applied;
  const fits = (count: number, next: Applied, of: Partial<Applied> = {}) =>
    fitsBlock(mainnetParameters, Array.from({ length: count }, () => one(of)), next);

  it("counts bytes", () => {
    expect(fits(5, one({ size: 16_384 }), { size: 14_000 })).toBe(true);
    expect(fits(5, one({ size: 16_384 }), { size: 16_384 })).toBe(false);
  });
  it("counts units", () => {
    const units = { memory: 14_000_000n, steps: 5_000_000_000n };
    expect(fits(3, one({ units }), { units })).toBe(true);
    expect(fits(4, one({ units }), { units })).toBe(false);
    expect(fits(5, one({ units: { memory: 2_000_001n, steps: 0n } }), { units: { memory: 14_000_000n, steps: 0n } }))
      .toBe(false);
  });
  it("counts bytes of reference scripts", () => {
    expect(fits(4, one({ refScriptBytes: 204_800 }), { refScriptBytes: 204_800 })).toBe(true);
    expect(fits(5, one({ refScriptBytes: 204_800 }), { refScriptBytes: 204_800 })).toBe(false);
  });
});
