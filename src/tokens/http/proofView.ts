/** A fact with its proof, as the API shows it. */
import { toHex } from "#src/base/bytes.ts";
import type { PathProof } from "#src/tokens/builds/proofs.ts";
import type { StoredFact } from "#src/tokens/index/evidence.ts";
import type { TokenState } from "#src/tokens/index/read.ts";
import { bytesText } from "#src/contract/text.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import type { Tip } from "#src/cardano/block.ts";
import type { Output } from "#src/cardano/output.ts";
import type { FactKey } from "#src/tokens/http/factKey.ts";
import { refText } from "#src/tokens/http/view.ts";
import { proofJson } from "#src/forestry/json.ts";

/** A state, and the fact under its root, where there is one. */
export interface FactEvidence {
  readonly state: Pick<TokenState, "token" | "owner" | "root" | "utxo">;
  readonly fact?: StoredFact;
}

/** A fact or its absence with its proof, read at a point. */
export function proofView(
  { state, fact }: FactEvidence,
  { path, key = fact?.key }: FactKey,
  { proof, cbor }: Pick<PathProof, "proof" | "cbor">,
  point: Tip,
) {
  const { token, owner, root, utxo } = state;
  return {
    tokenId: token,
    ...(key && { key: bytesText(key), keyHex: toHex(key) }),
    path: toHex(path),
    included: fact !== undefined,
    ...(fact && { value: bytesText(fact.value), valueHex: toHex(fact.value) }),
    proof: { steps: proofJson(proof), cbor: toHex(cbor) },
    root,
    owner,
    outputRefId: refText(utxo.ref),
    stateOutput: outputView(utxo.output, token),
    point,
  };
}

function outputView({ address, value, datum, raw }: Output, token: string) {
  const read = readAddressHex(address);
  // The contract is its own policy.
  const policyId = address.slice(2, 58);
  if (!read.ok || !value.assets.has(policyId + token) || !datum) throw new Error(`token ${token} has no state output`);
  return { address: addressText(read.value), policyId, assetName: token, datum: toHex(datum), cbor: toHex(raw) };
}
