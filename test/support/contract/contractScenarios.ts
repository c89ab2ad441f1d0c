/** Honest transactions of the contract, of every kind: the originals of mutants. */
import { utf8 } from "#src/base/bytes.ts";
import { constr } from "#src/cardano/data.ts";
import type { Operation } from "#src/contract/datum.ts";
import type { Action } from "#src/contract/redeemer.ts";
import { proofBelowTopBranch, topBranchOf } from "#src/forestry/topBranch.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import {
  ALICE,
  BOB,
  EMPTY,
  END,
  insertion,
  modifying,
  NAME,
  OWNER,
  type Plan,
  POLICY,
  requestInput,
  type RequestSpec,
  RETRACT,
  SEED,
  type Spend,
  stateOutput,
  stateReference,
  type Update,
  update,
  WALLET,
} from "./contractPlan.ts";
import { theBuild } from "./contractBuild.ts";
import { crowds, type Roll } from "./proofFuzz.ts";
import { fill, input, keyAt, minted, output, reference, scriptAt, value } from "./scriptContext.ts";

/** An honest transaction, its token's facts, and the actions of its update if it is one. */
export interface Scenario {
  readonly plan: Plan;
  readonly facts: Forestry;
  readonly actions: readonly Action[];
  /** The crown (the shared top branch) of the update, if it has one. */
  readonly crown?: Uint8Array;
}

/** One of a list. */
export const pick = <T>(roll: Roll, list: readonly T[]): T => list[roll(list.length)]!;

let groups: string[][] | undefined;

/** A token with up to this many facts, some with a common path prefix. */
function factsOf(roll: Roll): { readonly facts: Forestry; readonly keys: readonly string[] } {
  groups ??= crowds();
  const count = pick(roll, [0, 1, 2, 3, 5, 12, 40, 200]);
  const keys = new Set<string>();
  while (keys.size < count) for (const key of pick(roll, groups).slice(0, 1 + roll(4))) keys.add(key);
  // also an empty key, and one that is chunked in its datum
  const all = [...keys, "", "k".repeat(100)].slice(Math.max(0, keys.size + 2 - count - roll(3)));
  return { facts: Forestry.from(all.map((key) => leafOf(utf8(key), utf8("v")))), keys: all };
}

/**
 * A change that is possible while these keys hold "v"; the key that it changes is removed from the list for the next
 * change.
 */
function operationOn(roll: Roll, there: string[]): { key: string; operation: Operation } {
  const [at, kind] = [roll(Math.max(1, there.length)), roll(3)];
  const key = there[at];
  if (key === undefined || kind === 0) {
    const long = roll(6) === 0 ? "y".repeat(roll(200)) : "new ";
    return {
      key: `${long}${roll(1_000_000_000)}`,
      operation: { type: "insert", value: utf8(roll(6) === 0 ? "" : "v") },
    };
  }
  there.splice(at, 1);
  return {
    key,
    operation: kind === 1
      ? { type: "update", old: utf8("v"), value: utf8("w".repeat(roll(100))) }
      : { type: "delete", value: utf8("v") },
  };
}

export const requesters = [ALICE, BOB, OWNER];

/** The same update with a crown: this many facts have a branch at the top, whatever an update does to them. */
function crowned(plan: Update, facts: Forestry, crown: Uint8Array): Scenario {
  const actions = plan.actions.map((action): Action =>
    action.type === "apply" ? { type: "apply", proof: proofBelowTopBranch(action.proof)! } : action
  );
  const state = { ...plan.state, redeemer: modifying(actions, crown) };
  const spends = plan.spends.map((spend) => spend === plan.state ? state : spend);
  return { plan: { ...plan, spends }, facts, actions, crown };
}

function anUpdate(roll: Roll, refusals: boolean): Scenario {
  const { facts, keys } = factsOf(roll);
  const there = [...keys];
  const specs = Array.from({ length: pick(roll, [0, 1, 1, 1, 2, 2, 3, 4]) }, (_, i): RequestSpec => {
    const requester = pick(roll, requesters);
    const stake = roll(3) === 0 ? [fill(13)] : [];
    if (refusals && roll(4) === 0) {
      const fee = BigInt(pick(roll, [0, 300_000, 2_000_000, 5_000_000]));
      const junk = { key: pick(roll, ["", "junk", ...keys]), operation: insertion("junk") };
      return { ...junk, id: 61 + i * 30, requester, refund: keyAt(requester, ...stake), fee, refused: true };
    }
    return {
      ...operationOn(roll, there),
      id: 61 + i * 30,
      requester,
      refund: keyAt(requester, ...stake),
      fee: BigInt(pick(roll, [0, 300_000, 500_000])),
      ...(roll(5) === 0 ? { address: scriptAt(POLICY, fill(13)) } : {}),
    };
  });
  const plan = update(specs, facts);
  const crown = keys.length >= 200 && roll(3) > 0 ? topBranchOf(facts) : undefined;
  if (crown) return crowned(plan, facts, crown);
  if (roll(4) > 0) return { plan, facts, actions: plan.actions };
  const retracted: Spend = { input: requestInput({ id: 250, key: "z", requester: BOB }), redeemer: RETRACT };
  const actions: Action[] = [...plan.actions, { type: "skip" }];
  const state = { ...plan.state, redeemer: modifying(actions) };
  const spends = [...plan.spends.map((spend) => spend === plan.state ? state : spend), retracted];
  return { plan: { ...plan, spends, signers: [OWNER, BOB] }, facts, actions };
}

const coin = (id: number): Spend => ({ input: input(reference(id), output(WALLET, value(5_000_000n))) });

/** An honest transaction of any kind; with `refusals`, which only version 3 has, some updates refuse requests. */
export function scenario(roll: Roll, refusals = theBuild().name === "3.0.0"): Scenario {
  const none = { facts: new Forestry(), actions: [] };
  const state: Spend = { input: input(stateReference, stateOutput(EMPTY)), redeemer: END };
  const request: Spend = { input: requestInput({ key: "a" }), redeemer: RETRACT };
  switch (roll(10)) {
    case 0:
      return {
        ...none,
        plan: {
          spends: [{ input: input(SEED, output(WALLET, value(5_000_000n))) }],
          outputs: [stateOutput(EMPTY), output(WALLET, value(3_000_000n))],
          mint: minted([POLICY, NAME, 1n]),
          mintRedeemer: constr(0, constr(0, SEED)),
          signers: [OWNER],
        },
      };
    case 1: {
      const with_ = roll(2) === 0 ? [request] : [];
      return {
        ...none,
        plan: {
          spends: [state, coin(220), ...with_],
          outputs: [output(WALLET, value(2_000_000n))],
          mint: minted([POLICY, NAME, -1n]),
          mintRedeemer: constr(1),
          signers: [OWNER, ALICE],
        },
      };
    }
    case 2:
      return {
        ...none,
        plan: { spends: [request], outputs: [output(keyAt(ALICE), value(1_800_000n))], signers: [ALICE] },
      };
    default:
      return anUpdate(roll, refusals);
  }
}
