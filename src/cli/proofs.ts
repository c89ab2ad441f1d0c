/** Facts with their proofs in the terminal: read from a service, verified without it. */
import { toHex } from "#src/base/bytes.ts";
import { readJson } from "#src/base/json.ts";
import { type TrustedState, trustedState, trustFault, verifyFact } from "#src/client/proofs.ts";
import { type FactSource, verifyFactSet } from "#src/client/factSet.ts";
import { CliError } from "#src/cli/error.ts";
import { inputName, readInput } from "#src/cli/input.ts";
import type { Output } from "#src/cli/output.ts";
import { initHash } from "#src/forestry/hash.ts";

/** Options that say what is known of the token's state, from a node or provider of the caller's own. */
export interface TrustOptions {
  readonly root?: string | undefined;
  readonly policy?: string | undefined;
  readonly datum?: string | undefined;
  readonly output?: string | undefined;
}

/** What a verified answer proves. */
export interface ProvenFact {
  readonly included: boolean;
  /** In the service's encoding of text, or in hexadecimal. */
  readonly value?: string;
  readonly root: string;
  readonly owner: string;
}

/**
 * Checks an answer of the token service out of a file (`-` is the standard input); gives what is certain then. With `hex` the
 * value is in hexadecimal.
 */
export async function verify(
  file: string,
  token: string,
  key: string | Uint8Array,
  known: TrustOptions & { readonly hex?: boolean },
): Promise<ProvenFact> {
  const trusted = trustedBy(known, token);
  const answer = readJson(await readInput(file));
  if (answer === undefined) throw new CliError(`${inputName(file)} is not JSON.`, "malformed");
  const checked = verifyFact(answer, { tokenId: token, key, trusted });
  if (!checked.ok) throw new CliError(checked.error.message, checked.error.code);
  const { included, root, owner } = checked.value;
  const shown = checked.value.included ? { value: known.hex ? toHex(checked.value.value) : checked.value.text } : {};
  return { included, ...shown, root, owner };
}

/**
 * A check that facts are all facts of a token under what is trusted; it prints how many they are.
 *
 * @throws {CliError} `untrusted` without anything to trust; by the check, the code of `FactSetRefusal`.
 */
export function factsVerifier(
  tokenId: string,
  known: TrustOptions & { readonly hex?: boolean },
): (facts: FactSource, output: Pick<Output, "note">) => Promise<void> {
  const trusted = trustedBy(known, tokenId);
  return async (facts, output) => {
    await initHash();
    const checked = await verifyFactSet(facts, { tokenId, trusted, encoding: known.hex ? "hex" : "text" });
    if (!checked.ok) throw new CliError(checked.error.message, checked.error.code);
    const { facts: count, root } = checked.value;
    output.note(`verified: all facts under root ${root} (${count})`);
  };
}

/** The options by the members of what they state. */
const OPTIONS = { root: "--root", policyId: "--policy", datum: "--datum", output: "--output" };

/** @throws {CliError} `untrusted` where the options state nothing, too much, or something malformed */
function trustedBy(options: TrustOptions, token: string): TrustedState {
  const trusted = statedBy(options, token);
  if (trustedState(trusted, token.toLowerCase())) return trusted;
  throw new CliError(trustFault(trusted, token.toLowerCase(), OPTIONS), "untrusted");
}

function statedBy({ root, policy, datum, output }: TrustOptions, token: string): TrustedState {
  const given = [root, datum, output].filter((one) => one !== undefined);
  const [only] = given;
  if (only === undefined || given.length > 1) {
    throw new CliError("Exactly one of --root, --datum and --output is required; see --help.", "untrusted");
  }
  if (root !== undefined) return { root };
  if (policy === undefined) throw new CliError("--policy with the contract's hash is required.", "untrusted");
  return datum === undefined ? { policyId: policy, output: only } : { policyId: policy, assetName: token, datum };
}
