import { describe, expect, it } from "vitest";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { describeFailure, failureNames } from "#src/cardano/failureText.ts";

const ref = { txHash: "ab".repeat(32), index: 3 };
const cases: [LedgerFailure, string][] = [
  [
    { name: "FeeTooSmallUTxO", supplied: 170_000n, expected: 172_321n },
    "The fee is 170000 lovelace, at least 172321 lovelace are needed.",
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
    "Output 0 holds 1 lovelace, it needs 969750 lovelace.",
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
  [
    { name: "MissingRedeemers", redeemers: [{ purpose: "mint", item: "581cab", script: "aa" }] },
    "Redeemers are missing: mint 581cab.",
  ],
  [
    { name: "BabbageOutputTooSmallUTxO", outputs: [{ output: "82", supplied: 1n, expected: 2n }] },
    "Output (82) holds 1 lovelace, it needs 2 lovelace.",
  ],
  [
    {
      name: "CollectErrors",
      errors: [
        { kind: "NoCostModel", language: 3 },
        { kind: "BadTranslation", reason: "TimeTranslationPastHorizon" },
        { kind: "NoRedeemer", purpose: "spend", index: 1 },
        { kind: "NoWitness", script: "ab" },
      ],
    },
    "There is no cost model for Plutus V3, A Plutus script cannot run in this transaction (TimeTranslationPastHorizon), " +
    "A redeemer is missing: spend 1, A script is missing: ab.",
  ],
  [
    { name: "WithdrawalsNotInRewardsCERTS", withdrawals: [{ account: "e0", supplied: 5n }] },
    "The account e0 is not registered, or does not hold exactly 5 lovelace.",
  ],
  [
    { name: "ConwayIncompleteWithdrawals", withdrawals: [{ account: "e0", supplied: 5n, expected: 6n }] },
    "The account e0 holds 6 lovelace, not 5.",
  ],
  [
    { name: "DisallowedVoters", votes: [{ voter: { role: "drep", kind: "key", hash: "ab" }, action: ref }] },
    `Voters may not vote on these actions: drep key ab on ${"ab".repeat(32)}#3.`,
  ],
  [
    { name: "EarlierEraFailure", era: "Babbage", failure: "FeeTooSmallUTxO", cbor: "80" },
    "The ledger of the era Babbage rejects the transaction: FeeTooSmallUTxO.",
  ],
  [
    { name: "UnknownFailure", rule: "UTXO", cbor: "821863" },
    "The node rejects the transaction for a reason unknown to this program (UTXO: 821863).",
  ],
  [{ name: "DeserialiseFailure", message: "These bytes are no transaction." }, "These bytes are no transaction."],
];

describe("describeFailure", () => {
  it.each(cases)("describes in a sentence: %o", (failure, sentence) => {
    expect(describeFailure(failure)).toBe(sentence);
  });
});

describe("failureNames", () => {
  it("contains every name once", () => {
    expect(new Set(failureNames).size).toBe(failureNames.length);
    for (const [{ name }] of cases) expect(failureNames).toContain(name);
  });
});
