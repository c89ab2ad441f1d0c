/** Ids of representatives as people write them: CIP-129 (`drep1…` with a header byte) and the forms before it (CIP-5). */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import type { DRep } from "#src/cardano/certificates.ts";

/** Header byte of a representative's credential in CIP-129. */
const HEADERS = { key: 0x22, script: 0x23 } as const;

/** Text of a representative: `abstain`, `no_confidence`, or `drep1…` of CIP-129. */
export function drepId(drep: DRep): string {
  if (drep.kind === "abstain") return "abstain";
  if (drep.kind === "no confidence") return "no_confidence";
  return toBech32("drep", concat(Uint8Array.of(HEADERS[drep.kind]), fromHex(drep.hash)));
}

/** Reads one in any form: also `drep1…`, `drep_vkh1…` and `drep_script1…` of a bare hash. `undefined` for anything else. */
export function parseDrepId(text: string): DRep | undefined {
  if (text === "abstain") return { kind: "abstain" };
  if (text === "no_confidence") return { kind: "no confidence" };
  const read = fromBech32(text);
  if (read === undefined) return undefined;
  const { prefix, bytes } = read;
  if (bytes.length === 28 && (prefix === "drep" || prefix === "drep_vkh")) return { kind: "key", hash: toHex(bytes) };
  if (bytes.length === 28 && prefix === "drep_script") return { kind: "script", hash: toHex(bytes) };
  if (bytes.length !== 29 || prefix !== "drep") return undefined;
  const hash = toHex(bytes.subarray(1));
  if (bytes[0] === HEADERS.key) return { kind: "key", hash };
  return bytes[0] === HEADERS.script ? { kind: "script", hash } : undefined;
}
