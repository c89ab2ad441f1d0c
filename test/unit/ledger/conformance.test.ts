import { beforeAll, describe, expect, it } from "vitest";
import type { FailureName } from "#src/cardano/failure.ts";
import { failureNames } from "#src/cardano/failureText.ts";
import { applyDelta, undoDelta } from "#src/ledger/delta.ts";
import { GOVERNANCE, governanceOf } from "#src/ledger/governance/actions.ts";
import { applyEpoch, passEpoch, undoEpoch } from "#src/ledger/epoch/pass.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { stateText, type Transition, transitions } from "../../support/ledger/conformance.ts";
import { totalLovelace } from "../../support/ledger/totalLovelace.ts";
import { vectors } from "../../support/base/vectors.ts";

const folder = vectors("ledger-conformance");
const slots = { zeroTime: 1_600_000_000_000, zeroSlot: 0, slotLength: 1_000 };

/**
 * Recordings whose test has changed the state by hand, which no event says: parameters, or the quorum of the committee. Here
 * the change is made before the first event.
 */
const CHANGED_BY_HAND: readonly string[] = [
  "conway/pass-enact-futurepparams",
  "conway/pass-enact-hardforkinitiation-without-drep-voting",
  "conway/pass-epoch-govinfoevent",
  "conway/pass-gov-subtrees-are-pruned-for-both-enactment-and-expiry-over-multiple-rounds",
  "conway/pass-ratify-increasing-the-threshold-prevents-a-hitherto-ratifiable-proposal-from-being-ratified",
  "conway/pass-ratify-spo-increasing-the-threshold-prevents-a-hitherto-ratifiable-proposal-from-b-ff719406",
  "conway/pass-ratify-spos-alone-can-enact-hard-fork-during-bootstrap",
  "conway/pass-ratify-spos-alone-can-enact-security-group-parameter-change-during-bootstrap",
  "conway/pass-ratify-treasurywithdrawal-fails-to-ratify-due-to-an-increase-in-committeeminsize",
];

/** The words of titles, in the spelling of the failures. */
const ALIASES: readonly [RegExp, FailureName][] = [
  [/insufficient-collateral/, "InsufficientCollateral"],
  [/too-many-execution-units/, "ExUnitsTooBigUTxO"],
  [/marked-as-(in)?valid/, "ValidationTagMismatch"],
  [/missing-phase-2-script-witness/, "MissingScriptWitnessesUTXOW"],
  [/missing-witness-for-collateral/, "MissingVKeyWitnessesUTXOW"],
  [/phase-1-script-failure/, "ScriptWitnessNotValidatingUTXOW"],
  [/not-validating-\w+-script/, "ValidationTagMismatch"],
  [/redeemer-with-incorrect-purpose/, "MissingRedeemers"],
  [/same-txin-in-regular-inputs-and-reference/, "BabbageNonDisjointRefInputs"],
  [/unregistered-stake-credentials/, "StakeKeyNotRegisteredDELEG"],
  [/to-unregistered-drep/, "DelegateeDRepNotRegisteredDELEG"],
  [/already-already-registered/, "StakeKeyRegisteredDELEG"],
  [/deleg-when-not-registered/, "StakeKeyNotRegisteredDELEG"],
  [/drep-already-registered/, "ConwayDRepAlreadyRegistered"],
  [/invalid-refund-provided-with-drep/, "ConwayDRepIncorrectRefund"],
  [/resigning-a-non-cc-key/, "ConwayCommitteeIsUnknown"],
  [/unregistering-a-nonexistent-drep/, "ConwayDRepNotRegistered"],
  [/unregistered-reward-account/, "WithdrawalsNotInRewardsCERTS"],
  [/using-inline-datums-for-plutusv1/, "CollectErrors"],
  [
    /utxos-(currenttreasuryvalue|delegtxcert|proposalprocedures|treasurydonation|\w+txcert|votingprocedures)-v[12]$/,
    "CollectErrors",
  ],
];

/** The failure that a title names, if it names one. */
function named(title: string): FailureName | undefined {
  const spelled = failureNames.find((name) => title.includes(name.toLowerCase()));
  return spelled ?? ALIASES.find(([pattern]) => pattern.test(title))?.[1];
}

interface Run {
  readonly name: string;
  /** The verdict that differs, if one does; later events were not run. */
  readonly miss?: string;
  /** Names of the failures of each refused transaction. */
  readonly refusals: readonly (readonly FailureName[])[];
  /** Whether a transaction proposes or votes. */
  readonly governance: boolean;
  /** Boundaries of epochs that were passed, and those of them before the last transaction. */
  readonly boundaries: number;
  readonly compared: number;
  /** Rows of the state after the last transaction that differ from the Haskell ledger's. */
  readonly different: readonly string[];
  /** Rows that differ from the first state after everything was undone. */
  readonly notUndone: readonly string[];
  /** Whether all lovelace together stayed the same throughout. */
  readonly conserved: boolean;
}

const times: number[] = [];

async function run({ name, slot, terms, before, after, events }: Transition): Promise<Run> {
  const { state } = before;
  if (CHANGED_BY_HAND.includes(name)) {
    const { protocolVersion } = state.parameters;
    state.parameters = { ...after.state.parameters, protocolVersion };
    state.governance.set(GOVERNANCE, { ...governanceOf(state), quorum: governanceOf(after.state).quorum });
  }
  const first = stateText(before);
  const refusals: FailureName[][] = [];
  const undo: (() => void)[] = [];
  const last = events.findLastIndex(({ kind }) => kind === "transaction");
  const all = totalLovelace(state);
  let conserved = true;
  let governance = false;
  let boundaries = 0;
  let compared = 0;
  let passedEpoch = Math.floor(slot / terms.epochLength);
  let now = slot;
  let miss: string | undefined;
  let different: string[] = [];
  for (const [index, event] of events.entries()) {
    if (event.kind !== "transaction") {
      if (event.kind === "ticks") now += event.count;
      else now = Math.max(now, (passedEpoch += event.count) * terms.epochLength);
      for (; state.epoch < Math.floor(now / terms.epochLength); boundaries++) {
        const delta = passEpoch(state, terms);
        applyEpoch(state, delta);
        undo.push(() => undoEpoch(state, delta));
        conserved &&= totalLovelace(state) === all;
      }
      continue;
    }
    const read = readTransaction(event.cbor);
    governance ||= read.ok && (read.value.body.proposals.length > 0 || read.value.body.voters.length > 0);
    const begun = performance.now();
    const verdict = await validate(state, event.cbor, event.slot, evaluate, slots);
    times.push(performance.now() - begun);
    const names = verdict.ok ? [] : verdict.error.map((failure) => failure.name);
    if (verdict.ok !== event.accepted) {
      miss = verdict.ok ? "accepted" : `refused: ${names.join(", ")}`;
      break;
    }
    if (verdict.ok) {
      const delta = verdict.value;
      applyDelta(state, delta);
      undo.push(() => undoDelta(state, delta));
      conserved &&= totalLovelace(state) === all;
    } else refusals.push(names);
    if (index === last) {
      different = difference(stateText(before), stateText(after));
      compared = boundaries;
    }
  }
  for (const step of undo.reverse()) step();
  const notUndone = difference(stateText(before), first);
  const verdict = miss ? { miss } : {};
  return { name, refusals, governance, boundaries, compared, different, notUndone, conserved, ...verdict };
}

const evaluate: Evaluate = (input) => Promise.resolve(evaluateScripts(input));

function difference(found: readonly string[], expected: readonly string[]): string[] {
  const [a, b] = [new Set(found), new Set(expected)];
  return [
    ...found.filter((row) => !b.has(row)).map((row) => `found ${row}`),
    ...expected.filter((row) => !a.has(row)).map((row) => `missing ${row}`),
  ];
}

describe("transitions recorded from the Haskell ledger", () => {
  const runs: Run[] = [];
  beforeAll(async () => {
    for (const transition of transitions(folder)) runs.push(await run(transition));
  }, 120_000);

  it("have the same verdicts and end in the same state", () => {
    const isRight = ({ miss, different }: Run) => !miss && different.length === 0;
    const plain = runs.filter(({ governance }) => !governance);
    const right = plain.filter(isRight);
    const about = runs.filter(({ governance }) => governance);
    times.sort((a, b) => a - b);
    console.log(
      `conformance, verdicts and final states: ${right.length} of ${plain.length} transitions without governance; ` +
        `with governance ${about.filter(isRight).length} of ${about.length} ` +
        `(${about.filter(({ miss }) => !miss).length} by their verdicts); ` +
        `${times.length} transactions, median ${times[times.length >> 1]!.toFixed(2)} ms`,
    );
    expect(runs.filter((one) => !isRight(one)).map(({ name, miss, different }) => [name, miss, different])).toEqual([]);
    expect(runs.length).toBe(192);
  });

  it("end in the same state after the boundaries of epochs", () => {
    const passed = runs.filter(({ compared, miss }) => compared > 0 && !miss);
    const same = passed.filter(({ different }) => different.length === 0);
    console.log(`conformance: ${same.length} of ${passed.length} final states after boundaries are the same`);
    expect(same.length).toBe(passed.length);
    expect(same.length).toBeGreaterThanOrEqual(49);
  });

  it("keep all lovelace", () => {
    expect(runs.filter(({ conserved }) => !conserved)).toEqual([]);
    expect(runs.reduce((sum, { boundaries }) => sum + boundaries, 0)).toBeGreaterThan(300);
  });

  it("are refused for the reason that their title names", () => {
    const wrong: string[] = [];
    let checked = 0;
    for (const { name, miss, refusals } of runs) {
      if (miss || !name.includes("/fail-")) continue;
      const reason = named(name);
      if (!reason) continue;
      checked++;
      if (!refusals.flat().includes(reason)) wrong.push(`${name}: ${refusals.flat().join(", ")}, not ${reason}`);
    }
    console.log(`conformance: ${checked} named reasons compared`);
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(60);
  });

  it("can be undone", () => {
    expect(runs.filter(({ notUndone }) => notUndone.length > 0)).toEqual([]);
  });
});
