import { beforeAll, describe, expect, it } from "vitest";
import { type FailureName, failureNames } from "#src/cardano/failure.ts";
import { type Applied, applyDelta, undoDelta } from "#src/ledger/delta.ts";
import { readTransaction } from "#src/ledger/transaction.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { stateText, type Transition, transitions } from "../../support/conformance.ts";
import { vectors } from "../../support/vectors.ts";

const folder = vectors("ledger-conformance");
const slots = { zeroTime: 1_600_000_000_000, zeroSlot: 0, slotLength: 1_000 };

/** Verdicts that differ from the Haskell ledger's, and why. */
const MISSES: ReadonlyMap<string, "governance" | "epoch boundary"> = new Map([
  ["conway/fail-deleg-with-non-zero-reward-balance", "epoch boundary"],
  ["conway/fail-gov-committee-member-can-not-vote-on-noconfidence-action", "governance"],
  ["conway/fail-gov-committee-member-can-not-vote-on-updatecommittee-action", "governance"],
  ["conway/fail-gov-hardfork-cantfollow", "governance"],
  ["conway/fail-gov-hardfork-is-the-second-one-has-a-govpurposeid-hardfork-cantfollow", "governance"],
  ["conway/fail-gov-invalid-index-in-govpurposeid", "governance"],
  ["conway/fail-gov-non-existent-gov-actions", "governance"],
  ["conway/fail-gov-policy-is-respected-by-proposals", "governance"],
  ["conway/fail-gov-ppumaxtxsizel-cannot-be-0", "governance"],
  ["conway/fail-gov-valid-govpurposeid-but-invalid-purpose", "governance"],
  ["conway/pass-deleg-deregistering-returns-the-deposit", "epoch boundary"],
  ["conway/pass-utxos-updating-costmodels-and-setting-the-govpolicy-afterwards-succeeds", "governance"],
  ["conway/pass-utxos-updating-costmodels-with-alwaysfails-govpolicy-does-not-validate", "governance"],
]);

/** What titles say, spelled as the failures are. */
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
  [/utxos-(delegtxcert|proposalprocedures|treasurydonation|\w+txcert|votingprocedures)-v[12]$/, "CollectErrors"],
  [/currenttreasuryvalue/, "ConwayTreasuryValueMismatch"],
];

/** The failure that a title names, if it names one. */
function named(title: string): FailureName | undefined {
  const spelled = failureNames.find((name) => title.includes(name.toLowerCase()));
  return spelled ?? ALIASES.find(([pattern]) => pattern.test(title))?.[1];
}

interface Run {
  readonly name: string;
  /** The verdict that differs, if one does; what follows it was not run. */
  readonly miss?: string;
  /** Names of the failures of each refused transaction. */
  readonly refusals: readonly (readonly FailureName[])[];
  /** Whether a transaction proposes or votes. */
  readonly governance: boolean;
  /** Rows of the final state that differ from the Haskell ledger's; undefined where an epoch's boundary lies between. */
  readonly different?: readonly string[];
  /** Rows that differ from the first state once everything was undone. */
  readonly notUndone: readonly string[];
}

const times: number[] = [];

async function run({ name, before, after, events }: Transition): Promise<Run> {
  const { state } = before;
  const first = stateText(before);
  const refusals: FailureName[][] = [];
  const deltas: Applied[] = [];
  let governance = false;
  let boundary = state.epoch !== after.state.epoch;
  let miss: string | undefined;
  for (const event of events) {
    if (event.kind === "epochs") {
      state.epoch += event.count;
      boundary = true;
    }
    if (event.kind !== "transaction") continue;
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
    if (!verdict.ok) refusals.push(names);
    else {
      applyDelta(state, verdict.value);
      deltas.push(verdict.value);
    }
  }
  const different = miss || boundary ? undefined : difference(stateText(before), stateText(after));
  for (const delta of deltas.reverse()) undoDelta(state, delta);
  const notUndone = difference(stateText(before), first);
  return { name, refusals, governance, notUndone, ...(miss ? { miss } : {}), ...(different ? { different } : {}) };
}

const evaluate: Evaluate = (input) => Promise.resolve(evaluateScripts(input));

function difference(found: readonly string[], expected: readonly string[]): string[] {
  const [a, b] = [new Set(found), new Set(expected)];
  return [
    ...found.filter((row) => !b.has(row)).map((row) => `found ${row}`),
    ...expected.filter((row) => !a.has(row)).map((row) => `missing ${row}`),
  ];
}

describe.skipIf(!folder)("transitions that the Haskell ledger made", () => {
  const runs: Run[] = [];
  beforeAll(async () => {
    for (const transition of transitions(folder!)) runs.push(await run(transition));
  }, 120_000);

  it("have the same verdicts, save the misses that are named here", () => {
    const plain = runs.filter(({ governance }) => !governance);
    const right = (of: readonly Run[]) => of.filter(({ miss }) => !miss).length;
    times.sort((a, b) => a - b);
    console.log(
      `conformance: ${right(runs)} of ${runs.length} transitions, ${
        right(plain)
      } of ${plain.length} without governance; ` +
        `${times.length} transactions, median ${times[times.length >> 1]!.toFixed(2)} ms`,
    );
    expect(runs.filter(({ miss }) => miss).map(({ name }) => name)).toEqual([...MISSES.keys()]);
    expect(right(plain) / plain.length).toBeGreaterThanOrEqual(0.97);
    expect(runs.length).toBeGreaterThan(190);
  });

  it("end in the same state, where no epoch ends between", () => {
    const compared = runs.filter(({ different }) => different);
    console.log(`conformance: ${compared.length} final states compared`);
    expect(compared.filter(({ different }) => different!.length > 0)).toEqual([]);
    expect(compared.length).toBeGreaterThan(100);
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
