/** Reads keys and addresses: bech32, whose prefix names the kind of key, or bytes in hexadecimal or base58. */
import { fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { fromBase58, toBase58 } from "#src/cardano/byron.ts";
import { type PublicNode, type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { CliError } from "#src/cli/error.ts";

export type Encoding = "base16" | "base58" | "bech32";

/** Bytes and the prefix under which they came. */
interface Prefixed {
  readonly prefix: string;
  readonly bytes: Uint8Array;
}

/** An extended key: `prefix` without `_xsk` or `_xvk`, such as `acct_shared`; empty for `xprv`, `xpub` and plain bytes. */
export type ExtendedKey =
  | { readonly kind: "private"; readonly name: string; readonly node: SecretNode }
  | { readonly kind: "public"; readonly name: string; readonly node: PublicNode };

/** Names of the keys of a wallet: the levels of CIP-1852 and CIP-1854, and the roles of an account. */
export const KEY_NAMES = [
  ...["root", "acct", "addr", "stake"].flatMap((name) => [name, `${name}_shared`]),
  ...["policy", "drep", "cc_cold", "cc_hot"],
] as const;

const PRIVATE_BYTES = 96;
const PUBLIC_BYTES = 64;

/**
 * The bytes of a text in any of the three encodings, with the prefix where it has one. The text may be a secret, so no
 * message repeats it.
 */
export function decodeText(text: string): { readonly prefix?: string; readonly bytes: Uint8Array } {
  if (text !== "" && isHex(text)) return { bytes: fromHex(text) };
  const bech32 = fromBech32(text);
  if (bech32) return bech32;
  if (/^[a-z_]+1[02-9ac-hj-np-z]{6,}$/i.test(text)) {
    throw new CliError("Bech32 error: the checksum is wrong, or a character is missing.");
  }
  const bytes = text === "" ? undefined : fromBase58(text);
  if (bytes) return { bytes };
  throw new CliError("Couldn't detect input encoding? Data on stdin must be encoded as base16, bech32 or base58.");
}

/** Bytes in an encoding; `prefix` is for bech32. */
export function encodeText(bytes: Uint8Array, prefix: string, encoding: Encoding): string {
  return encoding === "base16" ? toHex(bytes) : encoding === "base58" ? toBase58(bytes) : toBech32(prefix, bytes);
}

const badPrefix = (allowed: readonly string[]) =>
  new CliError(`Invalid human-readable prefix. Prefix ought to be one of: ${JSON.stringify(allowed)}`);

/** A bech32 text under one of some prefixes. Bytes without a prefix are those of `plain`, by their length. */
export function readPrefixed(
  text: string,
  allowed: readonly string[],
  plain: Readonly<Record<number, string>> = {},
): Prefixed {
  const { bytes, prefix = plain[bytes.length] } = decodeText(text);
  if (prefix === undefined || !allowed.includes(prefix)) throw badPrefix(allowed);
  return { prefix, bytes };
}

/** An extended key of one of some names. */
export function readExtended(
  text: string,
  names: readonly string[],
  kinds: readonly ExtendedKey["kind"][],
): ExtendedKey {
  const forms = (["private", "public"] as const).filter((kind) => kinds.includes(kind));
  const allowed = forms.flatMap((kind) => {
    const [ending, old] = kind === "private" ? ["_xsk", "xprv"] : ["_xvk", "xpub"];
    return [...names.map((name) => name + ending), old];
  });
  const { prefix, bytes } = readPrefixed(text, allowed, { [PRIVATE_BYTES]: "xprv", [PUBLIC_BYTES]: "xpub" });
  const kind = /(^xprv|_xsk)$/.test(prefix) ? "private" : "public";
  const length = kind === "private" ? PRIVATE_BYTES : PUBLIC_BYTES;
  if (bytes.length !== length) {
    throw new CliError(
      kind === "private"
        ? "Couldn't convert bytes into extended private key: data should be a 96-byte private key."
        : "Couldn't convert bytes into extended public key: data should be a 32-byte public key with a 32-byte chain-code appended.",
    );
  }
  const node = { key: bytes.slice(0, -32), chainCode: bytes.slice(-32) };
  return { kind, name: prefix.replace(/_?x(sk|vk|prv|pub)$/, ""), node };
}

/** Prefix of an extended key or, with `short`, of the key without its chain code. */
export function prefixOf(name: string, kind: ExtendedKey["kind"], short = false): string {
  if (name === "") return kind === "private" ? "xprv" : short ? "pub" : "xpub";
  return `${name}_${short ? "" : "x"}${kind === "private" ? "sk" : "vk"}`;
}

/** The public side of an extended key. */
export function publicSide({ kind, node }: ExtendedKey): PublicNode {
  return kind === "private" ? onKey(() => toPublic(node)) : node;
}

/** Runs curve arithmetic on a key that was read: bytes of the right length need not be a key. */
export function onKey<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new CliError("Couldn't convert bytes into a key: they have its length, but are none.");
  }
}
