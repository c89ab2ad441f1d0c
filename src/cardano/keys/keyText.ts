/** Keys as bech32 text: the prefixes of CIP-5, and the older `ed25519_sk`, `ed25519e_sk`, `ed25519_pk`, `xprv`, `xpub`. */
import { concat } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import type { PublicNode, SecretNode } from "#src/cardano/keys/derivation.ts";
import type { SigningKey } from "#src/cardano/keys/signingKey.ts";

/** What a text under a prefix holds. */
type KeyForm =
  /** A seed (32 bytes), or an extended key without a chain code (64). */
  | { readonly form: "secret"; readonly key: SigningKey }
  | { readonly form: "secretNode"; readonly node: SecretNode }
  | { readonly form: "public"; readonly key: Uint8Array }
  | { readonly form: "publicNode"; readonly node: PublicNode }
  /** blake2b-224 of a public key, 28 bytes. */
  | { readonly form: "hash"; readonly hash: Uint8Array };

const FORMS: readonly [RegExp, KeyForm["form"], number][] = [
  [/^ed25519e_sk$/, "secret", 64],
  [/^xprv$|_xsk$/, "secretNode", 96],
  [/^xpub$|_xvk$/, "publicNode", 64],
  [/_sk$/, "secret", 32],
  [/^ed25519_pk$|_vk$/, "public", 32],
  [/_vkh$/, "hash", 28],
];

function node(bytes: Uint8Array): { key: Uint8Array; chainCode: Uint8Array } {
  return { key: bytes.slice(0, -32), chainCode: bytes.slice(-32) };
}

/**
 * Reads a key of any of these forms. The failure's `details.reason` is `not_bech32`, `unknown_prefix` or `wrong_length`; it never
 * repeats the text, which may be a secret.
 */
export function readKey(text: string): Result<KeyForm & { readonly prefix: string }, Failure<"bad_key">> {
  const read = fromBech32(text.trim());
  if (!read) return fail("bad_key", "This is no bech32 text, or its checksum is wrong.", { reason: "not_bech32" });
  const { prefix, bytes } = read;
  const known = FORMS.find(([pattern]) => pattern.test(prefix));
  if (!known) return fail("bad_key", `The prefix "${prefix}" is none of a key.`, { reason: "unknown_prefix" });
  const [, form, length] = known;
  if (bytes.length !== length) {
    return fail("bad_key", `A key "${prefix}" has ${length} bytes, not ${bytes.length}.`, { reason: "wrong_length" });
  }
  switch (form) {
    case "secret":
    case "public":
      return ok({ prefix, form, key: bytes });
    case "secretNode":
    case "publicNode":
      return ok({ prefix, form, node: node(bytes) });
    case "hash":
      return ok({ prefix, form, hash: bytes });
  }
}

/** Text of a key under a prefix, such as `addr_xsk`. Throws a `TypeError` when the prefix does not fit the key. */
export function writeKey(prefix: string, key: KeyForm): string {
  const bytes = key.form === "hash" ? key.hash : "node" in key ? concat(key.node.key, key.node.chainCode) : key.key;
  const known = FORMS.find(([pattern]) => pattern.test(prefix));
  if (!known || known[1] !== key.form || known[2] !== bytes.length) {
    throw new TypeError(`no key of form ${key.form} goes under the prefix ${prefix}`);
  }
  return toBech32(prefix, bytes);
}
