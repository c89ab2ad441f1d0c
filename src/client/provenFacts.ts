/** The facts of an answer that may be any value, verified to be all facts of a state. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { plural } from "#src/client/sentences.ts";
import { hexIn, listIn, recordOf, refused } from "#src/client/untrusted.ts";
import { LeafSet } from "#src/forestry/leafSet.ts";
import { leafOf } from "#src/forestry/trie.ts";

/** Facts by key, both in hexadecimal, and the sentence that says what was checked. */
export interface ProvenFacts {
  readonly facts: ReadonlyMap<string, string>;
  readonly checked: string;
}

/**
 * Reads a list of facts, of which each key is there once, and which have a root together. `most` limits their number and the
 * bytes of a key and of a value.
 *
 * Throws for `guarded`: `malformed`, `too_large`, `facts_differ`.
 */
export function factsUnderRoot(
  listed: unknown,
  root: string,
  most: { readonly facts?: number; readonly bytes?: number } = {},
): ProvenFacts {
  const facts = new Map<string, string>();
  const set = new LeafSet();
  for (const fact of listIn(listed, most.facts)) {
    const { key: rawKey, value: rawValue } = recordOf(fact);
    const [key, value] = [hexIn(rawKey, most.bytes), hexIn(rawValue, most.bytes)];
    if (facts.has(key)) throw refused("facts_differ", `The key ${key} is in the response twice.`);
    facts.set(key, value);
    set.add(leafOf(fromHex(key), fromHex(value)));
  }
  const made = set.root();
  const computed = made.ok ? toHex(made.value) : undefined;
  if (computed !== root) {
    throw refused(
      "facts_differ",
      `The ${facts.size} facts are not all facts of the token: they do not have the root in its state; facts are missing, added or changed.`,
    );
  }
  const checked = `${
    plural(facts.size, "fact has", "facts have")
  } the root ${computed} together: none is missing, added or changed.`;
  return { facts, checked };
}
