/** Files with mnemonics: words separated by white space. No message has a word of them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createFolder } from "#src/base/createFolder.ts";
import { fileFault } from "#src/base/fileFault.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { StartError } from "#src/app/context.ts";
import type { Signers } from "#src/app/signerOptions.ts";

/** Numbers of words that a wallet's mnemonic can have; another wallet may have written it. */
const COUNTS = [12, 15, 18, 21, 24];

/**
 * The mnemonics of the signing services, in their order; writes those that are to be generated.
 *
 * @throws {StartError} where a file cannot be read or written, or holds no mnemonic
 */
export function readSeeds({ instances, generate }: Signers): readonly (readonly string[])[] {
  return instances.map(({ seed: file }) =>
    generate === "always" || (generate === "missing" && !existsSync(file)) ? newSeed(file) : readSeed(file)
  );
}

/** Replaces a file by a new mnemonic that only its owner can read. @throws {StartError} */
function newSeed(file: string): readonly string[] {
  const words = newMnemonic();
  try {
    createFolder(path.dirname(file));
    writeFileSync(file, words.join(" ") + "\n", { mode: 0o600 });
  } catch (error) {
    throw new StartError(`The seed file ${file} cannot be written: ${fileFault(error)}.`);
  }
  return words;
}

/** The mnemonic in a file. @throws {StartError} */
function readSeed(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new StartError(
      `The seed file ${file} cannot be read: ${
        fileFault(error)
      }. With --signer-generate missing (-g of \`arbor signers\`) it gets a new mnemonic.`,
    );
  }
  const words = text.normalize("NFKD").trim().split(/\s+/).filter(Boolean);
  if (!COUNTS.includes(words.length)) {
    throw new StartError(
      `The seed file ${file} must hold a mnemonic of ${COUNTS.join(", ")} words, not ${words.length}.`,
    );
  }
  const entropy = mnemonicEntropy(words);
  if (!entropy.ok) throw new StartError(`The seed file ${file} holds no mnemonic: ${entropy.error.message}`);
  return words;
}
