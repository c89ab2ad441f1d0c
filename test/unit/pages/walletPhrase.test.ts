/** Recovery phrases on the wallet page: new ones, and the check of pasted ones word by word. */
import { describe, expect, it } from "vitest";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { checkPhrase, newPhrase, threePlaces, wordsIn } from "#src/pages/wallet/phrase.ts";

describe("a recovery phrase", () => {
  it("is new each time, and one that wallets accept", () => {
    const [one, other] = [newPhrase(), newPhrase()];
    expect(one.length).toBe(24);
    expect(mnemonicEntropy(one).ok).toBe(true);
    expect(one.join(" ")).not.toBe(other.join(" "));
    expect(checkPhrase(one).problem).toBeUndefined();
  });

  it("is accepted with 12 to 24 words, as the service accepts it", () => {
    for (const count of [12, 15, 18, 21, 24] as const) {
      expect(checkPhrase(newMnemonic(count)).problem).toBeUndefined();
    }
    expect(checkPhrase(newMnemonic(12), [15, 18, 21, 24]).problem).toBe(
      "12 words so far; a phrase has 15, 18, 21 or 24.",
    );
    expect(checkPhrase(newMnemonic(9)).problem).toContain("9 words so far");
    expect(checkPhrase([]).problem).toContain("Enter the words");
  });

  it("is found in a pasted text with numbers, commas and line ends", () => {
    expect(wordsIn("1. Tank\n2. still, 3) night\t4 soap ")).toEqual(["tank", "still", "night", "soap"]);
    expect(wordsIn("")).toEqual([]);
  });

  it("names the wrong words, with words that may be meant", () => {
    const words = [...newMnemonic(15)];
    words[3] = "abandom";
    words[8] = "zzzzz";
    const { words: checked, problem } = checkPhrase(words);
    expect(problem).toBe("Words 4 and 9 are not in the list of words.");
    expect(checked[3]).toEqual({ word: "abandom", known: false, meant: ["abandon"] });
    expect(checked[8]).toEqual({ word: "zzzzz", known: false, meant: [] });
    expect(checked.filter(({ known }) => known).length).toBe(13);
  });

  it("is refused where two words are swapped", () => {
    const words = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about".split(
      " ",
    );
    expect(checkPhrase(words).problem).toBeUndefined();
    expect(checkPhrase(["about", ...words.slice(0, 11)]).problem).toContain("checksum");
  });

  it("is verified at three different places", () => {
    for (let i = 0; i < 50; i++) {
      const places = threePlaces(24);
      expect(new Set(places).size).toBe(3);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(places.every((place) => place >= 0 && place < 24)).toBe(true);
    }
  });
});
