import { expect, it } from "vitest";
import { isObject } from "#src/base/json.ts";
import { ok } from "#src/base/result.ts";
import {
  type EvaluationAnswer,
  evaluationOutcome,
  type MeasuredRedeemers,
  readEvaluation,
} from "#src/ogmios/evaluation.ts";
import type { RedeemerFailure } from "#src/plutus/types.ts";
import { golden, schemaFault } from "../../support/ogmios/golden.ts";

const answered = (answer: EvaluationAnswer, version: 6 | 7) => ({
  jsonrpc: "2.0",
  method: "evaluateTransaction",
  ...evaluationOutcome(answer, version),
  id: null,
});

it("reads every result of Ogmios and writes the same", () => {
  let read = 0;
  for (const message of golden("EvaluateTransactionResponse")) {
    expect(schemaFault("EvaluateTransactionResponse", message)).toBeUndefined();
    if (!isObject(message) || message.result === undefined) continue;
    const units = readEvaluation(message.result);
    const redeemers: MeasuredRedeemers = units.map(({ pointer, units }) => ({ ...pointer, result: ok(units) }));
    const outcome = evaluationOutcome({ kind: "measured", redeemers }, 7);
    expect(outcome).toEqual({ result: message.result });
    read++;
  }
  expect(read).toBeGreaterThan(3);
});

it("keeps the schema in every answer", () => {
  const failures: RedeemerFailure[] = [
    { kind: "no_target" },
    { kind: "no_script", script: "0b".repeat(28) },
    { kind: "no_datum", datum: "0c".repeat(32) },
    { kind: "no_cost_model", language: 2 },
    { kind: "failed", message: "the machine stopped", logs: ["here"] },
  ];
  const redeemers = (["vote", "spend", "mint", "propose", "reward", "cert"] as const).flatMap((purpose) =>
    failures.map((error, index) => ({ purpose, index: 5 - index, result: { ok: false as const, error } }))
  );
  const answers: EvaluationAnswer[] = [
    { kind: "not_text" },
    { kind: "undecodable", message: "truncated" },
    { kind: "no_context", reason: "TimeTranslationPastHorizon", about: "slot 7" },
    { kind: "no_context", reason: "RedeemerPointerPointsToNothing", about: "script spend 7" },
    { kind: "overlap", refs: [{ txHash: "0c".repeat(32), index: 1 }] },
    { kind: "measured", redeemers },
    { kind: "measured", redeemers: [] },
  ];
  for (const answer of answers.slice(1)) {
    expect(schemaFault("EvaluateTransactionResponse", answered(answer, 7))).toBeUndefined();
  }
  expect(evaluationOutcome(answers[0]!, 6)).toMatchObject({ error: { code: -32600 } });
  expect(evaluationOutcome(answers[1]!, 6)).toMatchObject({ error: { code: -32602, data: { shelley: "truncated" } } });
  const outcome = evaluationOutcome({ kind: "measured", redeemers }, 6);
  const data = "error" in outcome ? outcome.error.data as { validator: { purpose: string; index: number } }[] : [];
  expect(data.map(({ validator: { purpose, index } }) => `${purpose} ${index}`).filter((_, i) => i % 5 === 0)).toEqual(
    ["spend 1", "mint 1", "publish 1", "withdraw 1", "vote 1", "propose 1"],
  );
});
