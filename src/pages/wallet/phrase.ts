/**
 * Recovery phrases (BIP-39, English) in the browser. Its list of words makes it a chunk of its own. Nothing here keeps
 * a phrase.
 */
import { elementAt } from "#src/base/present.ts";
import { generateMnemonic, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";

const KNOWN = new Set(wordlist);
const BITS = { 12: 128, 15: 160, 18: 192, 21: 224, 24: 256 } as const;

/** A new phrase of the browser's randomness. */
export const newPhrase = (words: keyof typeof BITS = 24): readonly string[] =>
  generateMnemonic(wordlist, BITS[words]).split(" ");

/** The words of a pasted text: numbers before words, commas and line ends do not matter. */
export function wordsIn(text: string): readonly string[] {
  return text.normalize("NFKD").toLowerCase().split(/[^\p{L}]+/u).filter((word) => word !== "");
}

/** A check of a phrase; `problem` is undefined for a phrase that a wallet can be made of. */
export interface PhraseCheck {
  readonly words: readonly WordCheck[];
  readonly problem: string | undefined;
}

export interface WordCheck {
  readonly word: string;
  readonly known: boolean;
  /** Words of the list that may be meant, three at most. */
  readonly meant: readonly string[];
}

/** Checks the words one by one, their number, and the checksum of all. */
export function checkPhrase(words: readonly string[], counts: readonly number[] = [12, 15, 18, 21, 24]): PhraseCheck {
  const checked = words.map((word) => ({ word, known: KNOWN.has(word), meant: KNOWN.has(word) ? [] : meantBy(word) }));
  return { words: checked, problem: problemOf(checked, counts) };
}

function problemOf(words: readonly WordCheck[], counts: readonly number[]): string | undefined {
  if (words.length === 0) return "Enter the words of your recovery phrase.";
  const unknown = words.flatMap(({ known }, i) => known ? [] : [i + 1]);
  if (unknown.length > 0) {
    return unknown.length === 1
      ? `Word ${unknown[0]} is not in the list of words.`
      : `Words ${unknown.slice(0, -1).join(", ")} and ${unknown.at(-1)} are not in the list of words.`;
  }
  if (!counts.includes(words.length)) {
    return `${words.length} ${words.length === 1 ? "word" : "words"} so far; a phrase has ${
      counts.slice(0, -1).join(", ")
    } or ${counts.at(-1)}.`;
  }
  if (!validateMnemonic(words.map(({ word }) => word).join(" "), wordlist)) {
    return "The checksum is wrong: a word is another one of the list, or two words are swapped.";
  }
  return undefined;
}

/** Words of the list that begin like a word, or differ from it in one letter. */
function meantBy(word: string): readonly string[] {
  const begun = wordlist.filter((one) => one.startsWith(word.slice(0, 4)));
  const near = wordlist.filter((one) => !begun.includes(one) && isNear(one, word));
  return [...(word.length < 3 ? [] : begun), ...near].slice(0, 3);
}

/** Whether one letter was changed, added, left out, or swapped with its neighbour. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  if (a.slice(i + 1) === b.slice(i + 1) || a.slice(i) === b.slice(i + 1) || a.slice(i + 1) === b.slice(i)) return true;
  return a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2);
}

/** Three places of a phrase, in ascending order from 0, to ask the words of. */
export function threePlaces(count: number): readonly number[] {
  const places = new Set<number>();
  while (places.size < 3) places.add(elementAt(crypto.getRandomValues(new Uint32Array(1)), 0) % count);
  return [...places].sort((a, b) => a - b);
}
