/**
 * Programs of the official Plutus conformance suite with their results and budgets, and the cost models that the
 * budgets are based on.
 */
import { readFileSync } from "node:fs";
import { vectors } from "../base/vectors.ts";

export interface ConformanceProgram {
  readonly name: string;
  /** The program in textual form. */
  readonly program: string;
  /** Its result in textual form, or the kind of its failure. */
  readonly expected: string;
  /** Its flat encoding in hexadecimal, if it has one. */
  readonly flat: string | null;
  /** Flat encoding of the result, or the kind of its failure. */
  readonly flatExpected: string | null;
  readonly budget: { readonly cpu: number; readonly memory: number } | string;
}

export const PARSE_ERROR = "parse/decode error";
export const FAILURE = "evaluation failure";

export function conformancePrograms(): readonly ConformanceProgram[] {
  return JSON.parse(readFileSync(vectors("plutus/conformance.json"), "utf8")) as ConformanceProgram[];
}

/** Cost models of mainnet under protocol version 11, for Plutus V1, V2 and V3. */
export function mainnetCostModels(): Readonly<Record<1 | 2 | 3, readonly bigint[]>> {
  const { costModels } = JSON.parse(readFileSync(vectors("plutus/mainnet-cost-models-2026.json"), "utf8")) as {
    costModels: Record<"PlutusV1" | "PlutusV2" | "PlutusV3", number[]>;
  };
  return {
    1: costModels.PlutusV1.map(BigInt),
    2: costModels.PlutusV2.map(BigInt),
    3: costModels.PlutusV3.map(BigInt),
  };
}
