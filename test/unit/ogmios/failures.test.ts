import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { describeFailure, failureNames } from "#src/cardano/failureText.ts";
import { decodeRejection } from "#src/node/rejections/rejections.ts";
import { submissionError } from "#src/ogmios/failures.ts";
import { readSubmissionError } from "#src/ogmios/readFailures.ts";
import { refKey } from "#src/cardano/output.ts";
import type { RefusedDraft } from "../../support/ledger/refusedDrafts.ts";
import { furtherRefusals, refusals, worldOf } from "../../support/ledger/refusals.ts";
import { captured, examples, hash32, ref } from "../../support/ledger/failures.ts";
import { golden, schemaFault } from "../../support/ogmios/golden.ts";

const further: readonly LedgerFailure[] = [
  { name: "DeserialiseFailure", message: "truncated" },
  { name: "EraMismatch", transaction: "Babbage", ledger: "Conway" },
  { name: "EarlierEraFailure", era: "Babbage", failure: "DelegateeNotRegisteredDELEG", cbor: "80" },
  { name: "UnknownFailure", rule: "LEDGER", cbor: "80" },
];
/** Failures of every kind: recorded ones with random data, and constructed ones. */
const corpus: readonly LedgerFailure[] = [
  ...captured.flatMap(({ cbor }) => decodeRejection(fromHex(cbor))),
  ...examples,
  ...further,
];

const answer = (error: object) => ({ jsonrpc: "2.0", method: "submitTransaction", error, id: null });

describe("errors of submitTransaction", () => {
  it("keep the schema, for every kind of failure", () => {
    expect([...new Set(corpus.map(({ name }) => name))].sort()).toEqual([...failureNames].sort());
    const faults = new Map<string, string>();
    for (const failure of corpus) {
      const error = submissionError([failure], { version: 7 });
      // of scripts that cannot be run; Ogmios sends it, and only the schema of evaluations has it
      if (error.code === 3004) continue;
      const fault = schemaFault("SubmitTransactionResponse", answer(error));
      if (fault) faults.set(failure.name, JSON.stringify(error));
    }
    expect(faults).toEqual(new Map());
  });

  it("are read as failures that give the same error", () => {
    const asText = new Set<number>();
    for (const message of golden("SubmitTransactionResponse")) {
      const error = isObject(message) && isObject(message.error) ? message.error : undefined;
      if (!error) continue;
      const failure = readSubmissionError(error);
      const isText = failure.name === "ConwayMempoolFailure" || failure.name === "DeserialiseFailure";
      if (isText && error.code !== 3997) asText.add(Number(error.code));
      else expect({ ...submissionError([failure], { version: 7 }), message: "" }).toEqual({ ...error, message: "" });
    }
    // undecodable; missing redeemers, by what they are for; and what Conway's ledger never finds
    expect([...asText].sort()).toEqual([-32602, 3109, 3148, 3149, 3998]);
  });
});

/** A transaction for each failure that the ledger's rules find, and more. */
const rows: readonly (readonly [what: string, row: RefusedDraft])[] = [
  ...Object.entries(refusals).flatMap(([name, row]) => typeof row === "string" ? [] : [[name, row] as const]),
  ...furtherRefusals,
];

/** Places of the outputs that a failure names. */
const placesIn = (failure: LedgerFailure) =>
  "outputs" in failure
    ? failure.outputs?.map((output) => typeof output === "string" ? undefined : output.index)
    : undefined;

describe("transactions that the ledger refuses", () => {
  it.each(rows)("%s", async (_, row) => {
    const world = worldOf(row);
    const transaction = world.write(row.draft(world));
    const judged = await world.judge(transaction);
    if ("hash" in judged) throw new Error("the transaction is not refused");
    const error = submissionError(judged, {
      version: 7,
      transaction,
      spends: (ref) => world.outputs.get(refKey(ref)),
    });
    // the schema has it for evaluations only
    if (error.code !== 3004) expect(schemaFault("SubmitTransactionResponse", answer(error))).toBeUndefined();
    // nothing that the error should show is left out for want of the transaction
    expect(toJson(error.data)).not.toMatch(/\[\]|undefined/);
    const codes = judged.map((failure) => submissionError([failure], { version: 7, transaction }).code);
    expect(codes).toContain(error.code);
    const read = readSubmissionError(parseJson(toJson(error)), scanTransaction(transaction));
    const stated = judged.find((failure) => failure.name === read.name);
    // outputs have their places in the transaction again
    if (stated && "outputs" in stated && read.name !== "ScriptsNotPaidUTxO") {
      expect(placesIn(read)).toEqual(placesIn(stated));
      expect(placesIn(read)).not.toContain(undefined);
    }
    expect(describeFailure(read)).not.toMatch(/undefined|\[object/);
  });
});

it("gives the failure of the lowest rank, and of one rank the first", () => {
  const fee: LedgerFailure = { name: "FeeTooSmallUTxO", supplied: 1n, expected: 2n };
  const inputs: LedgerFailure = { name: "BadInputsUTxO", inputs: [ref] };
  const orphans: LedgerFailure = { name: "UnspendableUTxONoDatumHash", inputs: [ref] };
  const value: LedgerFailure = {
    name: "ValueNotConservedUTxO",
    consumed: { lovelace: 1n << 62n, assets: new Map() },
    produced: { lovelace: 4n, assets: new Map() },
  };
  const codeOf = (...failures: readonly LedgerFailure[]) => submissionError(failures, { version: 6 }).code;
  expect(codeOf(value, fee, inputs)).toBe(3117);
  expect(codeOf(value, fee)).toBe(3122);
  expect(codeOf(inputs, orphans)).toBe(3117);
  expect(codeOf(orphans, inputs)).toBe(3114);
  expect(codeOf(value, { name: "DeserialiseFailure", message: "truncated" })).toBe(-32602);
  const vrf: LedgerFailure = { name: "VRFKeyHashAlreadyRegistered", pool: "0b".repeat(28), vrf: hash32 };
  // version 6 has no code for it
  expect([6, 7].map((version) => submissionError([vrf], { version: version as 6 | 7 }).code)).toEqual([3997, 3170]);
  expect(readSubmissionError(submissionError([value], { version: 7 }) as unknown as Json)).toEqual(value);
});

it("reads an error of any form as a failure", () => {
  const odd: readonly (Json | undefined)[] = [
    undefined,
    null,
    "refused",
    [],
    { code: 3117 },
    { code: 3117, message: "unknown inputs", data: { unknownOutputReferences: [{ index: "x" }] } },
    { code: 3118, message: "outside", data: { validityInterval: null, currentSlot: -1 } },
    { code: 3125, message: "small", data: { insufficientlyFundedOutputs: [{ output: { address: "x", value: {} } }] } },
    { code: 4999, message: "new", data: { large: 1n << 70n } },
    { code: -32602, message: "not well-formed", data: { conway: "truncated" } },
  ];
  for (const error of odd) {
    const failure = readSubmissionError(error);
    expect(["ConwayMempoolFailure", "DeserialiseFailure"]).toContain(failure.name);
    expect(describeFailure(failure).length).toBeLessThan(3_000);
  }
  expect(readSubmissionError({ code: 4999, message: "new", data: { large: 1n << 70n } })).toEqual({
    name: "ConwayMempoolFailure",
    message: `new {"large":${1n << 70n}}`,
  });
});
