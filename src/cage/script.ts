/** The contract as it goes into transactions: ready-made, so that nobody has to build it. */
import { fromHex } from "#src/base/bytes.ts";
import { PUBLISHED } from "#src/cage/published.ts";

/** A published version of the contract. */
export interface CageScript {
  readonly version: string;
  /** Hash of the script: policy id of its tokens and payment credential of its addresses, in hexadecimal. */
  readonly hash: string;
  /** One CBOR byte string around the flat code: an element of a witness set's Plutus V3 scripts, content of a reference script. */
  readonly compiledCode: Uint8Array;
}

/** Every version that was published, the current one last. Tokens of an older one live on under its rules. */
export const cageScripts: readonly CageScript[] = PUBLISHED.map(({ version, hash, compiledCode }) => ({
  version,
  hash,
  compiledCode: fromHex(compiledCode),
}));

/** The current version. */
export const cageScript: CageScript = cageScripts.at(-1)!;

/** Whether updates may share a crown (see `contract/crown.ts`): not in the first version. */
export function takesCrowns({ version }: CageScript): boolean {
  return version !== "1.0.0";
}
