/** The compiled contract for transactions, so that services need not build it. */
import { fromHex } from "#src/base/bytes.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import published from "#src/contract/published.json" with { type: "json" };

/** A published version of the contract. */
export interface CageScript {
  readonly version: string;
  /** Hash of the script: policy id of its tokens and payment credential of its addresses, in hexadecimal. */
  readonly hash: string;
  /** One CBOR byte string around the flat code: an element of a witness set's Plutus V3 scripts, content of a reference script. */
  readonly compiledCode: Uint8Array;
}

/** Every published version, the current one last. Tokens of an older version keep its rules. */
export const cageScripts: readonly CageScript[] = published.map(({ version, hash, compiledCode }) => ({
  version,
  hash,
  compiledCode: fromHex(compiledCode),
}));

const last = cageScripts.at(-1);
if (!last) throw new Error("published.json has no version of the contract");

/** The current version. */
export const cageScript: CageScript = last;

/** The first protocol version that runs a version of the contract. */
export function firstProtocol(script: CageScript): number {
  return contributesByIndex(script) ? 11 : 9;
}

/** The newest version of the contract that runs under these parameters. New tokens have it. */
export function newestScript({ protocolVersion: { major } }: Pick<Parameters, "protocolVersion">): CageScript {
  return cageScripts.findLast((one) => firstProtocol(one) <= major) ?? cageScript;
}

/** Whether updates may share the top branch (see `contract/crown.ts`): not in version 1.0.0. */
export function supportsTopBranch({ version }: CageScript): boolean {
  return version !== "1.0.0";
}

/** Whether a request contributes by the index of its input (see `contract/contribute.ts`): not before version 3.0.0. */
export function contributesByIndex({ version }: CageScript): boolean {
  return version !== "1.0.0" && version !== "2.0.0";
}

/** Whether an update may refuse requests (see `contract/modify.ts`): not before version 3.0.0. */
export function refusesRequests(script: CageScript): boolean {
  return contributesByIndex(script);
}
