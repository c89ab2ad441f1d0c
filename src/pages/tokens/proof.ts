/** Proofs of facts, which are verified in this browser. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { ApiError } from "#src/client/http.ts";
import type { FactProof } from "#src/client/proofs.ts";
import { sentenceOf } from "../kit/states.tsx";
import { shortId } from "../kit/Id.tsx";
import { client, get, type Token } from "./service.ts";

/** What a check found. */
export interface Verdict {
  readonly good: boolean;
  readonly says: string;
  /** The proven value, in hexadecimal; null if the key has none. */
  readonly value?: string | null;
}

export interface ProofQuestion {
  readonly tokenId: string;
  /** The key, in hexadecimal. */
  readonly key: string;
  /** The value that the list shows, in hexadecimal; undefined: any value or none. */
  readonly expected?: string | undefined;
  /** Datum of the state output from another source, in hexadecimal; empty: as the service returns it. */
  readonly datum: string;
}

/**
 * Checks a fact: its proof must lead from key and value to the root that the token's state output holds, or to the
 * datum that the reader has from another source; and the value must be the one that is shown.
 */
export async function checkProof(question: ProofQuestion): Promise<Verdict> {
  try {
    return await checked(question);
  } catch (error) {
    return { good: false, says: sentenceOf(error) };
  }
}

async function checked({ tokenId, key: hex, expected, datum }: ProofQuestion): Promise<Verdict> {
  const { factSegment, verifyFact } = await client();
  const key = fromHex(hex);
  const { segment, query } = factSegment(key);
  for (let tries = 2;; tries--) {
    const token = await current(tokenId);
    if (!token) return { good: false, says: "The token no longer exists." };
    const answer = await get<FactProof>(`/token/${tokenId}/facts/${segment}${query}`);
    const { policyId, cbor: output } = answer.stateOutput ?? {};
    // the answer's own output is trusted only where it is the token's state output
    const trusted = datum === ""
      ? { policyId: String(policyId), output: String(output), outputRefId: token.outputRefId }
      : { policyId: String(policyId), assetName: tokenId, datum };
    const result = verifyFact(answer, { tokenId, key, trusted });
    // a block may have come between the two questions
    if (!result.ok && result.error.code === "state_differs" && datum === "" && tries > 0) continue;
    if (!result.ok) return { good: false, says: result.error.message };
    const { value } = result;
    if (datum === "" && value.root !== token.root) return { good: false, says: "The root is not that of the token." };
    const against = datum === ""
      ? `the state output ${shortId(token.outputRefId)}, as returned by this service`
      : "the state in the datum that you gave";
    if (!value.included) {
      const says = `This key has no value in ${against}.`;
      return expected === undefined ? { good: true, says, value: null } : { good: false, says };
    }
    const found = toHex(value.value);
    if (expected !== undefined && found !== expected) {
      return { good: false, says: "The proof shows another value than the list: the list is wrong or outdated." };
    }
    return { good: true, says: `The proof leads from key and value to ${against}.`, value: found };
  }
}

async function current(tokenId: string): Promise<Token | undefined> {
  try {
    return await get<Token>(`/token/${tokenId}?requests=false`);
  } catch (error) {
    if (error instanceof ApiError && error.code === "token_ended") return undefined;
    throw error;
  }
}
