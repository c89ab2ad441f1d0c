import { beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { initHash } from "#src/cardano/hash.ts";
import { decodeRejection } from "#src/node/rejections/rejections.ts";
import { blockJson, ERA_TEXTS } from "#src/ogmios/block.ts";
import { type EvaluationAnswer, evaluationOutcome } from "#src/ogmios/evaluation.ts";
import { submissionError } from "#src/ogmios/failures.ts";
import type { JsonObject } from "#src/ogmios/form.ts";
import { readTransaction } from "#src/ogmios/readTransaction.ts";
import { transactionJson } from "#src/ogmios/transaction.ts";
import { readUtxo, utxoJson } from "#src/ogmios/outputs.ts";
import type { RedeemerFailure } from "#src/plutus/types.ts";
import { blockFile, blocksOf, chunks, singles } from "../../support/chain/vectorBlocks.ts";
import { captured, examples } from "../../support/ledger/failures.ts";
import { golden } from "../../support/ogmios/golden.ts";
import { type TypedMessage, typeFaults } from "../../support/ogmios/versionSix.ts";

beforeAll(initHash);

const form = { version: 6 } as const;

it("has blocks, transactions and outputs of the types of Ogmios' client 6.14", () => {
  const blocks = [
    ...singles.filter(({ size }) => size < 8_000).map(({ file }) => blockFile(file)),
    ...chunks.flatMap(blocksOf).filter((_, index) => index % 500 === 0),
  ];
  const messages: TypedMessage[] = blocks.map((bytes) => ({ type: "Block", message: blockJson(bytes, form) }));
  for (const message of golden("NextBlockResponse").slice(0, 30)) {
    const { block } = (message as { result: JsonObject }).result;
    if (!isObject(block) || block.type !== "praos") continue;
    const era = ERA_TEXTS.lastIndexOf(block.era as (typeof ERA_TEXTS)[number]);
    for (const json of (block.transactions ?? []) as Json[]) {
      messages.push({ type: "Transaction", message: transactionJson(readTransaction(json, 0, era), form, era) });
    }
  }
  for (const message of golden("QueryLedgerStateUtxo").slice(0, 6)) {
    const { result = [] } = message as { result?: Json[] };
    messages.push({ type: "Utxo", message: result.map((one) => utxoJson(readUtxo(one))) });
  }
  expect(messages.length).toBeGreaterThan(70);
  expect(typeFaults(messages)).toEqual([]);
});

it("has errors of the types of Ogmios' client 6.14", () => {
  const answered = (method: string, outcome: object) => ({ jsonrpc: "2.0", method, ...outcome, id: null });
  const failures = [...captured.flatMap(({ cbor }) => decodeRejection(fromHex(cbor))), ...examples];
  const byCode = new Map<string, object>();
  for (const failure of failures) {
    const error = submissionError([failure], form);
    byCode.set(`${failure.name} ${error.code}`, error);
  }
  const refused = (error: RedeemerFailure): EvaluationAnswer => ({
    kind: "measured",
    redeemers: [{ purpose: "reward", index: 1, result: { ok: false, error } }],
  });
  const answers: EvaluationAnswer[] = [
    { kind: "undecodable", message: "truncated" },
    { kind: "no_context", reason: "TimeTranslationPastHorizon", about: "slot 7" },
    { kind: "overlap", refs: [{ txHash: "0c".repeat(32), index: 1 }] },
    refused({ kind: "no_target" }),
    refused({ kind: "no_script", script: "0b".repeat(28) }),
    refused({ kind: "no_datum", datum: "0c".repeat(32) }),
    refused({ kind: "no_cost_model", language: 2 }),
    refused({ kind: "failed", message: "the machine stopped", logs: ["here"] }),
  ];
  const messages: TypedMessage[] = [
    // of scripts that cannot be run; Ogmios sends it, and only the type of evaluations has it
    ...[...byCode].filter(([key]) => !key.endsWith(" 3004")).map(([, error]) => ({
      type: `Ogmios["SubmitTransactionResponse"]`,
      message: answered("submitTransaction", { error }),
    })),
    ...answers.map((answer) => ({
      type: `Ogmios["EvaluateTransactionResponse"]`,
      message: answered("evaluateTransaction", evaluationOutcome(answer, 6)),
    })),
  ];
  expect(messages.length).toBeGreaterThan(80);
  expect(typeFaults(messages)).toEqual([]);
});

it("has types that refuse the form of version 7", () => {
  const [bytes] = chunks.slice(-1).flatMap(blocksOf).filter((one) => one.length > 5_000);
  const block = blockJson(bytes!, form);
  const [first] = block.transactions as JsonObject[];
  const { outputs: _, ...transaction } = first!;
  const messages = [
    { type: "Block", message: block },
    { type: "Transaction", message: transaction },
    { type: "Block", message: { ...block, extra: 1 } },
    { type: "Transaction", message: { ...first, inputs: [{ transaction: { id: 5 }, index: 0 }] } },
  ];
  expect(typeFaults(messages).map((fault) => fault.split(":")[0])).toEqual(["Transaction", "Block", "Transaction"]);
});
