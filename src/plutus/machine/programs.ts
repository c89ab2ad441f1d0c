/** A cache of decoded programs: one transaction often runs one script for many redeemers, and popular scripts run often. */
import { equalBytes } from "#src/base/bytes.ts";
import { decodeProgram } from "#src/plutus/machine/flat.ts";
import type { Program } from "#src/plutus/machine/term.ts";
import type { Language } from "#src/plutus/machine/version.ts";

/** Size of the cache. The largest possible script takes about a megabyte when decoded. */
const KEPT = 4;

interface Kept {
  readonly flat: Uint8Array;
  readonly language: Language;
  readonly major: number;
  readonly program: Program;
}

/** Most recently used first. */
let kept: readonly Kept[] = [];

/**
 * Decodes a program, or takes it from the cache.
 *
 * @throws {Failure} of kind `decoding`.
 */
export function programOf(flat: Uint8Array, language: Language, major: number): Program {
  const known = kept.find((one) => one.language === language && one.major === major && equalBytes(one.flat, flat));
  // copied, because the bytes may be a view of a much larger buffer
  const last = known ?? { flat: flat.slice(), language, major, program: decodeProgram(flat, language, major) };
  if (last !== kept[0]) kept = [last, ...kept.filter((one) => one !== last)].slice(0, KEPT);
  return last.program;
}
