/** Random histories of transactions, blocks and boundaries: all lovelace stays, and every step can be undone. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import { toPlain } from "#src/devnet/plain.ts";
import { applyDelta, undoDelta, write } from "#src/ledger/delta.ts";
import { applyEpoch, blockMade, firstSnapshots, passEpoch, undoEpoch } from "#src/ledger/epoch/pass.ts";
import { activeStake, stakeKey, takeSnapshot } from "#src/ledger/epoch/snapshot.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { type MutableLedgerState, overlay } from "#src/ledger/state.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { ada, alice, bob, type Draft, output, type Person, slots, World } from "../../support/draft.ts";
import { totalLovelace } from "../../support/lovelace.ts";
import { poolCertificate } from "../../support/pools.ts";

const people = [alice, bob];
const keys = people.flatMap(({ payment, stake }) => [payment, stake]);
const terms = {
  epochLength: 100,
  activeSlots: { numerator: 1n, denominator: 10n },
  maxSupply: 45_000_000_000n * ada,
};
const of = (person: Person): Encodable => [0, fromHex(person.stakeHash)];

/** Somebody's pool has the id of their stake key. */
const register = (person: Person, cost: bigint, pledge: bigint): Encodable =>
  poolCertificate(person.stakeHash, {
    cost,
    pledge,
    margin: { numerator: 1n, denominator: 20n },
    account: person.credential,
    owners: [person.stakeHash],
  });

/** A step: a transaction that may be refused, blocks of somebody's pool, or the end of an epoch. */
type Step =
  | { readonly draft: (world: World) => Draft }
  | { readonly blocks: number; readonly by: Person }
  | { readonly end: true };

const person = fc.constantFrom(...people);
const draft = (make: (world: World) => Draft): Step => ({ draft: make });
const transaction: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(person, fc.bigInt(2n * ada, 900n * ada)).map(([to, lovelace]) =>
    draft(() => ({ outputs: [output(to.address, lovelace)], paid: lovelace }))
  ),
  person.map((who) => draft(() => ({ certificates: [[0, of(who)]], extra: -2n * ada }))),
  person.map((who) => draft(() => ({ certificates: [[1, of(who)]], extra: 2n * ada }))),
  fc.tuple(person, person).map(([who, whose]) =>
    draft(() => ({ certificates: [[10, of(who), fromHex(whose.stakeHash), [2]]] }))
  ),
  fc.tuple(person, fc.boolean(), fc.bigInt(0n, 600n * ada)).map(([who, isNew, pledge]) =>
    draft(() => ({ certificates: [register(who, 170n * ada, pledge)], extra: isNew ? -500n * ada : 0n }))
  ),
  fc.tuple(person, fc.integer({ min: 1, max: 3 })).map(([who, ahead]) =>
    draft(({ state }) => ({ certificates: [[4, fromHex(who.stakeHash), state.epoch + ahead]] }))
  ),
  person.map((who) =>
    draft(({ state }) => ({ withdrawals: [[who.reward, state.accounts.get(who.account)?.balance ?? 0n]] }))
  ),
  fc.constant(draft(() => ({ fields: { 22: 9 }, extra: -9n }))),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: transaction, weight: 5 },
  { arbitrary: fc.record({ blocks: fc.integer({ min: 1, max: 6 }), by: person }), weight: 2 },
  { arbitrary: fc.constant<Step>({ end: true }), weight: 3 },
);

/** Two people, each with a pool that may make blocks and earn from the beginning, and more outputs than steps. */
function begin(): World {
  const world = new World({ ...mainnetParameters, desiredPools: 3 });
  const { state } = world;
  state.pots.reserves = 15_000_000_000n * ada;
  for (const who of people) {
    world.register(who, { pool: who.stakeHash, drep: "abstain" });
    const certificate = encode(register(who, 170n * ada, 0n));
    state.pools.set(who.stakeHash, { certificate, deposit: 500n * ada });
    state.pots.deposits += 502n * ada;
    for (let outputs = 0; outputs < 25; outputs++) world.fund(who.address, 900n * ada);
  }
  write(state.snapshots, firstSnapshots(state), "after");
  return world;
}

const sorted = <V>(table: { entries(): Iterable<readonly [string, V]> }) =>
  [...table.entries()].sort(([a], [b]) => a < b ? -1 : 1);

/** All that a state holds, as text. */
function picture(state: MutableLedgerState): string {
  const { accounts, pools, dreps, snapshots, blocks, ranking, pots, epoch, utxo } = state;
  const outputs = [...utxo.outputs()].map(({ raw }) => toHex(raw)).sort();
  const tables = [accounts, pools, dreps, snapshots, blocks, ranking].map((table) => sorted<unknown>(table));
  return toJson(toPlain({ outputs, tables, pots, epoch }));
}

describe("histories of transactions, blocks and epochs", () => {
  it("keep all lovelace, pay no more than the pot, and can be undone step by step", async () => {
    let [paid, refused, accepted] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), fc.boolean(), async (steps, isOver) => {
        const world = begin();
        const state = isOver ? overlay(world.state) : world.state;
        const all = totalLovelace(state);
        const pictures = [picture(state)];
        const undo: (() => void)[] = [];
        for (const next of steps) {
          if ("draft" in next) {
            const { inputs: _, ...rest } = next.draft({ ...world, state } as World);
            // Somebody's output is spent; what is over goes back to alice.
            const [key, held] = [...world.outputs].find(([key]) => state.utxo.get(parseRefKey(key)))!;
            const bytes = world.write({ inputs: [{ ref: parseRefKey(key), output: held }], keys, ...rest });
            const verdict = await validate(state, bytes, 1_000, async (input) => evaluateScripts(input), slots);
            if (!verdict.ok) {
              refused++;
              continue;
            }
            accepted++;
            const delta = verdict.value;
            applyDelta(state, delta);
            undo.push(() => undoDelta(state, delta));
          } else if ("blocks" in next) {
            const change = blockMade(state, next.by.stakeHash);
            const more = { ...change, after: change.after! + next.blocks - 1 };
            write(state.blocks, [more], "after");
            undo.push(() => write(state.blocks, [more], "before"));
          } else {
            const delta = passEpoch(state, terms);
            const pot = delta.ranking[0]!.after!.rewardPot;
            const sum = delta.rewards.reduce((total, { amount }) => total + amount, 0n);
            expect(delta.rewards.every(({ amount }) => amount >= 0n)).toBe(true);
            expect(sum).toBeLessThanOrEqual(pot);
            paid += sum > 0n ? 1 : 0;
            applyEpoch(state, delta);
            undo.push(() => undoEpoch(state, delta));
          }
          expect(totalLovelace(state)).toBe(all);
          checkStake(state);
          checkDeposits(state);
          pictures.push(picture(state));
        }
        for (const step of undo.reverse()) {
          expect(picture(state)).toBe(pictures.pop());
          step();
        }
        expect(picture(state)).toBe(pictures.pop());
      }),
      { numRuns: 15 },
    );
    expect(accepted).toBeGreaterThan(20);
    expect(refused).toBeGreaterThan(2);
    expect(paid).toBeGreaterThan(2);
  }, 120_000);
});

/** Stake of pools together is outputs and rewards of who delegates. */
function checkStake(state: MutableLedgerState): void {
  const delegates = (key: string | undefined) => key !== undefined && state.accounts.get(key)?.pool !== undefined;
  let sum = 0n;
  for (const of of state.utxo.outputs()) if (delegates(stakeKey(of))) sum += of.value.lovelace;
  for (const [, { pool, balance }] of state.accounts.entries()) if (pool !== undefined) sum += balance;
  expect(activeStake(takeSnapshot(state))).toBe(sum);
  for (const [, { balance }] of state.accounts.entries()) expect(balance).toBeGreaterThanOrEqual(0n);
}

/** The pot of deposits is what all who are registered paid. */
function checkDeposits({ accounts, pools, pots }: MutableLedgerState): void {
  const paid = [...accounts.entries(), ...pools.entries()].reduce((sum, [, { deposit }]) => sum + deposit, 0n);
  expect(pots.deposits).toBe(paid);
}
