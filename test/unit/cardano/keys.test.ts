import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { blake2b } from "@noble/hashes/blake2.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concat, fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import {
  accountKey,
  derive,
  derivePath,
  derivePublic,
  HARD,
  parsePath,
  rootKey,
  toPublic,
} from "#src/cardano/keys/derivation.ts";
import { keyHash, newSeed, publicKey, sign, verify } from "#src/cardano/keys/signingKey.ts";
import { readKey, writeKey } from "#src/cardano/keys/keyText.ts";
import { mnemonicEntropy, mnemonicWords, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { walletVectors } from "../../support/wallets/walletVectors.ts";
import { cases } from "../../support/base/longTests.ts";

function entropyOf(mnemonic: string): Uint8Array {
  const entropy = mnemonicEntropy(mnemonic.split(" "));
  if (!entropy.ok) throw new Error(entropy.error.message);
  return entropy.value;
}

const node = (mnemonic: string, path: string) => derivePath(rootKey(entropyOf(mnemonic)), parsePath(path)!);
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("ed25519", () => {
  test("RFC 8032, test 1 and test 2", () => {
    const first = fromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    expect(toHex(publicKey(first))).toBe("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    expect(toHex(sign(first, new Uint8Array()))).toBe(
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    );
    const second = fromHex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    expect(toHex(publicKey(second))).toBe("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    expect(toHex(sign(second, Uint8Array.of(0x72)))).toBe(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    );
  });

  test("signatures of both kinds of key are those of another library, and verify", () => {
    fc.assert(
      fc.property(bytes32, fc.uint8Array({ maxLength: 200 }), (seed, message) => {
        const normal = csl.PrivateKey.from_normal_bytes(seed);
        expect(toHex(sign(seed, message))).toBe(normal.sign(message).to_hex());
        expect(keyHash(publicKey(seed))).toBe(normal.to_public().hash().to_hex());
        const root = rootKey(seed.subarray(0, 16));
        const extended = csl.PrivateKey.from_extended_bytes(root.key);
        const signature = sign(root.key, message);
        expect(toHex(signature)).toBe(extended.sign(message).to_hex());
        expect(toHex(publicKey(root.key))).toBe(toHex(extended.to_public().as_bytes()));
        expect(verify(publicKey(root.key), message, signature)).toBe(true);
        expect(verify(publicKey(seed), message, signature)).toBe(false);
        expect(verify(publicKey(root.key), concat(message, Uint8Array.of(0)), signature)).toBe(false);
      }),
      { numRuns: cases(6, 25) },
    );
  });

  test("an invalid signature or key does not verify, and a key of another length throws", () => {
    const seed = newSeed();
    expect(verify(publicKey(seed), utf8("x"), new Uint8Array(63))).toBe(false);
    expect(verify(new Uint8Array(32).fill(255), utf8("x"), sign(seed, utf8("x")))).toBe(false);
    expect(() => publicKey(new Uint8Array(33))).toThrow(TypeError);
    expect(() => sign(new Uint8Array(96), utf8("x"))).toThrow(TypeError);
    expect(() => keyHash(new Uint8Array(31))).toThrow(TypeError);
  });
});

describe("derivation", () => {
  test.each(walletVectors("shelley-keys").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const root = rootKey(entropyOf(input.mnemonic));
      for (const [name, text] of Object.entries<string>(expected)) {
        const [level, form] = name.split("_") as [string, string];
        const found = derivePath(root, parsePath(input.paths[level])!);
        if (form === "xsk") {
          expect(writeKey(text.slice(0, text.lastIndexOf("1")), { form: "secretNode", node: found }))
            .toBe(text);
        }
        if (form === "xvk") {
          expect(writeKey(text.slice(0, text.lastIndexOf("1")), { form: "publicNode", node: toPublic(found) })).toBe(
            text,
          );
        }
      }
    },
  );

  test.each(walletVectors("master-key-icarus").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const root = rootKey(entropyOf(input.mnemonic));
      expect(toHex(concat(root.key, root.chainCode))).toBe(expected.xprv);
    },
  );

  test.each(walletVectors("wallet-keys").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const text = (path: string, prefix: string) =>
        writeKey(prefix, { form: "public", key: publicKey(node(input.mnemonic, path).key) });
      expect(text(input.paths.addr, "addr_vk")).toBe(expected.addr_vk);
      expect(text(input.paths.stake, "stake_vk")).toBe(expected.stake_vk);
    },
  );

  test.each(walletVectors("wallet-id-shelley").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const root = toPublic(rootKey(entropyOf(input.mnemonic)));
      expect(toHex(blake2b(concat(root.key, root.chainCode), { dkLen: 20 }))).toBe(expected.id);
    },
  );

  test("keys and soft children are those of another library", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat(0x7fffffff),
        fc.nat(0x7fffffff),
        (entropy, hard, soft) => {
          const ours = derivePath(rootKey(entropy), [HARD + hard, soft]);
          const theirs = csl.Bip32PrivateKey.from_bip39_entropy(entropy, new Uint8Array()).derive(HARD + hard).derive(
            soft,
          );
          expect(toHex(concat(ours.key, ours.chainCode))).toBe(
            toHex(concat(theirs.to_raw_key().as_bytes(), theirs.chaincode())),
          );
          const account = accountKey(rootKey(entropy), 1);
          const publicly = derivePublic(derivePublic(toPublic(account), 0), soft);
          const secretly = toPublic(derivePath(account, [0, soft]));
          expect(publicly).toEqual(secretly);
        },
      ),
      { numRuns: cases(4, 10) },
    );
  });

  test("indices and paths", () => {
    const root = rootKey(new Uint8Array(16));
    expect(() => derive(root, -1)).toThrow(TypeError);
    expect(() => derive(root, 1.5)).toThrow(TypeError);
    expect(() => derivePublic(toPublic(root), HARD)).toThrow(TypeError);
    expect(parsePath("m")).toEqual([]);
    expect(parsePath("m/1852'/1815H/0H/0/7")).toEqual([HARD + 1852, HARD + 1815, HARD, 0, 7]);
    for (const wrong of ["x", "1//2", "2147483648", "1h", "-1", "1/", "m1"]) expect(parsePath(wrong)).toBeUndefined();
  });
});

describe("mnemonics", () => {
  test("words and entropy, both ways", () => {
    for (const count of [9, 12, 15, 18, 21, 24] as const) {
      const words = newMnemonic(count);
      expect(words).toHaveLength(count);
      expect(mnemonicWords(entropyOf(words.join(" ")))).toEqual(words);
    }
    expect(
      toHex(
        entropyOf("cruise legend nasty impose desk motion pistol rely camp journey drill spirit among basic frequent"),
      ),
    )
      .toBe("34aff24cb8f3bf20a95dab20cf0d0be9007e2617");
  });

  test("errors are reported without the words", () => {
    const words = newMnemonic(12);
    const broken = [...words.slice(0, 11), "abacus"];
    const reason = (list: readonly string[]) => {
      const read = mnemonicEntropy(list);
      return read.ok ? undefined : (read.error.details as { reason: string }).reason;
    };
    expect(reason(words.slice(1))).toBe("word_count");
    expect(reason(broken)).toBe("unknown_word");
    expect(reason(Array(12).fill("abandon"))).toBe("checksum");
    expect(JSON.stringify(mnemonicEntropy(broken))).not.toContain("abacus");
  });
});

describe("texts", () => {
  test("every form is decoded as encoded", () => {
    const secret = rootKey(new Uint8Array(16).fill(3));
    const forms = [
      ["ed25519_sk", { form: "secret", key: newSeed() }],
      ["addr_sk", { form: "secret", key: newSeed() }],
      ["ed25519e_sk", { form: "secret", key: secret.key }],
      ["xprv", { form: "secretNode", node: secret }],
      ["addr_xsk", { form: "secretNode", node: secret }],
      ["acct_xvk", { form: "publicNode", node: toPublic(secret) }],
      ["xpub", { form: "publicNode", node: toPublic(secret) }],
      ["ed25519_pk", { form: "public", key: publicKey(secret.key) }],
      ["stake_vkh", { form: "hash", hash: fromHex(keyHash(publicKey(secret.key))) }],
    ] as const;
    for (const [prefix, key] of forms) {
      const read = readKey(writeKey(prefix, key));
      expect(read).toEqual({ ok: true, value: { prefix, ...key } });
    }
    expect(() => writeKey("addr_sk", { form: "secret", key: secret.key })).toThrow(TypeError);
  });

  test("refusals", () => {
    const good = writeKey("addr_sk", { form: "secret", key: newSeed() });
    const reason = (text: string) => {
      const read = readKey(text);
      if (read.ok) return undefined;
      expect(JSON.stringify(read.error)).not.toContain(text.slice(10, 30));
      return (read.error.details as { reason: string }).reason;
    };
    expect(reason(good.slice(0, -1) + (good.endsWith("q") ? "p" : "q"))).toBe("not_bech32");
    expect(reason(good.slice(0, 9) + good.slice(9).toUpperCase())).toBe("not_bech32");
    expect(reason(csl.Address.from_hex("60" + "ab".repeat(28)).to_bech32("addr"))).toBe("unknown_prefix");
    expect(reason(csl.Ed25519KeyHash.from_hex("ab".repeat(28)).to_bech32("addr_vk"))).toBe("wrong_length");
  });
});
