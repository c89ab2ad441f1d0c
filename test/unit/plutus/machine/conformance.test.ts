/** The machine against the official conformance suite: every result and every budget. */
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { evaluate, evaluateProgram, type Outcome, type Rules } from "#src/plutus/machine/evaluate.ts";
import { Failure } from "#src/plutus/machine/failure.ts";
import { decodeProgram } from "#src/plutus/machine/flat.ts";
import { readBack } from "../../../support/plutus/readBack.ts";
import type { Program } from "#src/plutus/machine/term.ts";
import {
  conformancePrograms,
  FAILURE,
  mainnetCostModels,
  PARSE_ERROR,
} from "../../../support/plutus/conformancePrograms.ts";
import { parseProgram, showTerm, SyntaxProblem } from "../../../support/plutus/uplcText.ts";

const RULES: Rules = { language: 3, protocolMajor: 11, costModel: mainnetCostModels()[3] };
const LIMIT = { memory: 1n << 53n, steps: 1n << 53n };

const programs = conformancePrograms();

function parsed(text: string): Program | undefined {
  try {
    return parseProgram(text);
  } catch (error) {
    // the machine decodes a point constant
    if (error instanceof SyntaxProblem || error instanceof Failure) return undefined;
    throw error;
  }
}

function shown(outcome: Outcome): string {
  if (outcome.ok) return showTerm(readBack(outcome.value));
  return outcome.kind === "decoding" ? PARSE_ERROR : FAILURE;
}

function spent(outcome: Outcome): unknown {
  return outcome.ok ? { cpu: Number(outcome.spent.steps), memory: Number(outcome.spent.memory) } : shown(outcome);
}

describe("conformance suite", () => {
  it("has 695 programs", () => expect(programs).toHaveLength(695));

  it.each(programs)("textual $name", ({ program, expected, budget }) => {
    const term = parsed(program);
    if (term === undefined) return expect([expected, budget]).toEqual([PARSE_ERROR, PARSE_ERROR]);
    const outcome = evaluateProgram(term, [], RULES, LIMIT);
    const result = expected.startsWith("(") ? showTerm(parseProgram(expected).term) : expected;
    expect([shown(outcome), spent(outcome)]).toEqual([result, budget]);
  });

  it.each(programs.filter(({ flat }) => flat))("flat $name", ({ flat, flatExpected, budget }) => {
    const outcome = evaluate(fromHex(flat!), [], RULES, LIMIT);
    const result = /^[0-9a-f]+$/.test(flatExpected!)
      ? showTerm(decodeProgram(fromHex(flatExpected!), 3, 11).term)
      : flatExpected;
    expect([shown(outcome), spent(outcome)]).toEqual([result, budget]);
  });
});
