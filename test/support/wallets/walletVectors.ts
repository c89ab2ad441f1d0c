/** Golden values of keys, addresses, scripts and fees from other wallets. */
import { readFileSync } from "node:fs";
import { vectors } from "../base/vectors.ts";

interface Vector {
  readonly id: string;
  readonly category: string;
  // deno-lint-ignore no-explicit-any -- every category has its own shape
  readonly input: any;
  // deno-lint-ignore no-explicit-any -- as above
  readonly expected: any;
}

const all: readonly Vector[] = ["wallet-vectors.json", "byron-wallets.json"].flatMap((file) =>
  JSON.parse(readFileSync(vectors(file), "utf8")).vectors
);

/**
 * Vectors of some categories.
 * @throws Error if a category has none
 */
export function walletVectors(...categories: readonly string[]): readonly Vector[] {
  const found = all.filter((vector) => categories.includes(vector.category));
  if (found.length === 0) throw new Error(`no vectors of ${categories.join(", ")}`);
  return found;
}
