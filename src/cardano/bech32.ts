/** Bech32 (BIP-173) without its limit of 90 characters, as Cardano uses it (CIP-5, CIP-19). */
import { bech32 } from "@scure/base";

/** Longest text that is read or written: keys and addresses stay far below it, and checking time grows with the length. */
const MAX_LENGTH = 1023;

/** Bytes under a human-readable prefix. */
interface Prefixed {
  readonly prefix: string;
  readonly bytes: Uint8Array;
}

/** Bech32 text of some bytes. */
export function toBech32(prefix: string, bytes: Uint8Array): string {
  return bech32.encode(prefix, bech32.toWords(bytes), MAX_LENGTH);
}

/** Prefix (in lower case) and bytes of a bech32 text, or `undefined` when the checksum, the alphabet or the padding is wrong. */
export function fromBech32(text: string): Prefixed | undefined {
  if (text.length > MAX_LENGTH || !hasSeparator(text)) return undefined;
  try {
    const { prefix, words } = bech32.decode(text, MAX_LENGTH);
    return { prefix, bytes: bech32.fromWords(words) };
  } catch {
    return undefined;
  }
}

function hasSeparator(text: string): text is `${string}1${string}` {
  return text.includes("1");
}
