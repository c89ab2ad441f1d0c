/**
 * The outcome of requests and facts, computed from random blocks that are added and rolled back, is that of a plain
 * model of the same chain.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { encodeData } from "#src/cardano/data.ts";
import { compareRefs, type OutRef, parseRefKey, refKey } from "#src/cardano/output.ts";
import { encodeTransaction, type NewOutput, transactionHash } from "#src/cardano/transaction.ts";
import { EMPTY_ROOT, encodeRequest, type Operation } from "#src/contract/datum.ts";
import { spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { digest } from "#src/forestry/hash.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { lovelace } from "#src/cardano/value.ts";
import { op } from "../../support/contract/contractLedger.ts";
import { CageIndex } from "../../support/tokens/tokenIndex.ts";
import { newRef } from "../../support/wallets/person.ts";
import { alice, cage, policy, stateOf } from "../../support/contract/wholeTransaction.ts";

const TOKENS = ["5a".repeat(32), "5b".repeat(32)];
const KEYS = ["", "a", "/", "\u0000"];

interface Model {
  readonly states: Map<string, { ref: string; facts: Map<string, { value: string; slot: number }> }>;
  readonly open: Map<string, { token: string; key: string; operation: Operation }>;
  readonly log: string[];
}

const copyOf = ({ states, open, log }: Model): Model => ({
  states: new Map([...states].map(([token, { ref, facts }]) => [token, { ref, facts: new Map(facts) }])),
  open: new Map(open),
  log: [...log],
});

/** One transaction of a block, selected by numbers. */
const step = fc.record({
  kind: fc.constantFrom("request", "request", "update", "update", "retract", "end"),
  token: fc.nat({ max: 1 }),
  picks: fc.array(fc.record({ key: fc.nat({ max: 3 }), type: fc.nat({ max: 2 }), value: fc.nat({ max: 2 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  /** Which of the open requests. */
  mask: fc.nat({ max: 255 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const path = (key: string) => toHex(digest(utf8(key)));
const spend = (ref: OutRef, redeemer: SpendRedeemer) => ({
  for: { purpose: "spend" as const, ref },
  data: encodeData(spendData(redeemer)),
  units: { memory: 1n, steps: 1n },
});

function operationOf({ type, value }: Step["picks"][number], before: string | undefined): Operation {
  const old = before ?? "none";
  return [op.insert(`v${value}`), op.update(old, `v${value}`), op.remove(old)][type]!;
}

/** Makes a transaction, and its effect on the model; undefined if there is nothing to do. */
function play(model: Model, slot: number, { kind, token: number, picks, mask }: Step): Uint8Array | undefined {
  const token = TOKENS[number]!;
  const state = model.states.get(token);
  if (!state) return undefined;
  const mine = [...model.open].filter(([, one], i) => one.token === token && ((mask >> (i % 8)) & 1) === 1)
    .map(([ref, one]) => ({ ref, ...one })).sort((a, b) => compareRefs(parseRefKey(a.ref), parseRefKey(b.ref)));
  if (kind === "request") {
    const requested = picks.map((pick) => {
      const key = KEYS[pick.key]!;
      return { token, key, operation: operationOf(pick, state.facts.get(key)?.value) };
    });
    const outputs = requested.map(({ key, operation }): NewOutput => ({
      address: cage,
      value: lovelace(2_000_000n),
      datum: encodeRequest({
        ...{ policy, name: token, refund: { payment: alice.key }, fee: 500_000n },
        ...{ key: utf8(key), operation },
      }),
    }));
    const made = encodeTransaction({ inputs: [newRef()], outputs, fee: 1n });
    requested.forEach((one, i) => model.open.set(`${transactionHash(made)}#${i}`, one));
    return made;
  }
  if (kind === "end" && mask < 200) return undefined;
  const facts = new Map(state.facts);
  const applied = kind !== "update" ? [] : mine.filter(({ key, operation }) => {
    const value = facts.get(key)?.value;
    const expected = operation.type === "insert"
      ? undefined
      : operation.type === "update"
      ? operation.old
      : operation.value;
    if (value !== (expected && new TextDecoder().decode(expected))) return false;
    if (operation.type === "delete") facts.delete(key);
    else facts.set(key, { value: new TextDecoder().decode(operation.value), slot });
    return true;
  });
  // a transaction of an update retracts or refuses the requests that it does not apply
  const retracted = kind === "end" ? [] : mine.filter((one) => !applied.includes(one)).slice(0, 2);
  const isState = kind === "end" || applied.length > 0;
  // beside an update it may as well refuse them
  const isRefused = ({ ref }: { readonly ref: string }) => applied.length > 0 && Number(`0x${ref[0]}`) % 2 === 0;
  if (!isState && retracted.length === 0) return undefined;
  const root = Forestry.from([...facts].map(([key, { value }]) => leafOf(utf8(key), utf8(value)))).root;
  const spends = [
    ...(isState
      ? [spend(parseRefKey(state.ref), kind === "end" ? { type: "end" } : { type: "modify", actions: [] })]
      : []),
    ...applied.map(({ ref }) => spend(parseRefKey(ref), { type: "contribute" })),
    ...retracted.map((one) =>
      spend(parseRefKey(one.ref), isRefused(one) ? { type: "refuse", index: 0 } : { type: "retract" })
    ),
  ];
  const made = encodeTransaction({
    inputs: [...spends.map((one) => one.for.ref), newRef()],
    outputs: isState && kind !== "end" ? [stateOf(token, root)] : [],
    fee: 1n,
    redeemers: spends,
  });
  const hash = transactionHash(made);
  const ends = [...applied, ...retracted].sort((a, b) => compareRefs(parseRefKey(a.ref), parseRefKey(b.ref)));
  for (const one of ends) {
    const status = applied.includes(one) ? "applied" : isRefused(one) ? "refused" : "retracted";
    model.open.delete(one.ref);
    model.log.push([one.ref, status, one.token, `${one.token}:${path(one.key)}`, hash, slot].join(" "));
  }
  if (kind === "end") model.states.delete(token);
  else if (isState) model.states.set(token, { ref: refKey({ txHash: hash, index: 0 }), facts });
  return made;
}

function expectSame(index: CageIndex, model: Model): void {
  const ends = index.live("token_request_end").toSorted((a, b) =>
    Number(a.from_slot) - Number(b.from_slot) || Number(a.position) - Number(b.position)
  );
  expect(ends.map((row) => [row.ref, row.status, row.token, row.entry, row.tx, row.from_slot].join(" "))).toEqual(
    model.log,
  );
  expect(new Set(index.live("token_request").map((row) => row.ref))).toEqual(new Set(model.open.keys()));
  expect(index.live("token_quarantine")).toEqual([]);
  for (const [token, { ref, facts }] of model.states) {
    expect(index.live("token_state").filter((row) => row.token === token).map((row) => row.ref)).toEqual([ref]);
    const rows = index.live("fact").filter((row) => row.token === token);
    expect(new Map(rows.map((row) => [row.path, [toHex(row.value as Uint8Array), row.from_slot]]))).toEqual(
      new Map([...facts].map(([key, { value, slot }]) => [path(key), [toHex(utf8(value)), slot]])),
    );
  }
}

it("is that of a model, for all blocks and rollbacks", () => {
  const script = fc.array(
    fc.oneof({ weight: 4, arbitrary: fc.array(step, { maxLength: 4 }) }, { weight: 1, arbitrary: fc.nat({ max: 3 }) }),
    { minLength: 5, maxLength: 25 },
  );
  fc.assert(
    fc.property(script, (moves) => {
      const index = new CageIndex();
      const models: Model[] = [];
      const first: Model = { states: new Map(), open: new Map(), log: [] };
      const boots = TOKENS.map((token) => {
        const boot = encodeTransaction({
          ...{ inputs: [newRef()], outputs: [stateOf(token, fromHex(EMPTY_ROOT))], fee: 1n },
          mint: new Map([[policy + token, 1n]]),
        });
        first.states.set(token, { ref: `${transactionHash(boot)}#0`, facts: new Map() });
        return boot;
      });
      index.follow(...boots);
      models.push(first);
      for (const move of moves) {
        if (typeof move === "number") {
          const back = Math.min(move, models.length - 1);
          index.undo(back);
          models.splice(models.length - back, back);
        } else {
          const model = copyOf(models.at(-1)!);
          const slot = index.next;
          index.follow(...move.flatMap((one) => play(model, slot, one) ?? []));
          models.push(model);
        }
        expectSame(index, models.at(-1)!);
      }
    }),
    { numRuns: 40 },
  );
});
