/**
 * Verification that a set of facts is complete, without trust in the service: the root of all facts together must be the
 * one that the caller knows from another source. Proofs of single facts cannot show that none was left out. Runs in a
 * browser, and keeps at most 128 bytes for each fact, whatever the size of keys and values.
 */
import { fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { bytesOf } from "#src/contract/text.ts";
import { type TrustedState, trustedState, trustFault } from "#src/client/proofs.ts";
import { LeafSet } from "#src/forestry/leafSet.ts";
import { type Leaf, leafOf } from "#src/forestry/trie.ts";

/** An answer of the token service with facts: values by key, or `{value, slot}` by key. */
export type FactsAnswer = Readonly<Record<string, string | { readonly value: string }>>;

/** Facts: one answer with all of them, its pages in any order, or those that `TokenClient.refresh` keeps. */
export type FactSource =
  | FactsAnswer
  | ReadonlyMap<string, string>
  | Iterable<FactsAnswer>
  | AsyncIterable<FactsAnswer>;

/** The token, and what the caller trusts. */
export interface FactSetQuestion {
  readonly tokenId: string;
  readonly trusted: TrustedState;
  /** Encoding of keys and values in the answers; `text` by default. */
  readonly encoding?: "text" | "hex";
}

/** What a complete set proves: there are exactly these facts under the root. */
export interface VerifiedFactSet {
  readonly root: string;
  /** Payment key hash of the owner; known where a datum or an output is trusted. */
  readonly owner?: string;
  /** Number of facts. */
  readonly facts: number;
}

/**
 * Why facts are not shown to be complete. `malformed`: an answer has another form, or a text is no encoding of bytes;
 * `repeated_key`: a key is in two answers; `untrusted`: what is trusted is malformed or of another token; `root_differs`:
 * facts are missing, changed or added, or are of another state than the trusted one (`details` has both roots).
 */
export type FactSetRefusal = Failure<"malformed" | "repeated_key" | "untrusted" | "root_differs">;

/**
 * Checks that facts are all facts of a token under a root that the caller trusts.
 *
 * @throws what reading the pages throws, such as `ApiError`.
 *
 * @example
 * ```ts
 * import { verifyFactSet } from "./src/client/factSet.ts";
 * import { TokenClient } from "./src/client/tokens.ts";
 *
 * // `root` comes from a node or a provider of your own
 * export async function countFacts(service: string, tokenId: string, root: string): Promise<number> {
 *   const pages = new TokenClient(service).factPages(tokenId, { limit: 1_000 });
 *   const checked = await verifyFactSet(pages, { tokenId, trusted: { root } });
 *   if (!checked.ok) throw new Error(checked.error.message);
 *   return checked.value.facts;
 * }
 * ```
 */
export async function verifyFactSet(
  facts: FactSource,
  { tokenId, trusted, encoding = "text" }: FactSetQuestion,
): Promise<Result<VerifiedFactSet, FactSetRefusal>> {
  const known = trustedState(trusted, tokenId.toLowerCase());
  if (known?.root === undefined) {
    return fail("untrusted", trustFault(trusted, tokenId.toLowerCase()));
  }
  const bytesIn = encoding === "hex" ? hexBytes : bytesOf;
  const set = new LeafSet();
  for await (const answer of answersIn(facts)) {
    for (const [key, value] of entriesOf(answer)) {
      const leaf = leafIn(key, value, bytesIn);
      if (!leaf) return fail("malformed", "The response with facts is malformed.");
      set.add(leaf);
    }
  }
  const root = set.root();
  if (!root.ok) {
    return fail("repeated_key", "A key is in the responses twice.", { path: toHex(root.error.details.path) });
  }
  const computed = toHex(root.value);
  if (computed !== known.root) {
    const message =
      "The facts do not have the trusted root: facts are missing, changed or added, or the state is another.";
    return fail("root_differs", message, { root: computed, trusted: known.root, facts: set.size });
  }
  return ok({ root: computed, ...(known.owner === undefined ? {} : { owner: known.owner }), facts: set.size });
}

function isIterable(value: object): value is Iterable<unknown> | AsyncIterable<unknown> {
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

/** The answers of a source, which may be any value. */
async function* answersIn(facts: unknown): AsyncGenerator<unknown, void> {
  const several = typeof facts === "object" && facts !== null && !(facts instanceof Map) && isIterable(facts);
  if (several) yield* facts;
  else yield facts;
}

/** Keys and values of an answer; of a value that is no answer, an entry that is none. */
function entriesOf(answer: unknown): Iterable<readonly [unknown, unknown]> {
  if (answer instanceof Map) return answer.entries();
  if (typeof answer !== "object" || answer === null || isIterable(answer)) return [[undefined, undefined]];
  return Object.entries(answer);
}

/** The element for the texts of a key and a value, or of a value with its slot. */
function leafIn(key: unknown, value: unknown, bytesIn: (text: string) => Uint8Array | undefined): Leaf | undefined {
  const text = typeof value === "object" && value !== null && "value" in value ? value.value : value;
  const [keyBytes, valueBytes] = [key, text].map((one) => typeof one === "string" ? bytesIn(one) : undefined);
  return keyBytes && valueBytes && leafOf(keyBytes, valueBytes);
}

function hexBytes(text: string): Uint8Array | undefined {
  return isHex(text) ? fromHex(text) : undefined;
}
