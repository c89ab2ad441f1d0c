/** The keys that signed a transaction, whichever form its set of signatures has. */
import { expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { keyHash, newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { signingKeys } from "#src/cardano/signingKeys.ts";
import { signUnchecked } from "#src/client/tokens.ts";

const unsigned = "84a3008001800200a0f5f6";
const keys = [newSeed(), newSeed()];
const hashes = keys.map((key) => keyHash(publicKey(key)));
const of = (hex: string) => [...signingKeys(scanTransaction(fromHex(hex)))].sort();

test("none signed", () => expect(of(unsigned)).toEqual([]));

test("each is named once, in a list and in a tagged set", () => {
  expect(of(signUnchecked(unsigned, ...keys))).toEqual([...hashes].sort());
  const witness = `825820${toHex(publicKey(keys[0]!))}5840${"00".repeat(64)}`;
  for (const set of [`81${witness}`, `82${witness}${witness}`, `d9010281${witness}`]) {
    expect(of(unsigned.replace("a0f5f6", `a100${set}f5f6`))).toEqual([hashes[0]]);
  }
});
