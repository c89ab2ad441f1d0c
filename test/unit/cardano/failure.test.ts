import { describe, expect, it } from "vitest";
import { describeFailure, failureNames, type LedgerFailure } from "#src/cardano/failure.ts";

const ref = { txHash: "ab".repeat(32), index: 3 };
const cases: [LedgerFailure, string][] = [
  [
    { name: "FeeTooSmallUTxO", supplied: 170_000n, expected: 172_321n },
    "The fee is 170000 lovelace, at least 172321 are needed.",
  ],
  [{ name: "BadInputsUTxO", inputs: [ref] }, `Inputs are not there, or already spent: ${"ab".repeat(32)}#3.`],
  [
    {
      name: "ValueNotConservedUTxO",
      consumed: { lovelace: 5n, assets: new Map([["cd".repeat(28), 2n]]) },
      produced: { lovelace: 4n, assets: new Map() },
    },
    `The transaction takes in 5 lovelace, 2 of ${"cd".repeat(28)}, but gives out 4 lovelace.`,
  ],
  [
    { name: "OutsideValidityIntervalUTxO", from: 10, to: 20, slot: 21 },
    "The transaction is valid from slot 10 before slot 20, and this is slot 21.",
  ],
  [
    { name: "OutsideValidityIntervalUTxO", from: 30, slot: 21 },
    "The transaction is valid from slot 30, and this is slot 21.",
  ],
  [
    { name: "OutsideValidityIntervalUTxO", to: 20, slot: 20 },
    "The transaction is valid before slot 20, and this is slot 20.",
  ],
  [
    { name: "ValidationTagMismatch", kind: "FailedUnexpectedly", message: "Error evaluated", logs: ["no", "never"] },
    "A script fails: Error evaluated; no; never.",
  ],
  [
    { name: "BabbageOutputTooSmallUTxO", outputs: [{ index: 0, supplied: 1n, expected: 969_750n }] },
    "Output 0 holds 1 lovelace, it needs 969750.",
  ],
  [
    { name: "PPViewHashesDontMatch", supplied: undefined, expected: "ef" },
    "The script data hash is not given, but should be ef.",
  ],
  [
    { name: "MissingRedeemers", redeemers: [{ purpose: "spend", index: 2, script: "aa" }] },
    "Redeemers are missing: spend 2.",
  ],
  [
    { name: "CollectErrors", errors: [{ kind: "BadTranslation", language: 1, reason: "InlineDatumsNotSupported" }] },
    "Plutus V1 cannot run in this transaction (InlineDatumsNotSupported).",
  ],
  [{ name: "DeserialiseFailure", message: "These bytes are no transaction." }, "These bytes are no transaction."],
];

describe("describeFailure", () => {
  it.each(cases)("says in a sentence: %o", (failure, sentence) => {
    expect(describeFailure(failure)).toBe(sentence);
  });
});

describe("failureNames", () => {
  it("has every name once", () => {
    expect(new Set(failureNames).size).toBe(failureNames.length);
    for (const [{ name }] of cases) expect(failureNames).toContain(name);
  });
});
