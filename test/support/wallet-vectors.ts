/** Golden values of keys and addresses, read from the shared vectors. */
import { readFileSync } from "node:fs";
import { vectors } from "./vectors.ts";

const path = vectors("wallet-vectors.json");

interface Vector {
  readonly id: string;
  readonly category: string;
  // deno-lint-ignore no-explicit-any -- every category has its own shape
  readonly input: any;
  // deno-lint-ignore no-explicit-any -- as above
  readonly expected: any;
}

const all: readonly Vector[] = path ? JSON.parse(readFileSync(path, "utf8")).vectors : [];

/** Vectors of some categories; none when the file is missing. */
export function walletVectors(...categories: readonly string[]): readonly Vector[] {
  return all.filter((vector) => categories.includes(vector.category));
}
