/** Mnemonics; safe in a browser. No error message contains a word of one. */
import { z } from "zod";
import { mnemonicEntropy } from "#src/cardano/keys/mnemonic.ts";

const SAID = {
  unknown_word:
    "Found an unknown word not present in the pre-defined dictionary. The dictionary is that of BIP-39 in English.",
  checksum: "Invalid entropy checksum: please double-check the last word of your mnemonic sentence.",
} as const;

/** A mnemonic with one of some numbers of words. */
export const mnemonic = (counts: readonly number[]) =>
  z.array(z.string()).superRefine((words, context) => {
    const say = (message: string) => context.addIssue({ code: "custom", message });
    if (!counts.includes(words.length)) {
      const several = counts.length > 1 ? `${counts.slice(0, -1).join(", ")} or ${counts.at(-1)}` : `${counts[0]}`;
      return say(`Invalid number of words: ${several} words are expected.`);
    }
    const entropy = mnemonicEntropy(words);
    if (entropy.ok) return;
    const { reason } = entropy.error.details as { reason: keyof typeof SAID };
    say(SAID[reason]);
  }).meta({
    description: "BIP-39 mnemonic, English word list.",
    minItems: Math.min(...counts),
    maxItems: Math.max(...counts),
  });

export const walletWords = mnemonic([15, 18, 21, 24]);
export const secondFactor = mnemonic([9, 12]);
export const byronWords = mnemonic([12, 15, 18, 21, 24]);
