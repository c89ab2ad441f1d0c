/** Argon2id: both implementations give the result of a third one. */
import { argon2id } from "hash-wasm";
import { describe, expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { type DeriveKey, fastest, native, portable } from "#src/cardano/keys/argon2.ts";

const SALT = Uint8Array.from({ length: 16 }, (_, i) => 7 * i);
const CASES = [
  ["the parameters of sealed keys", "Secure Passphrase", { memory: 19_456, passes: 2 }],
  ["letters past ASCII", "pässwörd — 𝔞𝔡𝔞", { memory: 64, passes: 3 }],
  ["one pass", "x".repeat(255), { memory: 1_024, passes: 1 }],
] as const;

describe.each(CASES)("%s", (_name, passphrase, cost) => {
  const wanted = argon2id({
    password: utf8(passphrase),
    salt: SALT,
    memorySize: cost.memory,
    iterations: cost.passes,
    parallelism: 1,
    hashLength: 32,
  });
  const check = async (stretch: DeriveKey) => expect(toHex(stretch(passphrase, SALT, cost))).toBe(await wanted);

  test("in WebAssembly", async () => await check(await portable()));
  test("by the fastest implementation of this platform", async () => await check(await fastest()));
  test("by machine code", async ({ skip }) => {
    const stretch = await native().catch(() => skip("there is no addon for this platform"));
    await check(stretch);
  });
});

test("the reference implementation's own answer", async ({ skip }) => {
  // libsodium takes no salt of 8 bytes
  const stretch = await native().catch(() => skip("there is no addon for this platform"));
  expect(toHex(stretch("password", utf8("somesalt"), { memory: 256, passes: 2 })))
    .toBe("9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe");
});
