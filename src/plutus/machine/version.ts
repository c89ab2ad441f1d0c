/** Features of each language by protocol version. */
import type { Int } from "#src/plutus/machine/integer.ts";

export type Language = 1 | 2 | 3;

/** Protocol version 11 (van Rossem): all built-in functions in all languages, `case` on constants. */
const VAN_ROSSEM = 11;
const CHANG = 9;

/** Built-in functions, by number in the flat encoding, and the major protocol version from which a language has them. */
const INTRODUCED: Readonly<Record<Language, readonly (readonly [major: number, first: number, last: number])[]>> = {
  1: [[5, 0, 50], [VAN_ROSSEM, 51, 100]],
  2: [[7, 0, 51], [8, 52, 53], [10, 73, 74], [VAN_ROSSEM, 54, 72], [VAN_ROSSEM, 75, 100]],
  3: [[CHANG, 0, 74], [10, 75, 86], [VAN_ROSSEM, 87, 100]],
};

/** Whether a script of a language may use a built-in function. */
export function hasBuiltin(tag: number, language: Language, major: number): boolean {
  return INTRODUCED[language].some(([from, first, last]) => major >= from && tag >= first && tag <= last);
}

/** Whether scripts of a language may use a Plutus Core version. */
export function hasCoreVersion(version: readonly Int[], language: Language, major: number): boolean {
  const [first, second, third] = version;
  if (first !== 1 || third !== 0) return false;
  return second === 0 || (second === 1 && (language === 3 || major >= VAN_ROSSEM));
}

/** Whether `case` accepts constants. */
export function hasCaseOnConstants(major: number): boolean {
  return major >= VAN_ROSSEM;
}

/** Semantics variant of the built-in functions, by Plutus' names. */
export type Variant = "A" | "B" | "C" | "D" | "E";

export function variantOf(language: Language, major: number): Variant {
  if (language === 3) return major >= VAN_ROSSEM ? "E" : "C";
  return major >= VAN_ROSSEM ? "D" : major >= CHANG ? "B" : "A";
}

/** Whether arguments and results have size limits (64-bit numbers, integers of 32 kB and others) and texts are measured in bytes. */
export function hasBounds(variant: Variant): boolean {
  return variant === "D" || variant === "E";
}
