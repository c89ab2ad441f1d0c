/**
 * Verification of facts without trust in the service: the proof must lead from key and value to the root in the token's
 * state output, and that output is compared with what the caller knows from another source. Runs in a browser.
 *
 * The point at which the answer was read, and the reference of the state output, are in no datum: they remain the
 * service's claim, unless the caller knows the reference.
 *
 * @example
 * ```ts
 * import { verifyFact } from "./src/client/proofs.ts";
 * import { TokenClient } from "./src/client/tokens.ts";
 *
 * // `datum` comes from a node or a provider of your own: the inline datum of the output that holds the token's asset
 * export async function readFact(service: string, policyId: string, tokenId: string, datum: string) {
 *   const answer = await new TokenClient(service).fact(tokenId, "key");
 *   const checked = verifyFact(answer, { tokenId, key: "key", trusted: { policyId, assetName: tokenId, datum } });
 *   if (!checked.ok) throw new Error(checked.error.message);
 *   return checked.value.included ? checked.value.text : undefined;
 * }
 * ```
 */
import type { z } from "zod";
import type * as api from "#src/tokens/api/proofs.ts";
import { equalBytes, fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { decodeDatum, type State } from "#src/contract/datum.ts";
import { bytesText } from "#src/contract/text.ts";
import { parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { decodeAll } from "#src/cardano/cbor.ts";
import { type Output, readOutput } from "#src/cardano/output.ts";
import { keyBytes } from "#src/client/factKey.ts";
import { digest } from "#src/forestry/hash.ts";
import { readProofJson } from "#src/forestry/json.ts";
import { encodeProof, type Proof } from "#src/forestry/proof.ts";
import { excludes, includes } from "#src/forestry/verify.ts";

/** A fact or its absence with its proof, as the token service gives it. */
export type FactProof = z.output<typeof api.factProof>;

/** What the caller knows of the token's state from another source than the service. All in hexadecimal. */
export type TrustedState =
  /** The root itself. */
  | { readonly root: string }
  /**
   * The inline datum (CBOR) of the output that holds the asset; with its `outputRefId` where that is to be compared
   * too.
   */
  | { readonly policyId: string; readonly assetName: string; readonly datum: string; readonly outputRefId?: string }
  /** The whole output (CBOR): its contents, and that it is at the contract of the policy, are read from it. */
  | { readonly policyId: string; readonly output: string; readonly outputRefId?: string };

/** The question, and what the caller trusts. */
export interface FactQuestion {
  readonly tokenId: string;
  /** Bytes, or a text in the service's encoding. */
  readonly key: string | Uint8Array;
  readonly trusted: TrustedState;
}

/** What a checked answer proves. */
export type VerifiedFact =
  & { readonly root: string; readonly owner: string }
  & (
    | { readonly included: false }
    | {
      readonly included: true;
      readonly value: Uint8Array;
      /** The value in the service's encoding: text, with a lone surrogate for each byte that is no UTF-8. */
      readonly text: string;
    }
  );

/**
 * Why an answer proves nothing. `malformed`: it has another form or contradicts itself; `other_question`: it is about
 * another token or key; `untrusted`: what is trusted is malformed or of another token; `state_differs`: it is of
 * another state than the trusted one (one of the two may be older: read both again); `proof_fails`: the proof does not
 * lead to the root.
 */
export type FactRefusal = Failure<"malformed" | "other_question" | "untrusted" | "state_differs" | "proof_fails">;

/**
 * Checks an answer, which may be any value: whatever is wrong with it is a `FactRefusal`.
 *
 * @throws {TypeError} for a question whose key is no key (see `keyBytes`).
 *
 * @example
 * ```ts
 * import { verifyFact } from "./src/client/proofs.ts";
 *
 * const question = { tokenId: "ab".repeat(32), key: "planet", trusted: { root: "00".repeat(32) } };
 * const checked = verifyFact({}, question);
 * console.log(checked.ok ? checked.value : checked.error.code); // other_question
 * ```
 */
export function verifyFact(answer: unknown, question: FactQuestion): Result<VerifiedFact, FactRefusal> {
  const key = keyBytes(question.key);
  try {
    return check(answer as Partial<FactProof>, question, key);
  } catch {
    return fail("malformed", "The response is malformed.");
  }
}

function check(
  answer: Partial<FactProof>,
  question: FactQuestion,
  key: Uint8Array,
): Result<VerifiedFact, FactRefusal> {
  const token = question.tokenId.toLowerCase();
  const path = digest(key);
  const same = answer.path === toHex(path) && answer.tokenId === token &&
    (answer.keyHex === undefined || answer.keyHex === toHex(key)) &&
    (answer.key === undefined || answer.key === bytesText(key));
  if (!same) return fail("other_question", "The response is for another token or another key.");

  const proof = proofIn(answer);
  const state = stateIn(answer, token);
  const value = valueIn(answer);
  if (!proof || !state || value === "malformed") {
    return fail("malformed", "The response is malformed or inconsistent.");
  }

  const trusted = trustedState(question.trusted, token);
  if (!trusted) return fail("untrusted", trustFault(question.trusted, token));
  const { trusted: known } = question;
  const compared: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ["root", trusted.root, state.root],
    ["owner", trusted.owner, state.owner],
    ["policyId", "policyId" in known ? known.policyId.toLowerCase() : undefined, answer.stateOutput?.policyId],
    ["outputRefId", "outputRefId" in known ? known.outputRefId?.toLowerCase() : undefined, answer.outputRefId],
  ];
  const differing = compared.flatMap(([name, mine, theirs]) => mine !== undefined && mine !== theirs ? [name] : []);
  if (differing.length > 0) {
    return fail("state_differs", "The response is for another state than the trusted one.", { differing });
  }

  const root = fromHex(state.root);
  const holds = value === undefined ? excludes(root, path, proof) : includes(root, path, digest(value), proof);
  if (!holds) return fail("proof_fails", "The proof does not lead to the root.");
  return ok(
    value === undefined ? { ...state, included: false } : { ...state, included: true, value, text: bytesText(value) },
  );
}

const LOWER = /^([0-9a-f]{2})*$/;

/** Bytes of lower-case hexadecimal, the service's only form. */
function bytesIn(text: unknown): Uint8Array | undefined {
  return typeof text === "string" && LOWER.test(text) ? fromHex(text) : undefined;
}

/** The proof, where its two forms agree. */
function proofIn({ proof }: Partial<FactProof>): Proof | undefined {
  const steps = readProofJson(proof?.steps);
  const cbor = bytesIn(proof?.cbor);
  return steps && cbor && equalBytes(encodeProof(steps), cbor) ? steps : undefined;
}

/** The value, where there is one; its two forms must agree. */
function valueIn({ included, value, valueHex }: Partial<FactProof>): Uint8Array | undefined | "malformed" {
  if (included === false) return value === undefined && valueHex === undefined ? undefined : "malformed";
  const bytes = bytesIn(valueHex);
  return included === true && bytes && bytesText(bytes) === value ? bytes : "malformed";
}

/** The state in an answer, where its state output contains everything that the answer says of it. */
function stateIn(answer: Partial<FactProof>, token: string): State | undefined {
  const { root, owner, stateOutput } = answer;
  const cbor = bytesIn(stateOutput?.cbor);
  if (!cbor || !stateOutput || stateOutput.assetName !== token) return undefined;
  const output = outputOf(cbor);
  const state = stateUnder(output, stateOutput.policyId, token);
  if (!state || state.root !== root || state.owner !== owner) return undefined;
  const address = parseAddress(stateOutput.address);
  const said = address.ok && address.value.hex === output.address && output.datum &&
    toHex(output.datum) === stateOutput.datum;
  return said ? state : undefined;
}

/** Why `trustedState` gives nothing: the sentence begins with the member that is wrong, as `names` has it. */
export function trustFault(trusted: TrustedState, token: string, names: Readonly<Record<string, string>> = {}): string {
  const given: Readonly<Record<string, unknown>> = { ...trusted };
  const wrong = (member: string, form: string) => {
    const text = String(given[member] ?? "");
    const said = text === "" ? "; it is empty" : `, not ${text.length > 70 ? `${text.slice(0, 70)}…` : text}`;
    return `${names[member] ?? `trusted.${member}`} must be ${form}${said}.`;
  };
  const isCbor = (text: unknown) => typeof text === "string" && text !== "" && isHex(text);
  if ("root" in given) return wrong("root", "the root of the facts, 64 hexadecimal digits");
  if (typeof given.policyId !== "string" || !isHex(given.policyId, 28)) {
    return wrong("policyId", "the policy id of the token, the contract's hash of 56 hexadecimal digits");
  }
  if ("output" in given) {
    return isCbor(given.output)
      ? wrong("output", `an output of the policy with the token ${token} and a state in its datum`)
      : wrong("output", "the token's state output, as CBOR in hexadecimal");
  }
  if (!("datum" in given)) return wrong("datum", "there, or root or output in its place");
  if (String(given.assetName).toLowerCase() !== token) return wrong("assetName", `the token id ${token}`);
  return isCbor(given.datum)
    ? wrong("datum", "the inline datum of a state of a token")
    : wrong("datum", "the inline datum of the token's state output, as CBOR in hexadecimal");
}

function outputOf(cbor: Uint8Array): Output {
  return readOutput(decodeAll(cbor));
}

/** The state in an output: one asset of the policy under the token's name, at the contract, with a state's datum. */
function stateUnder(output: Output, policyId: string, token: string): State | undefined {
  const address = readAddressHex(output.address);
  if (!address.ok || !("payment" in address.value)) return undefined;
  const { kind, hash } = address.value.payment;
  if (kind !== "script" || hash !== policyId || output.value.assets.get(policyId + token) !== 1n) return undefined;
  return output.datum && stateOf(output.datum);
}

function stateOf(cbor: Uint8Array): State | undefined {
  const datum = decodeDatum(cbor);
  return datum?.type === "state" ? datum.state : undefined;
}

/** The state that the caller trusts, undefined where it is malformed; a root alone does not determine the owner. */
export function trustedState(trusted: TrustedState, token: string): Partial<State> | undefined {
  try {
    if ("root" in trusted) return isHex(trusted.root, 32) ? { root: trusted.root.toLowerCase() } : undefined;
    const policyId = trusted.policyId.toLowerCase();
    if (!isHex(policyId, 28)) return undefined;
    if ("output" in trusted) return stateUnder(outputOf(fromHex(trusted.output)), policyId, token);
    return trusted.assetName.toLowerCase() === token ? stateOf(fromHex(trusted.datum)) : undefined;
  } catch {
    return undefined;
  }
}
