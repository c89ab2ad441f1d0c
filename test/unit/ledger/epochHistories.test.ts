/** Random histories of transactions, blocks and boundaries: all lovelace stays, and every step can be undone. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import { toPlain } from "#src/devnet/ledger/plainJson.ts";
import { applyDelta, type RegistryChanges, undoDelta, write } from "#src/ledger/delta.ts";
import { applyEpoch, blockMade, firstSnapshots, passEpoch, undoEpoch } from "#src/ledger/epoch/pass.ts";
import { activeStake, stakeKey, takeSnapshot } from "#src/ledger/epoch/snapshot.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { type MutableLedgerState, overlay } from "#src/ledger/state.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { ada, alice, bob, type Draft, output, type Person, slots, World } from "../../support/ledger/draft.ts";
import { totalLovelace } from "../../support/ledger/totalLovelace.ts";
import { poolCertificate } from "../../support/ledger/pools.ts";
import { cases } from "../../support/base/longTests.ts";

const people = [alice, bob];
const keys = people.flatMap(({ payment, stake }) => [payment, stake]);
const terms = {
  epochLength: 100,
  activeSlots: { numerator: 1n, denominator: 10n },
  maxSupply: 45_000_000_000n * ada,
};
const of = (person: Person): Encodable => [0, fromHex(person.stakeHash)];

/** A person's pool has the id of their stake key. */
const register = (person: Person, cost: bigint, pledge: bigint): Encodable =>
  poolCertificate(person.stakeHash, {
    cost,
    pledge,
    // a VRF key belongs to one pool
    vrf: people.indexOf(person),
    margin: { numerator: 1n, denominator: 20n },
    account: person.credential,
    owners: [person.stakeHash],
  });

/** A step: a transaction that may be refused, blocks of a person's pool, or the end of an epoch. */
type Step =
  | { readonly draft: Action }
  | { readonly blocks: number; readonly by: Person }
  | { readonly end: true };

type Action = (world: World) => Draft;

const person = fc.constantFrom(...people);
const balanceOf = ({ state }: World, who: Person) => state.accounts.get(who.account)?.balance ?? 0n;
/** The target of votes: abstain, no confidence, or a person, who need not be a representative. */
const drep: fc.Arbitrary<Encodable> = fc.oneof(
  fc.constantFrom<Encodable>([2], [3]),
  person.map((whose): Encodable => [0, fromHex(whose.stakeHash)]),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.tuple(person, fc.bigInt(2n * ada, 900n * ada)).map(([to, lovelace]): Action => () => ({
    outputs: [output(to.address, lovelace)],
    paid: lovelace,
  })),
  // accounts: opened with and without a deposit and a delegation, closed with or without their rewards
  person.map((who): Action => () => ({ certificates: [[0, of(who)]], extra: -2n * ada })),
  fc.tuple(person, person, drep).map(([who, whose, vote]): Action => () => ({
    certificates: [[13, of(who), fromHex(whose.stakeHash), vote, 2n * ada]],
    extra: -2n * ada,
  })),
  person.map((who): Action => () => ({ certificates: [[1, of(who)]], extra: 2n * ada })),
  person.map((who): Action => (world) => ({
    certificates: [[8, of(who), 2n * ada]],
    withdrawals: [[who.reward, balanceOf(world, who)]],
    extra: 2n * ada + balanceOf(world, who),
  })),
  fc.tuple(person, person, drep).map(([who, whose, vote]): Action => () => ({
    certificates: [[10, of(who), fromHex(whose.stakeHash), vote]],
  })),
  person.map((who): Action => (world) => ({
    withdrawals: [[who.reward, balanceOf(world, who)]],
    extra: balanceOf(world, who),
  })),
  // pools: new or changed, and retiring, which a change cancels
  fc.tuple(person, fc.bigInt(0n, 600n * ada)).map(([who, pledge]): Action => ({ state }) => ({
    certificates: [register(who, 170n * ada, pledge)],
    extra: state.pools.get(who.stakeHash) ? 0n : -500n * ada,
  })),
  fc.tuple(person, fc.integer({ min: 1, max: 3 })).map(([who, ahead]): Action => ({ state }) => ({
    certificates: [[4, fromHex(who.stakeHash), state.epoch + ahead]],
  })),
  // representatives and the committee
  person.map((who): Action => () => ({ certificates: [[16, of(who), 500n * ada, null]], extra: -500n * ada })),
  person.map((who): Action => () => ({ certificates: [[17, of(who), 500n * ada]], extra: 500n * ada })),
  fc.tuple(person, person).map(([cold, hot]): Action => () => ({ certificates: [[14, of(cold), of(hot)]] })),
  person.map((cold): Action => () => ({ certificates: [[15, of(cold), null]] })),
  fc.constant<Action>(() => ({ fields: { 22: 9 }, extra: -9n })),
);

/** Several actions in one transaction, each certificate after those before it. */
function together(actions: readonly Action[]): Action {
  return (world) =>
    actions.map((each) => each(world)).reduce((all, one) => ({
      ...all,
      ...one,
      outputs: [...all.outputs ?? [], ...one.outputs ?? []],
      paid: (all.paid ?? 0n) + (one.paid ?? 0n),
      extra: (all.extra ?? 0n) + (one.extra ?? 0n),
      certificates: [...all.certificates ?? [], ...one.certificates ?? []],
      withdrawals: [...all.withdrawals ?? [], ...one.withdrawals ?? []],
    }));
}
const transaction: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: action, weight: 3 },
  { arbitrary: fc.array(action, { minLength: 2, maxLength: 3 }).map(together), weight: 1 },
).map((draft) => ({ draft }));
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
    state.committee.set(who.account, {});
    for (let outputs = 0; outputs < 25; outputs++) world.fund(who.address, 900n * ada);
  }
  write(state.snapshots, firstSnapshots(state), "after");
  return world;
}

const sorted = <V>(table: { entries(): Iterable<readonly [string, V]> }) =>
  [...table.entries()].sort(([a], [b]) => a < b ? -1 : 1);

/** The whole content of a state, as text. */
function picture(state: MutableLedgerState): string {
  const { accounts, pools, dreps, committee, snapshots, blocks, ranking, pots, epoch, utxo } = state;
  const outputs = [...utxo.outputs()].map(({ raw }) => toHex(raw)).sort();
  const tables = [accounts, pools, dreps, committee, snapshots, blocks, ranking].map((table) => sorted<unknown>(table));
  return toJson(toPlain({ outputs, tables, pots, epoch }));
}

describe("histories of transactions, blocks and epochs", () => {
  // fixed seeds that cover everything; and random ones
  it.each([11, undefined])(
    "keep all lovelace, pay no more than the pot, and can be undone step by step: %s",
    async (seed) => {
      let [paid, refused, accepted] = [0, 0, 0];
      const seen = new Map<string, number>();
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
              // A person's output is spent; the remainder returns to alice.
              const [key, held] = [...world.outputs].find(([key]) => state.utxo.get(parseRefKey(key)))!;
              const bytes = world.write({ inputs: [{ ref: parseRefKey(key), output: held }], keys, ...rest });
              const verdict = await validate(state, bytes, 1_000, async (input) => evaluateScripts(input), slots);
              if (!verdict.ok) {
                refused++;
                continue;
              }
              accepted++;
              for (const kind of changesOf(verdict.value)) seen.set(kind, (seen.get(kind) ?? 0) + 1);
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
              for (const kind of changesOf(delta)) seen.set(`end: ${kind}`, (seen.get(`end: ${kind}`) ?? 0) + 1);
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
        seed === undefined ? { numRuns: cases(4, 40) } : { numRuns: 20, seed },
      );
      if (seed === undefined) return;
      expect(accepted).toBeGreaterThan(20);
      expect(refused).toBeGreaterThan(2);
      expect(paid).toBeGreaterThan(2);
      expect([...seen.keys()].sort()).toEqual(KINDS);
    },
    120_000,
  );
});

/** What the histories must contain to be meaningful: rows that were added, removed and changed, of each table. */
const KINDS = [
  "accounts changed",
  "accounts gone",
  "accounts new",
  "committee changed",
  "dreps gone",
  "dreps new",
  "end: accounts changed",
  "end: committee gone",
  "end: pools changed",
  "end: pools gone",
  "pools changed",
  "pools new",
];

function changesOf(delta: RegistryChanges): string[] {
  return (["accounts", "pools", "dreps", "committee"] as const).flatMap((table) =>
    delta[table].map(({ before, after }) => `${table} ${before ? after ? "changed" : "gone" : "new"}`)
  );
}

/** Stake of all pools is outputs and rewards of delegators. */
function checkStake(state: MutableLedgerState): void {
  const delegates = (key: string | undefined) => key !== undefined && state.accounts.get(key)?.pool !== undefined;
  let sum = 0n;
  for (const of of state.utxo.outputs()) if (delegates(stakeKey(of))) sum += of.value.lovelace;
  for (const [, { pool, balance }] of state.accounts.entries()) if (pool !== undefined) sum += balance;
  expect(activeStake(takeSnapshot(state))).toBe(sum);
  for (const [, { balance }] of state.accounts.entries()) expect(balance).toBeGreaterThanOrEqual(0n);
}

/** The pot of deposits is the sum of all registered deposits. */
function checkDeposits({ accounts, pools, dreps, pots }: MutableLedgerState): void {
  const paid = [...accounts.entries(), ...pools.entries(), ...dreps.entries()].reduce(
    (sum, [, { deposit }]) => sum + deposit,
    0n,
  );
  expect(pots.deposits).toBe(paid);
}
