/** Which of several published scripts builds refer to. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { encodeData } from "#src/cardano/data.ts";
import { findPublished, publicationAddress, referenceScript } from "#src/contract/publication.ts";
import { cageScript } from "#src/contract/script.ts";
import { noAssets } from "#src/cardano/value.ts";
import { assetId, utxo } from "../../support/wallets/person.ts";

const address = publicationAddress(0);
const script = referenceScript(cageScript);
const value = { lovelace: 30_000_000n, assets: noAssets };
const ref = (hash: string) => ({ txHash: hash.repeat(32), index: 0 });

const plain = utxo({ address, value, script }, ref("80"));
const twin = utxo({ address, value, script }, ref("90"));
const withData = utxo({ address, value, script, datum: encodeData(utf8("x".repeat(64))) }, ref("10"));
const withAssets = utxo({ address, value: { ...value, assets: new Map([[assetId(1, 1), 1n]]) }, script }, ref("20"));
const other = utxo({ address, value, script: encode([3, utf8("another")]) }, ref("00"));

test("the plainest output is used, in whatever order they are read", () => {
  fc.assert(fc.property(
    fc.shuffledSubarray([plain, twin, withData, withAssets, other], { minLength: 5 }),
    (outputs) => {
      expect(findPublished(outputs, cageScript.hash)).toBe(plain);
    },
  ));
});

test("none is used if none has the version's script", () => {
  expect(findPublished([other], cageScript.hash)).toBeUndefined();
  expect(findPublished([plain], "ab".repeat(28))).toBeUndefined();
});
