/** Representatives as rows and events have them: `abstain`, `no_confidence`, `key-<hash>`, `script-<hash>`. */
import type { DRep } from "#src/cardano/certificates.ts";

/** The text of a representative. */
export function drepKey(drep: DRep): string {
  if (drep.kind === "abstain") return "abstain";
  return drep.kind === "no confidence" ? "no_confidence" : `${drep.kind}-${drep.hash}`;
}

/**
 * The inverse of `drepKey`.
 *
 * @throws {RangeError} if the text is malformed
 */
export function parseDrepKey(text: string): DRep {
  if (text === "abstain") return { kind: "abstain" };
  if (text === "no_confidence") return { kind: "no confidence" };
  const [kind, hash] = text.split("-");
  if ((kind !== "key" && kind !== "script") || !hash) throw new RangeError("no representative");
  return { kind, hash };
}
