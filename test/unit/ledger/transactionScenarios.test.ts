/** Scenarios of another implementation: the same verdict, and the failure that they name. */
import { describe, expect, it } from "vitest";
import type { FailureName } from "#src/cardano/failure.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { scenarios } from "../../support/ledger/transactionScenarios.ts";
import { vectors } from "../../support/base/vectors.ts";

const slots = { zeroTime: 1_600_000_000_000, zeroSlot: 0, slotLength: 1_000 };

/** Names that the files have shortened or put in other words. */
const NAMES: Readonly<Record<string, FailureName>> = {
  CommitteeHasPreviouslyResigned: "ConwayCommitteeHasPreviouslyResigned",
  CommitteeIsUnknown: "ConwayCommitteeIsUnknown",
  DelegateeDRepNotRegistered: "DelegateeDRepNotRegisteredDELEG",
  DelegateeStakePoolNotRegistered: "DelegateeStakePoolNotRegisteredDELEG",
  DRepAlreadyRegistered: "ConwayDRepAlreadyRegistered",
  MissingVerificationKeyWitnessesUTXOW: "MissingVKeyWitnessesUTXOW",
  OutsideForecast: "CollectErrors",
  StakeCredentialInvalidPoolDelegation: "StakeKeyNotRegisteredDELEG",
  StakeKeyHasNonZeroAccountBalance: "StakeKeyHasNonZeroAccountBalanceDELEG",
  StakeKeyRegistered: "StakeKeyRegisteredDELEG",
  TreasuryWithdrawalsAllZeros: "ZeroTreasuryWithdrawals",
  WrongNetworkInTxOutput: "WrongNetwork",
};

const evaluate: Evaluate = (input) => Promise.resolve(evaluateScripts(input));
const EPOCH = 432_000;

/** They change the size of reference scripts that a transaction may refer to, which is a constant of the ledger. */
const UNFIT = /^0005[567]-/;

describe("transaction scenarios", () => {
  const judged = [...scenarios(vectors("transaction-scenarios"))].filter(({ name }) => !UNFIT.test(name));

  it("are judged alike, for the same reason", async () => {
    const different: unknown[] = [];
    for (const { name, state, slot, transaction, expected } of judged) {
      // the one that ends after the known slots is submitted, the others are in blocks
      const submission = expected === "OutsideForecast" ? { horizon: EPOCH } : undefined;
      const verdict = await validate(state, transaction, slot, evaluate, slots, submission);
      const names: readonly string[] = verdict.ok ? [] : verdict.error.map((failure) => failure.name);
      const right = expected === undefined ? verdict.ok : names.includes(NAMES[expected] ?? expected);
      if (!right) different.push([name, expected, names]);
    }
    console.log(`transaction scenarios: ${judged.length - different.length} of ${judged.length}`);
    expect(different).toEqual([]);
    expect(judged.length).toBe(119);
  });
});
