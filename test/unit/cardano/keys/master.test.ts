import { describe, expect, test } from "vitest";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import {
  addressText,
  baseAddress,
  enterpriseAddress,
  pointerAddress,
  readAddressHex,
  rewardAddress,
} from "#src/cardano/address.ts";
import { byronAddress } from "#src/cardano/byron.ts";
import { parsePath, type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { byronMagic } from "#src/cardano/magic.ts";
import { keyHash, publicKey } from "#src/cardano/keys/signingKey.ts";
import { writeKey } from "#src/cardano/keys/keyText.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { childHash, childOf, readXpub, walletId, writeXpub } from "#src/cardano/keys/account.ts";
import { byronPathKey, openByronPath, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { descender, masterKey } from "#src/cardano/keys/master.ts";
import { accountPath, pathText, policyPath } from "#src/cardano/keys/paths.ts";
import { accountKeyText, childKeyText, policyKeyText } from "#src/cardano/keys/text.ts";
import type { WalletStyle } from "#src/cardano/keys/types.ts";
import { walletVectors } from "../../../support/wallets/walletVectors.ts";

const MAINNET = 764824073;
const each = (...categories: string[]) => walletVectors(...categories).map((vector) => [vector.id, vector] as const);

function root(style: WalletStyle, mnemonic: string, secondFactor?: string): SecretNode {
  const words = mnemonic.split(" ");
  const made = masterKey({ style, words, ...(secondFactor ? { secondFactor: secondFactor.split(" ") } : {}) });
  if (!made.ok) throw new Error(made.error.message);
  return made.value;
}

const bytes = ({ key, chainCode }: SecretNode) => toHex(concat(key, chainCode));
const at = (style: WalletStyle, mnemonic: string, path: string) =>
  descender(style, root(style, mnemonic))(parsePath(path)!);
const key = (hash: string) => ({ kind: "key" as const, hash });

describe("root keys", () => {
  test.each(each("master-key-byron"))("%s", (_id, { input, expected }) => {
    expect(bytes(root("random", input.mnemonic))).toBe(expected.xprv);
  });

  test.each(each("master-key-icarus"))("%s", (_id, { input, expected }) => {
    expect(bytes(root("icarus", input.mnemonic))).toBe(expected.xprv);
    expect(bytes(root("shelley", input.mnemonic))).toBe(expected.xprv);
  });

  test.each(each("master-key-ledger").filter(([, { input }]) => input.passphraseUtf8 === ""))(
    "%s",
    (_id, { input, expected }) => expect(bytes(root("ledger", input.mnemonic))).toBe(expected.xprv),
  );

  test.each(each("ledger-icarus-addresses"))("%s", (_id, { input, expected }) => {
    const made = input.paths.map((path: string) => {
      const { key, chainCode } = toPublic(at("ledger", input.mnemonic, path));
      const read = readAddressHex(byronAddress({ key: concat(key, chainCode) }));
      return read.ok && addressText(read.value);
    });
    expect(made).toEqual(expected.addresses);
  });

  test.each(each("xprv-export"))("%s", (_id, { input, expected }) => {
    const { key, chainCode } = root("shelley", input.mnemonic);
    expect(toHex(concat(key, publicKey(key), chainCode))).toBe(expected.raw_xprv_hex);
  });

  test("a Trezor differs from Icarus with 24 words only", () => {
    const few = newMnemonic(15).join(" ");
    expect(bytes(root("trezor", few))).toBe(bytes(root("icarus", few)));
    const many = newMnemonic(24).join(" ");
    expect(bytes(root("trezor", many))).not.toBe(bytes(root("icarus", many)));
  });

  test("a second factor makes another wallet, and is refused where there is none", () => {
    const words = newMnemonic(15).join(" ");
    const second = newMnemonic(9).join(" ");
    expect(bytes(root("shelley", words, second))).not.toBe(bytes(root("shelley", words)));
    expect(masterKey({ style: "random", words: newMnemonic(12), secondFactor: newMnemonic(9) }).ok).toBe(false);
    expect(masterKey({ style: "shelley", words: newMnemonic(15), secondFactor: newMnemonic(15) }).ok).toBe(false);
  });

  test("the number of words depends on the style", () => {
    expect(masterKey({ style: "shelley", words: newMnemonic(12) })).toMatchObject({ error: { code: "bad_mnemonic" } });
    expect(masterKey({ style: "random", words: newMnemonic(12) }).ok).toBe(true);
    expect(masterKey({ style: "random", words: newMnemonic(9) }).ok).toBe(false);
    for (const count of [15, 18, 21, 24] as const) {
      expect(masterKey({ style: "shared", words: newMnemonic(count) }).ok).toBe(true);
    }
  });
});

describe("wallets of the current styles", () => {
  test.each(each("wallet-id-shelley"))("%s", (_id, { input, expected }) => {
    expect(walletId(fromHex(writeXpub(toPublic(root("shelley", input.mnemonic)))))).toBe(expected.id);
  });

  test.each(each("shared-wallet-id").filter(([, { input }]) => input.mnemonic))("%s", (_id, { input, expected }) => {
    const account = toPublic(descender("shared", root("shared", input.mnemonic))(accountPath("shared", 0)));
    const text = new TextEncoder().encode(input.payment_template + (input.delegation_template ?? ""));
    expect(walletId(concat(account.key, account.chainCode, text))).toBe(expected.id);
  });

  test.each(each("policy-key"))("%s", (_id, { input, expected }) => {
    const found = at("shelley", input.mnemonic, input.path);
    expect(writeKey("acct_xsk", { form: "secretNode", node: found })).toBe(expected.xsk);
    expect(keyHash(publicKey(found.key))).toBe(expected.key_hash);
    const xpub = writeXpub(toPublic(found));
    expect(policyKeyText(xpub, "hash")).toBe(
      writeKey("policy_vkh", { form: "hash", hash: fromHex(expected.key_hash) }),
    );
    expect(policyKeyText(xpub, "key")).toMatch(/^policy_vk1/);
  });

  test.each(each("wallet-keys"))("%s", (_id, { input, expected }) => {
    const account = writeXpub(toPublic(at("shelley", input.mnemonic, "1852H/1815H/0H")));
    const text = (role: number, name: "addr" | "stake") =>
      childKeyText(childOf(account, role, 0).key, { name, shared: false, shape: "key" });
    expect(text(0, "addr")).toBe(expected.addr_vk);
    expect(text(2, "stake")).toBe(expected.stake_vk);
  });

  test.each(each("governance-keys"))("%s", (_id, { input, expected }) => {
    const account = writeXpub(toPublic(at("shelley", input.mnemonic, `1852H/1815H/${input.account}`)));
    const drep = childOf(account, 3, 0);
    expect(writeKey("drep_xvk", { form: "publicNode", node: drep })).toBe(expected.drep_xvk);
    expect(childKeyText(drep.key, { name: "drep", shared: false, shape: "key" })).toBe(expected.drep_vk);
    expect(childHash(account, 3, 0)).toBe(expected.drep_hash);
    expect(writeKey("cc_cold_xvk", { form: "publicNode", node: childOf(account, 4, 0) })).toBe(expected.cc_cold_xvk);
    expect(writeKey("cc_hot_xvk", { form: "publicNode", node: childOf(account, 5, 0) })).toBe(expected.cc_hot_xvk);
  });

  test.each(each("shelley-addresses-testnet"))("%s", (_id, { input, expected }) => {
    const accounts = [0, 1].map((n) =>
      writeXpub(toPublic(descender("shelley", root("shelley", input.mnemonic))(accountPath("shelley", n))))
    );
    const network = input.networkTag;
    for (const index of [0, 1, 1442]) {
      const payment = key(childHash(accounts[0]!, 0, index));
      expect(addressText(enterpriseAddress(network, payment))).toBe(expected[`paymentAddr${index}`]);
      accounts.forEach((account, n) =>
        expect(addressText(baseAddress(network, payment, key(childHash(account, 2, 0))))).toBe(
          expected[`delegationAddr${index}Stake${n}`],
        )
      );
      for (const [name, [slot, transaction, certificate]] of Object.entries<number[]>(input.pointers)) {
        const text = expected[`pointerAddr${index}S${name.slice(1)}`];
        const place = { slot: BigInt(slot!), transaction: BigInt(transaction!), certificate: BigInt(certificate!) };
        if (text) expect(addressText(pointerAddress(network, payment, place))).toBe(text);
      }
    }
  });

  test.each(each("wallet-next-address"))("%s", (_id, { input, expected }) => {
    const account = writeXpub(toPublic(at("shelley", input.mnemonic, "1852H/1815H/0H")));
    const made = baseAddress(input.networkTag, key(childHash(account, 0, 20)), key(childHash(account, 2, 0)));
    expect(addressText(made)).toBe(expected.address);
  });

  test.each(each("reward-address"))("%s", (_id, { input, expected }) => {
    const found = at("shelley", input.mnemonic, input.path);
    expect(addressText(rewardAddress(input.networkTag, key(keyHash(publicKey(found.key)))))).toBe(expected.address);
  });

  test("texts of accounts and of shared keys", () => {
    const xpub = writeXpub(
      toPublic(descender("shared", root("shared", newMnemonic(15).join(" ")))(accountPath("shared"))),
    );
    expect(accountKeyText(xpub, { shared: true, format: "extended" })).toMatch(/^acct_shared_xvk1/);
    expect(accountKeyText(xpub, { shared: true, format: "non_extended" })).toMatch(/^acct_shared_vk1/);
    expect(accountKeyText(xpub, { shared: false, format: "extended" })).toMatch(/^acct_xvk1/);
    expect(accountKeyText(xpub, { shared: false, format: "non_extended" })).toMatch(/^acct_vk1/);
    const child = childOf(xpub, 2, 0).key;
    expect(childKeyText(child, { name: "stake", shared: true, shape: "hash" })).toMatch(/^stake_shared_vkh1/);
    expect(readXpub(xpub.slice(2))).toBeUndefined();
    expect(readXpub("x" + xpub.slice(1))).toBeUndefined();
    expect(pathText([...policyPath(), 3])).toEqual(["1855H", "1815H", "0H", "3"]);
  });
});

describe("wallets of Byron", () => {
  test.each(each("icarus-address"))("%s", (_id, { input, expected }) => {
    const node = toPublic(at("icarus", input.mnemonic, input.path));
    const magic = input.protocolMagic === MAINNET ? undefined : input.protocolMagic;
    const read = readAddressHex(byronAddress({ key: concat(node.key, node.chainCode), magic }));
    expect(read.ok && addressText(read.value)).toBe(expected.address);
  });

  test.each(each("sequential-byron-wallet"))("%s", (_id, { input, expected }) => {
    const { mnemonic, style, protocolMagics, paths } = input;
    expect(bytes(root(style, mnemonic))).toBe(expected.xprv);
    const account = writeXpub(toPublic(descender(style, root(style, mnemonic))(accountPath(style))));
    expect(account).toBe(expected.account_public_key);
    const made = protocolMagics.map((magic: number) =>
      paths.map((path: string) => {
        const [role, index] = parsePath(path)!.slice(3);
        const { key, chainCode } = childOf(account, role!, index!);
        const read = readAddressHex(byronAddress({ key: concat(key, chainCode), magic: byronMagic(magic) }));
        return read.ok && addressText(read.value);
      })
    );
    expect(made).toEqual(expected.addresses);
  });

  test.each(each("byron-address-ownership"))("%s", (_id, { input, expected }) => {
    const pathKey = byronPathKey(writeXpub(toPublic(root("random", input.mnemonic))));
    const read = readAddressHex(input.address_cbor_hex);
    if (!read.ok || read.value.kind !== "byron") throw new Error("no Byron address");
    const { derivationPath, magic, root: hash } = read.value.byron;
    expect(openByronPath(pathKey, derivationPath!)).toEqual([expected.accountIndex, expected.addressIndex]);
    const other = byronPathKey(writeXpub(toPublic(root("random", newMnemonic(12).join(" ")))));
    expect(openByronPath(other, derivationPath!)).toBeUndefined();
    // The address is derived from its path: so the derivation is right as well.
    const path = [expected.accountIndex, expected.addressIndex];
    const node = descender("random", root("random", input.mnemonic))(path);
    const made = readAddressHex(randomAddress({ pathKey, path, key: writeXpub(toPublic(node)), magic }));
    expect(made.ok && made.value.kind === "byron" && made.value.byron.root).toBe(hash);
    expect(made.ok && addressText(made.value)).toBe(input.address_base58);
  });

  test.each(each("byron-random-address"))("%s", (_id, { input, expected }) => {
    const master = root("random", input.mnemonic);
    const path = parsePath(input.path)!;
    const made = randomAddress({
      pathKey: byronPathKey(writeXpub(toPublic(master))),
      path,
      key: writeXpub(toPublic(descender("random", master)(path))),
    });
    const read = readAddressHex(made);
    expect(read.ok && addressText(read.value)).toBe(expected.address);
  });

  test("an attribute that is not a path belongs to no wallet", () => {
    const pathKey = new Uint8Array(32);
    for (const text of ["", "00", "40", "581c" + "00".repeat(28), "5903e8" + "00".repeat(1000)]) {
      expect(openByronPath(pathKey, text)).toBeUndefined();
    }
  });
});
