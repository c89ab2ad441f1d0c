/** Programs that were decoded last: a transaction runs one script for many redeemers, and a contract's script runs again and again. */
import { equalBytes } from "#src/base/bytes.ts";
import { decodeProgram } from "#src/plutus/machine/flat.ts";
import type { Program } from "#src/plutus/machine/term.ts";
import type { Language } from "#src/plutus/machine/version.ts";

/** How many are kept. The greatest script of a transaction takes about a megabyte. */
const KEPT = 4;

interface Kept {
  readonly flat: Uint8Array;
  readonly language: Language;
  readonly major: number;
  readonly program: Program;
}

/** The last one used first. */
let kept: readonly Kept[] = [];

/**
 * The program that bytes are the flat encoding of, decoded or kept.
 *
 * @throws Failure of kind `decoding`.
 */
export function programOf(flat: Uint8Array, language: Language, major: number): Program {
  const known = kept.find((one) => one.language === language && one.major === major && equalBytes(one.flat, flat));
  // a copy: the bytes may be a part of something great
  const last = known ?? { flat: flat.slice(), language, major, program: decodeProgram(flat, language, major) };
  if (last !== kept[0]) kept = [last, ...kept.filter((one) => one !== last)].slice(0, KEPT);
  return last.program;
}
