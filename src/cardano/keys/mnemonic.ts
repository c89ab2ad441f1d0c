/** Mnemonic sentences (BIP-39, English), of 9 to 24 words as Cardano wallets use them: nine words serve as a second factor. */
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { elementAt } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

const INDEX = new Map(wordlist.map((word, index) => [word, index]));
const COUNTS = [9, 12, 15, 18, 21, 24];

function checksum(entropy: Uint8Array): string {
  return bits(sha256(entropy)).slice(0, entropy.length / 4);
}

function bits(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
}

/** The numbers that bits are, `width` bits each. */
function numbers(bits: string, width: number): number[] {
  return Array.from(
    { length: bits.length / width },
    (_, i) => parseInt(bits.slice(i * width, (i + 1) * width), 2),
  );
}

/**
 * Entropy of a mnemonic (12 to 32 bytes). The failure's `details.reason` is `word_count`, `unknown_word` or `checksum`; it says which word
 * by its place, never by its text.
 */
export function mnemonicEntropy(words: readonly string[]): Result<Uint8Array, Failure<"bad_mnemonic">> {
  if (!COUNTS.includes(words.length)) {
    return fail("bad_mnemonic", `A mnemonic has ${COUNTS.join(", ")} words, not ${words.length}.`, {
      reason: "word_count",
    });
  }
  let all = "";
  for (const [place, word] of words.entries()) {
    const index = INDEX.get(word.normalize("NFKD"));
    if (index === undefined) {
      return fail("bad_mnemonic", `Word ${place + 1} is not in the English word list.`, {
        reason: "unknown_word",
        place,
      });
    }
    all += index.toString(2).padStart(11, "0");
  }
  const size = Math.floor((all.length * 32) / 33);
  const entropy = Uint8Array.from(numbers(all.slice(0, size), 8));
  if (checksum(entropy) !== all.slice(size)) {
    return fail("bad_mnemonic", "The checksum of the mnemonic is wrong: a word is not what it was.", {
      reason: "checksum",
    });
  }
  return ok(entropy);
}

/**
 * The words for 12, 16, 20, 24, 28 or 32 bytes of entropy.
 *
 * @throws {TypeError} on another length
 */
export function mnemonicWords(entropy: Uint8Array): string[] {
  if (!COUNTS.includes((entropy.length * 3) / 4)) throw new TypeError(`entropy of ${entropy.length} bytes`);
  return numbers(bits(entropy) + checksum(entropy), 11).map((word) => elementAt(wordlist, word));
}

/** A new random mnemonic. */
export function newMnemonic(count: 9 | 12 | 15 | 18 | 21 | 24 = 24): string[] {
  return mnemonicWords(crypto.getRandomValues(new Uint8Array((count * 4) / 3)));
}
