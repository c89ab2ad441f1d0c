import fc from "fast-check";
import { expect, test } from "vitest";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { byronAddress, readByron } from "#src/cardano/byron.ts";
import { HARD, rootKey, toPublic } from "#src/cardano/keys/derivation.ts";
import { childHash, childOf, writeXpub } from "#src/cardano/keys/account.ts";
import { deriveCredentials } from "#src/cardano/keys/bulk.ts";
import type { DeriveInput } from "#src/cardano/keys/types.ts";
import { cases } from "../../../support/base/longTests.ts";

async function derived(
  account: string,
  role: number,
  from: number,
  count: number,
  byron?: DeriveInput["byron"],
): Promise<string[]> {
  const input = { account, role, from, count, ...(byron ? { byron } : {}) };
  const { value } = await deriveCredentials(input) as { value: { hashes: Uint8Array } };
  return Array.from({ length: count }, (_, i) => toHex(value.hashes.subarray(28 * i, 28 * (i + 1))));
}

test("bulk derivation gives the same keys as single derivations", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 16, maxLength: 32 }),
      fc.constantFrom(0, 1, 2, 3),
      fc.oneof(fc.nat(50), fc.nat(HARD - 10)),
      fc.nat(8),
      async (entropy, role, from, count) => {
        const account = writeXpub(toPublic(rootKey(entropy)));
        const one = Array.from({ length: count }, (_, i) => childHash(account, role, from + i));
        expect(await derived(account, role, from, count)).toEqual(one);
      },
    ),
    { numRuns: cases(4, 12) },
  );
});

test.each([[{ magic: 42 }], [{}]])(
  "roots of Byron addresses are those of single derivations, with %o",
  async (byron) => {
    const account = writeXpub(toPublic(rootKey(new Uint8Array(20))));
    const one = [3, 4, 5, 6].map((index) => {
      const { key, chainCode } = childOf(account, 1, index);
      return readByron(fromHex(byronAddress({ key: concat(key, chainCode), ...byron }))).root;
    });
    expect(await derived(account, 1, 3, 4, byron)).toEqual(one);
  },
);

test("bulk derivation gives the same in parts, also beyond the size of a shared inversion", async () => {
  const account = writeXpub(toPublic(rootKey(new Uint8Array(16))));
  const whole = await derived(account, 0, 0, 1030);
  expect(new Set(whole).size).toBe(1030);
  expect([...await derived(account, 0, 0, 511), ...await derived(account, 0, 511, 519)]).toEqual(whole);
  expect(whole[1029]).toBe(childHash(account, 0, 1029));
});

test("indices past the soft ones and invalid keys are refused", async () => {
  const account = writeXpub(toPublic(rootKey(new Uint8Array(16))));
  await expect(derived(account, 0, HARD - 1, 2)).rejects.toThrow(TypeError);
  await expect(derived(account, 0, -1, 1)).rejects.toThrow(TypeError);
  await expect(derived(account.slice(2), 0, 0, 1)).rejects.toThrow(TypeError);
  expect(await derived(account, 0, HARD - 1, 1)).toEqual([childHash(account, 0, HARD - 1)]);
});
