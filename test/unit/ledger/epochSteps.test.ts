/** The end of an epoch in steps: none of them is long, and all together do what the boundary does at once. */
import { beforeEach, expect, test } from "vitest";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { inTurns, STEP_ITEMS, type Steps } from "#src/base/steps.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { genesisState } from "#src/devnet/index/rebuild.ts";
import { applyEpoch, applyEpochInSteps, blockMade, passEpoch, passEpochInSteps } from "#src/ledger/epoch/pass.ts";
import { write } from "#src/ledger/delta.ts";
import { type MutableLedgerState, newState } from "#src/ledger/state.ts";
import { ledgerOf } from "../../support/devnet/devnet.ts";
import { newGenesis } from "../../support/devnet/genesis.ts";
import { makeGreat } from "../../support/ledger/greatState.ts";

const LOOP = 6 * STEP_ITEMS;
/** A step ends one loop and begins the next one, and looks at a row twice at most for each item. */
const MOST = 4 * STEP_ITEMS;

const genesis = newGenesis({ epochLength: 30 });
const { terms } = genesis;
let touched = 0;

/** Counts the rows that are read and written. */
class CountedMap<V> extends Map<string, V> {
  override get(key: string): V | undefined {
    touched++;
    return super.get(key);
  }
  override set(key: string, value: V): this {
    touched++;
    return super.set(key, value);
  }
  override delete(key: string): boolean {
    touched++;
    return super.delete(key);
  }
  override *entries(): MapIterator<[string, V]> {
    for (const row of super.entries()) {
      touched++;
      yield row;
    }
  }
  override *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }
}

/** A state with more rows of every long table than a step may touch. */
function greatState(): MutableLedgerState {
  const outputs = new CountedMap<Output>();
  for (const { ref, output } of genesisOutputs(genesis)) outputs.set(refKey(ref), output);
  const { accounts, pools, pots, snapshots, parameters, dreps } = genesisState(genesis);
  const state: MutableLedgerState = {
    ...newState({ parameters, outputs }),
    accounts: new CountedMap(accounts.entries()),
    dreps: new CountedMap(dreps.entries()),
    proposals: new CountedMap(),
    votes: new CountedMap(),
    pools,
    pots,
    snapshots,
  };
  makeGreat(state, { accounts: LOOP, dreps: 300, proposals: 60, votes: 200 });
  return state;
}

/** The result of steps, and the most rows that one of them touches. */
function measured<T>(steps: Steps<T>): { readonly result: T; readonly most: number; readonly sum: number } {
  let most = 0;
  let sum = 0;
  for (;;) {
    touched = 0;
    const { done, value } = steps.next();
    most = Math.max(most, touched);
    sum += touched;
    if (done) return { result: value, most, sum };
  }
}

let state: MutableLedgerState;
beforeEach(() => {
  state = greatState();
});

test("no step touches many rows, also where votes end with their actions", () => {
  for (const dropped of [0, 20 * 200]) {
    const pass = measured(passEpochInSteps(state, terms));
    expect(pass.result.votes.length).toBe(dropped);
    // no pool has made a block in the second epoch
    expect(pass.result.rewards.length > LOOP).toBe(dropped === 0);
    expect(pass.most).toBeLessThanOrEqual(MOST);
    expect(pass.sum).toBeGreaterThan(3 * LOOP);
    const applied = measured(applyEpochInSteps(state, pass.result));
    expect(applied.most).toBeLessThanOrEqual(MOST);
    expect(applied.sum).toBeGreaterThanOrEqual(pass.result.accounts.length + dropped);
  }
});

test("a boundary in turns is the boundary at once", async () => {
  const pacer = new EventLoopPacer(0);
  const other = greatState();
  for (let i = 0; i < 3; i++) {
    const delta = await inTurns(passEpochInSteps(state, terms), pacer);
    expect(delta).toEqual(passEpoch(other, terms));
    await inTurns(applyEpochInSteps(state, delta), pacer);
    applyEpoch(other, passEpoch(other, terms));
    expect(ledgerOf(state)).toEqual(ledgerOf(other));
    for (const { id } of genesis.pools) {
      for (const one of [state, other]) write(one.blocks, [blockMade(one, id)], "after");
    }
  }
});
