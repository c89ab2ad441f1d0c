import { pbkdf2Sync } from "node:crypto";
import { chacha20orig } from "@noble/ciphers/chacha.js";
import { beforeAll, describe, expect, test } from "vitest";
import { concat, fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { as, decode, encode } from "#src/cardano/cbor.ts";
import { parsePath, rootKey, type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { descender, masterKey } from "#src/cardano/keys/master.ts";
import type { SealedKey } from "#src/cardano/keys/types.ts";
import { hashPassphrase, isScryptHash, seal, sealedXprv, unseal } from "#src/cardano/keys/seal.ts";
import { openRoot, publicKeys, reseal, signMessages } from "#src/cardano/keys/root.ts";
import { verify } from "#src/cardano/keys/signingKey.ts";
import { walletVectors } from "../../../support/wallets/walletVectors.ts";

const PASSPHRASE = "Secure Passphrase";
const words = newMnemonic(15);
const made = masterKey({ style: "shelley", words });
if (!made.ok) throw new Error(made.error.message);
const root: SecretNode = made.value;

describe("records", () => {
  test("a root key is opened by its passphrase only", async () => {
    const sealed = await seal(root, PASSPHRASE);
    expect(sealed.method).toBe("argon2id-v2");
    expect(toHex(sealed.key)).not.toContain(toHex(root.key));
    expect(await unseal(sealed, PASSPHRASE)).toEqual(root);
    expect(await unseal(sealed, PASSPHRASE + " ")).toBeUndefined();
    expect(await unseal(sealed, "")).toBeUndefined();
    await expect(seal(root, "")).rejects.toThrow(TypeError);
  });

  test("two records of one key have only their public part in common", async () => {
    const [one, two] = await Promise.all([seal(root, PASSPHRASE), seal(root, PASSPHRASE)]);
    const parts = ({ key }: { key: Uint8Array }) =>
      as(decode(key), "array").value.map((item) => as(item, "bytes").value);
    expect(parts(one!).map((part) => part.length)).toEqual([16, 24, 71, 64, 16]);
    expect(parts(one!).map((part, i) => toHex(part) === toHex(parts(two!)[i]!))).toEqual([
      false,
      false,
      true,
      false,
      false,
    ]);
  });

  test("a record with a changed public part does not open", async () => {
    const sealed = await seal(root, PASSPHRASE);
    const changed = sealed.key.slice();
    changed[16 + 24 + 4 + 30]! ^= 1;
    expect(await unseal({ ...sealed, key: changed }, PASSPHRASE)).toBeUndefined();
  });

  test("a record opens at its own cost, and one that is too expensive is refused before the computation", async () => {
    const cheap = await seal(root, PASSPHRASE, { memory: 1024, passes: 1 });
    expect(await unseal(cheap, PASSPHRASE)).toEqual(root);
    const [salt, nonce, , secret, tag] = as(decode(cheap.key), "array").value.map((item) => as(item, "bytes").value);
    const dear = encode([salt!, nonce!, encode([2 ** 30, 1, new Uint8Array(64)]), secret!, tag!]);
    await expect(unseal({ method: "argon2id-v2", key: dear }, PASSPHRASE)).rejects.toThrow("dearer");
  });
});

describe("older methods", () => {
  test.each(walletVectors("passphrase-pbkdf2").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) =>
      expect(toHex(hashPassphrase(input.passphrase, fromHex(input.salt)))).toBe(expected.hash),
  );

  test.each(walletVectors("passphrase-scrypt-legacy").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input }) => {
      expect(isScryptHash(input.stored_ascii, input.passphrase)).toBe(true);
      expect(isScryptHash(input.stored_ascii, input.passphrase + "x")).toBe(false);
      expect(isScryptHash("", input.passphrase)).toBe(false);
      expect(isScryptHash("14|8|1||", input.passphrase)).toBe(false);
    },
  );

  test.each(walletVectors("passphrase-scrypt-legacy").map((vector) => [vector.id, vector] as const))(
    "an XPrv of a wallet with %s, masked by another library (cardano-crypto.js 6.1.2), opens",
    async (_id, { input }) => {
      const old = rootKey(new Uint8Array(16));
      const masked = fromHex(
        "a159e8e9762b298def09ecbcdc1ac4cd6de19748cbae17a6f5470e050d45332b" +
          "5ba2fcd7d993d529130713138580e266a9e3eee10f2d4092c79545007991381f",
      );
      const sealed = {
        method: "scrypt" as const,
        key: concat(masked, toPublic(old).key, old.chainCode),
        verifier: utf8(input.stored_ascii),
      };
      expect(input.passphrase).toBe("cardano-wallet");
      expect(await unseal(sealed, input.passphrase)).toEqual(old);
      expect(await unseal(sealed, input.passphrase + "x")).toBeUndefined();
    },
  );

  /** 20,000 rounds of PBKDF2 for the hash and 15,000 for the encryption. */
  function sealXprv(): SealedKey {
    const stream = pbkdf2Sync(PASSPHRASE, "encrypted wallet salt\0", 15_000, 40, "sha512");
    const secret = chacha20orig(
      Uint8Array.from(stream.subarray(0, 32)),
      Uint8Array.from(stream.subarray(32)),
      root.key,
    );
    return {
      method: "pbkdf2-hmac-sha512",
      key: concat(secret, toPublic(root).key, root.chainCode),
      verifier: hashPassphrase(PASSPHRASE, new Uint8Array(16).fill(7)),
    };
  }

  test("an XPrv masked by PBKDF2 opens with its passphrase only", async () => {
    const sealed = sealXprv();
    expect(await unseal(sealed, PASSPHRASE)).toEqual(root);
    expect(await unseal(sealed, "another passphrase")).toBeUndefined();
    // the passphrase fits its hash and not the key
    expect(await unseal({ ...sealed, key: sealed.key.map((byte, i) => i === 3 ? byte ^ 1 : byte) }, PASSPHRASE))
      .toBeUndefined();
  });
});

describe("the root key of an old wallet with its hash", () => {
  test.each(walletVectors("byron-xprv").map((vector) => [vector.id, vector] as const))(
    "%s opens with its passphrase, which is empty",
    async (_id, { input, expected }) => {
      const sealed = sealedXprv(fromHex(input.encrypted_root_private_key), fromHex(input.passphrase_hash));
      expect(sealed.method).toBe("scrypt");
      const opened = await unseal(sealed, expected.passphrase);
      expect(opened && toHex(concat(toPublic(opened).key, opened.chainCode))).toBe(expected.root_public_key);
      expect(await unseal(sealed, "another passphrase")).toBeUndefined();
      expect((await reseal({ style: "random", sealed, passphrase: expected.passphrase, next: PASSPHRASE })).ok).toBe(
        true,
      );
    },
  );

  test("states its method by its form", () => {
    const key = new Uint8Array(128);
    const pbkdf2 = hashPassphrase(PASSPHRASE, new Uint8Array(16));
    expect(sealedXprv(key, pbkdf2).method).toBe("pbkdf2-hmac-sha512");
    expect(sealedXprv(key, utf8("14|8|1|c2FsdA==|aGFzaA==")).method).toBe("scrypt");
    expect(sealedXprv(key, pbkdf2.subarray(1)).method).toBe("scrypt");
  });
});

describe("jobs", () => {
  const mnemonic = { style: "shelley" as const, words };
  const account = parsePath("1852H/1815H/0H")!;
  const payment = parsePath("1852H/1815H/0H/0/3")!;
  let sealed: Awaited<ReturnType<typeof seal>>;
  beforeAll(async () => {
    const opened = await openRoot({ mnemonic, passphrase: PASSPHRASE, paths: [account] });
    if (!opened.ok) throw new Error(opened.error.message);
    const { key, chainCode } = toPublic(descender("shelley", root)(account));
    expect(opened.value.keys).toEqual([toHex(concat(key, chainCode))]);
    expect(opened.value.root).toBe(toHex(concat(toPublic(root).key, root.chainCode)));
    sealed = opened.value.sealed;
  });

  test("signatures are those of the keys at the paths", async () => {
    const wanted = [
      { message: utf8("any bytes"), paths: [payment, account] },
      { message: utf8("others"), paths: [payment] },
      { message: utf8("unsigned"), paths: [] },
    ];
    const input = { style: "shelley" as const, sealed, passphrase: PASSPHRASE };
    const signed = await signMessages({ ...input, wanted });
    const keys = await publicKeys({ ...input, paths: [payment, account] });
    if (!signed.ok || !keys.ok) throw new Error("not opened");
    expect(signed.value.map(({ length }) => length)).toEqual([2, 1, 0]);
    wanted.forEach(({ message }, i) =>
      signed.value[i]!.forEach(({ key, chainCode, signature }, at) => {
        expect(toHex(concat(key, chainCode))).toBe(keys.value[at]);
        expect(verify(key, message, signature)).toBe(true);
      })
    );
  });

  test("another passphrase opens nothing, also after the old one was changed", async () => {
    const wrong = { style: "shelley" as const, sealed, passphrase: "another passphrase" };
    const refused = { ok: false, error: { code: "wrong_encryption_passphrase" } };
    expect(await signMessages({ ...wrong, wanted: [{ message: utf8(""), paths: [payment] }] })).toMatchObject(refused);
    expect(await publicKeys({ ...wrong, paths: [payment] })).toMatchObject(refused);
    expect(await reseal({ ...wrong, next: PASSPHRASE })).toMatchObject(refused);
    const moved = await reseal({ ...wrong, passphrase: PASSPHRASE, next: "another passphrase" });
    if (!moved.ok) throw new Error(moved.error.message);
    const after = { ...wrong, sealed: moved.value };
    expect((await publicKeys({ ...after, paths: [] })).ok).toBe(true);
    expect(await publicKeys({ ...after, passphrase: PASSPHRASE, paths: [] })).toMatchObject(refused);
  });

  test("wrong words are named by position", async () => {
    const opened = await openRoot({
      mnemonic: { style: "shelley", words: [...words.slice(0, 14), "sesquipedalian"] },
      passphrase: PASSPHRASE,
      paths: [],
    });
    expect(opened).toMatchObject({ ok: false, error: { code: "bad_mnemonic", details: { reason: "unknown_word" } } });
    expect(JSON.stringify(opened)).not.toContain("sesquipedalian");
  });
});
