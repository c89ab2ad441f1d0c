/** Golden values of other wallets, each one through the commands of `cardano-wallet` that need no server. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readNative } from "#src/cardano/nativeScript.ts";
import { run } from "#src/cli/cardanoWallet/program.ts";
import { fromNative, scriptText } from "#src/wallets/shared/script.ts";
import { runProgram } from "../../../support/cli/programs.ts";
import { walletVectors } from "../../../support/wallets/walletVectors.ts";

const folder = mkdtempSync(path.join(tmpdir(), "cardano-wallet-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cli = (input: string, ...args: string[]) => runProgram(run, args, input);

/** Output of commands that succeed, each reading that of the one before. */
async function piped(input: string, ...commands: readonly (readonly string[])[]): Promise<string> {
  let text = input;
  for (const args of commands) {
    const { code, out, err } = await cli(text, ...args);
    if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`);
    text = out;
  }
  return text;
}

const fromPhrase = (style: string) => ["key", "from-recovery-phrase", style];
const child = (at: string) => ["key", "child", at];
const PUBLIC = ["key", "public"];
const SHORT = ["key", "public", "--without-chain-code"];
const xprv = (text: string) => toHex(fromBech32(text)!.bytes);

describe("key", () => {
  it.each(walletVectors("shelley-keys"))("derives the keys of $id", async ({ input, expected }) => {
    const root = await piped(input.mnemonic, fromPhrase("Shelley"));
    expect(root).toBe(expected.root_xsk);
    for (const [name, at] of Object.entries<string>(input.paths)) {
      if (name === "root") continue;
      expect(await piped(root, child(at))).toBe(expected[`${name}_xsk`]);
      const account = at.split("/").slice(0, 3).join("/");
      const rest = at.split("/").slice(3).join("/");
      if (rest === "") continue;
      expect(await piped(root, child(account), child(rest))).toBe(expected[`${name}_xsk`]);
      expect(await piped(root, child(account), PUBLIC, child(rest))).toBe(await piped(root, child(at), PUBLIC));
    }
  });

  it.each(walletVectors("master-key-byron"))("derives the root key of $id", async ({ input, expected }) => {
    expect(xprv(await piped(input.mnemonic, fromPhrase("byron")))).toBe(expected.xprv);
    expect(await piped(input.mnemonic, [...fromPhrase("Byron"), "--base16"])).toBe(expected.xprv);
  });

  it.each(walletVectors("master-key-icarus"))("derives the root key of $id", async ({ input, expected }) => {
    for (const style of ["Icarus", "Shelley", "Jormungandr", "Shared"]) {
      expect(xprv(await piped(input.mnemonic, fromPhrase(style)))).toBe(expected.xprv);
    }
  });

  it("derives with a second factor from a file, from lines and in every form", async () => {
    const phrase = "message mask aunt wheel ten maze between tomato slow analyst ladder such report capital produce";
    const words = "test child burst immense armed parrot company walk dog";
    const golden =
      "root_xsk1xpk2wzz7xsyhfxxvwraxnq2sps45ygfayrmn8kxjep4gl9jxgfg3tffp7z7w7ltd0gw32wqhyk5c296u7m28l688n8n6v24hrp3" +
      "26kgzz6cgvkvvj2k0t34jkv6ze0d8vxxnavar4tzgl96th9qhfayllsl4qsqq";
    const file = path.join(folder, "second.txt");
    writeFileSync(file, `${words}\n`);
    const passphrase = (form: string) => [...fromPhrase("Shelley"), "--passphrase", form];
    expect(await piped(phrase, [...passphrase("from-mnemonic"), "--from-file", file])).toBe(golden);
    expect(await piped(`${phrase}\n${words}\n`, passphrase("from-mnemonic"))).toBe(golden);
    const entropy = fromHex("df84fc7b38c0bd40cba7b440");
    const forms = {
      "from-hex": toHex(entropy),
      "from-base64": Buffer.from(entropy).toString("base64"),
      "from-octets": JSON.stringify([...entropy]),
    };
    for (const [form, text] of Object.entries(forms)) {
      expect(await piped(`${phrase}\n${text}\n`, [...passphrase(form), "--silent"])).toBe(golden);
    }
    const utf8 = await piped(`${phrase}\nßecret\n`, passphrase("from-utf8"));
    expect(utf8).toBe(await piped(`${phrase}\n${toHex(new TextEncoder().encode("ßecret"))}\n`, passphrase("from-hex")));
    expect(utf8).not.toBe(golden);
  });

  it("derives the golden keys of every style from a phrase", async () => {
    const phrase = "message mask aunt wheel ten maze between tomato slow analyst ladder such report capital produce";
    expect(await piped(phrase, fromPhrase("byron"))).toBe(
      "root_xsk1vzdkjk8txce80dwm5upjddrawv9l8mq2jyv6qqx2ylzu0yua8age295s38lj9gune65g07w95ttlt5qq3qh67nx4euvj2cut7z6pente84au2qmjq" +
        "qy8w9x58z6f722j5twq860nhhmlq347wf0yp6wdkvq80h42",
    );
    expect(await piped(phrase, fromPhrase("shared"))).toBe(
      "root_shared_xsk1qz497hekfxq0ftrzjh7sl0m9vseep44mrnmk2dkzawczwy7ghfgd3ypmaem5k7lcv782p4haa4kcwmdnks4776rkgrx9zn4h8am82dagca2" +
        "03x7fejp4x04ty47he9rztj2lp46fwyzz3ad2yszwadjfnvuedzh4",
    );
  });

  it.each(walletVectors("wallet-keys"))("gives the public keys of $id", async ({ input, expected }) => {
    const root = await piped(input.mnemonic, fromPhrase("Shelley"));
    for (const [name, at] of Object.entries<string>(input.paths)) {
      expect(await piped(root, child(at), SHORT)).toBe(expected[`${name}_vk`]);
    }
  });

  it.each(walletVectors("governance-keys"))("gives keys, hashes and scripts of $id", async ({ input, expected }) => {
    const root = await piped(input.mnemonic, fromPhrase("Shelley"));
    for (const [name, at] of Object.entries<string>(input.paths)) {
      const xvk = await piped(root, child(at), PUBLIC);
      expect(xvk).toBe(expected[`${name}_xvk`]);
      expect(await piped(xvk, ["key", "hash"])).toBe(expected[`${name}_cip129`]);
    }
    expect(await piped(root, child(input.paths.drep), SHORT)).toBe(expected.drep_vk);
    expect(await piped(expected.drep_vk, ["key", "hash", "--cip-0105"])).toBe(
      toBech32("drep_vkh", fromHex(expected.drep_hash)),
    );
    for (
      const [script, hash] of [[input.script1, expected.drep_script1_hash], [input.script2, expected.drep_script2_hash]]
    ) {
      const text = script.replaceAll("drep", expected.drep_vk);
      const old = await piped("", ["script", "hash", "--cip-0105", text]);
      expect(old).toBe(toBech32("drep_script", fromHex(hash)));
      expect(await piped("", ["script", "hash", text])).toBe(toBech32("drep", fromHex(`23${hash}`)));
    }
  });

  it.each(walletVectors("policy-key"))("derives the policy key of $id", async ({ input, expected }) => {
    const key = await piped(input.mnemonic, fromPhrase("Shelley"), child(input.path));
    expect(key).toBe(expected.xsk);
    const policy = toBech32("policy_xsk", fromBech32(key)!.bytes);
    expect(await piped(policy, SHORT, ["key", "hash", "--base16"])).toBe(expected.key_hash);
  });

  it("shows a key and its parts", async () => {
    const { input } = walletVectors("shelley-keys")[0]!;
    const root = await piped(input.mnemonic, fromPhrase("Shelley"));
    const whole = xprv(root);
    expect(await piped(root, ["key", "inspect"])).toBe(
      `{\n    "chain_code": "${whole.slice(128)}",\n    "extended_key": "${
        whole.slice(0, 128)
      }",\n    "key_type": "private"\n}\n`,
    );
    const shown = JSON.parse(await piped(root, PUBLIC, ["key", "inspect"]));
    expect(shown).toMatchObject({ key_type: "public", chain_code: whole.slice(128) });
    expect(shown.extended_key).toHaveLength(64);
    expect(await piped(root, ["key", "private", "--chain-code"])).toBe(whole.slice(128));
    expect(await piped(root, ["key", "private", "--signing-key"])).toBe(
      toBech32("root_sk", fromHex(whole.slice(0, 128))),
    );
  });

  it("reads keys in every encoding, and derives as older versions did", async () => {
    const { input } = walletVectors("byron-random-address")[0]!;
    const hex = await piped(input.mnemonic, [...fromPhrase("Byron"), "--base16"]);
    const base58 = await piped(input.mnemonic, [...fromPhrase("Byron"), "--base58"]);
    const key = await piped(input.mnemonic, fromPhrase("Byron"), child("0H/0H"));
    for (const root of [hex, base58]) {
      const found = await piped(root, ["key", "child", "--legacy", "--base16", "0H/0H"]);
      expect(found).toBe(xprv(key));
      expect(await piped(root, ["key", "child", "--base16", "0H/0H"])).not.toBe(xprv(key));
    }
    expect(await piped(hex, ["key", "child", "1852H/1815H/0H"])).toMatch(/^xprv1/);
    expect(await piped(hex, ["key", "public", "--base58"], ["key", "inspect"])).toContain('"public"');
  });

  it.each(walletVectors("wallet-id-shelley"))("gives the wallet id of $id", async ({ input, expected }) => {
    const root = await piped(input.mnemonic, fromPhrase("Shelley"));
    expect(await piped(root, ["key", "walletid"])).toBe(expected.id);
    expect(await piped(root, PUBLIC, ["key", "walletid"])).toBe(expected.id);
    const account = await piped(root, child("1852H/1815H/0H"), ["key", "walletid"]);
    expect(account).toMatch(/^[0-9a-f]{40}$/);
    expect(account).not.toBe(expected.id);
  });

  it.each(walletVectors("shared-wallet-id"))("gives the wallet id of $id", async ({ input, expected }) => {
    const account = input.self ?? await piped(
      input.mnemonic,
      fromPhrase("Shared"),
      child(`1854H/1815H/${input.account_index}`),
    );
    const staking = input.delegation_template ? ["--staking", input.delegation_template] : [];
    expect(await piped(account, ["key", "walletid", "--spending", input.payment_template, ...staking])).toBe(
      expected.id,
    );
  });
});

describe("address", () => {
  const tagged = (tag: number | string) => ["--network-tag", String(tag)];
  const payment = (tag: number | string) => ["address", "payment", ...tagged(tag)];

  it.each(walletVectors("shelley-addresses-testnet"))("makes the addresses of $id", async ({ input, expected }) => {
    const root = await piped(input.mnemonic, fromPhrase("Shelley"));
    for (const [name, address] of Object.entries<string>(expected)) {
      const [, kind, index, stake] = /^(payment|delegation|pointer)Addr(\d+)(?:Stake(\d+)|Slot(\d+))?$/.exec(name) ??
        [];
      if (kind === undefined) continue;
      const enterprise = await piped(root, child(`1852H/1815H/0H/0/${index}`), PUBLIC, payment("testnet"));
      if (kind === "payment") expect(enterprise).toBe(address);
      else if (kind === "pointer") {
        const at = input.pointers[name.replace(/.*Slot/, "slot")];
        expect(await piped(enterprise, ["address", "pointer", ...at.map(String)])).toBe(address);
      } else {
        const key = await piped(root, child(`1852H/1815H/${stake}H/2/0`), PUBLIC);
        expect(await piped(enterprise, ["address", "delegation", key])).toBe(address);
      }
    }
  });

  it.each(walletVectors("enterprise-address", "reward-address"))(
    "makes the address of $id",
    async ({ category, input, expected }) => {
      const command = category === "enterprise-address" ? "payment" : "stake";
      const key = await piped(input.mnemonic, fromPhrase("Shelley"), child(input.path), SHORT);
      expect(await piped(key, ["address", command, ...tagged(input.networkTag)])).toBe(expected.address);
    },
  );

  it.each(walletVectors("delegation-address"))("makes the address of $id", async ({ input, expected }) => {
    const key = await piped(input.mnemonic, fromPhrase("Shelley"), child(input.stakePath), PUBLIC);
    expect(await piped(input.payment_address, ["address", "delegation", key])).toBe(expected.address);
  });

  it.each(walletVectors("pointer-address"))("makes the address of $id", async ({ input, expected }) => {
    expect(await piped(input.payment_address, ["address", "pointer", ...input.pointer.map(String)])).toBe(
      expected.address,
    );
  });

  it.each(walletVectors("cip19-address"))("makes the address of $id", async ({ input, expected }) => {
    const { payment_vk, stake_vk, script, pointer, type, networkTag } = input;
    const stakes = (key: boolean) => key ? stake_vk : script;
    if (type >= 14) {
      expect(await piped(stakes(type === 14), ["address", "stake", ...tagged(networkTag)])).toBe(expected.address);
      return;
    }
    const enterprise = await piped(type % 2 === 0 ? payment_vk : script, payment(networkTag));
    const made = type >= 6
      ? enterprise
      : type >= 4
      ? await piped(enterprise, ["address", "pointer", ...pointer.map(String)])
      : await piped(enterprise, ["address", "delegation", stakes(type < 2)]);
    expect(made).toBe(expected.address);
  });

  it.each(walletVectors("icarus-address"))("makes the address of $id", async ({ input, expected }) => {
    const key = await piped(input.mnemonic, fromPhrase("Icarus"), child(input.path), PUBLIC);
    expect(await piped(key, ["address", "bootstrap", ...tagged(input.protocolMagic)])).toBe(expected.address);
  });

  it.each(walletVectors("byron-random-address"))("makes the address of $id", async ({ input, expected }) => {
    const root = await piped(input.mnemonic, fromPhrase("Byron"));
    const xpub = await piped(root, PUBLIC);
    const key = await piped(root, child(input.path), PUBLIC);
    const made = await piped(key, ["address", "bootstrap", "--root", xpub, ...tagged("mainnet"), input.path]);
    expect(made).toBe(expected.address);
  });

  it.each(walletVectors("inspect-address"))("inspects the address of $id", async ({ input, expected }) => {
    const text = input.request.split("/").at(-1);
    expect(JSON.parse(await piped(text, ["address", "inspect"]))).toEqual(expected);
    const address = parseAddress(text);
    if (address.ok) expect(JSON.parse(await piped(address.value.hex, ["address", "inspect"]))).toEqual(expected);
  });

  it.each(walletVectors("byron-address-ownership"))("decrypts the path of $id", async ({ input, expected }) => {
    const hard = 2 ** 31;
    const text = (index: number) => index >= hard ? `${index - hard}H` : `${index}`;
    const root = await piped(input.mnemonic, fromPhrase("Byron"), PUBLIC);
    const shown = JSON.parse(await piped(input.address_base58, ["address", "inspect", "--root", root]));
    expect(shown.derivation_path).toEqual({
      account_index: text(expected.accountIndex),
      address_index: text(expected.addressIndex),
    });
    const other = await piped(
      "legend dismiss verify kit faint hurdle orange wine panther question knife lion",
      fromPhrase("Byron"),
      PUBLIC,
    );
    const refused = await cli(input.address_base58, "address", "inspect", "--root", other);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain("Failed to decrypt derivation path");
  });
});

describe("script", () => {
  it.each(walletVectors("script-hash"))("hashes the script of $id", async ({ input, expected }) => {
    const text = input.script;
    if (!input.governance) return expect(await piped("", ["script", "hash", text])).toBe(expected.hash);
    expect(await piped("", ["script", "hash", text])).toBe(expected.cip129);
    expect(await piped("", ["script", "hash", "--cip-0105", text])).toBe(expected.hash);
  });

  it.each(walletVectors("native-script-cbor"))("encodes the script of $id", async ({ input, expected }) => {
    const preimage: string = input.preimage_cbor_hex;
    const script = fromNative(readNative(decode(fromHex(preimage.slice(2)))), (hash) => hash);
    const text = scriptText(script);
    expect(await piped("", ["script", "preimage", text])).toBe(preimage);
    expect(await piped("", ["script", "hash", "--base16", text.replaceAll(",", " ,\n ")])).toBe(expected.hash);
  });

  it.each(walletVectors("shared-address"))("makes the address of $id", async ({ input, expected }) => {
    const scripts: string[] = [];
    for (
      const [template, role, index] of [
        [input.payment_template, input.role, input.index],
        [input.delegation_template, input.stakeRole, input.stakeIndex],
      ]
    ) {
      let text = template;
      for (const [name, xpub] of Object.entries<string>(input.xpubs)) {
        text = text.replaceAll(name, await piped(xpub, child(`${role}/${index}`)));
      }
      scripts.push(await piped("", ["script", "hash", text]));
    }
    const [payment = "", stake = ""] = scripts;
    expect(toHex(fromBech32(payment)!.bytes)).toBe(expected.script_hash);
    const enterprise = await piped(payment, ["address", "payment", "--network-tag", String(input.networkTag)]);
    expect(await piped(enterprise, ["address", "delegation", stake])).toBe(expected.address);
  });

  const keys = ["f3fe", "f333", "f344"].map((end) => `3c07030e36bfffe67e2e2ec09e5293d384637cd2f004356ef320${end}`);
  const [A, B, C] = keys;
  it.each([
    [`at_least 2 [${A}, ${B}, ${C}]`, undefined, undefined],
    [`at_least 2 [${A}, ${B}, active_from 10, active_until 25]`, undefined, undefined],
    ["all []", undefined, "empty or only contains timelocks"],
    [`at_least 2 [${A}, active_from 11, active_until 25]`, undefined, "larger than the number of non-timelock"],
    [`at_least 1 [${A}, active_from 11, active_until 25, active_until 30]`, undefined, "redundant"],
    [`any [${A}, ${B}, ${B}]`, undefined, "duplicate keys"],
    [`at_least 0 [${A}, ${B}]`, undefined, "coefficient is 0"],
    [`at_least 4 [${A}, ${B}, ${C}]`, "not going to be accepted", "not going to be accepted"],
  ])("validates %s", async (script, required, recommended) => {
    for (const [level, fault] of [["--required", required], ["--recommended", recommended]] as const) {
      const { code, out, err } = await cli("", "script", "validate", level, script);
      if (fault === undefined) expect({ code, out, err }).toEqual({ code: 0, out: "Validated.\n", err: "" });
      else {
        expect({ code, out }).toEqual({ code: 1, out: "" });
        expect(err).toMatch(/^Not validated: /);
        expect(err).toContain(fault);
      }
    }
  });
});

describe("recovery-phrase", () => {
  it.each([9, 12, 15, 18, 21, 24])("generates %i words that make a key", async (size) => {
    const words = await piped("", ["recovery-phrase", "generate", "--size", String(size), "--language", "english"]);
    expect(words.trim().split(" ")).toHaveLength(size);
    expect(await piped(words, fromPhrase("Icarus"))).toMatch(/^root_xsk1/);
  });

  it("generates 24 words by default, other ones each time", async () => {
    const [first, second] = [
      await piped("", ["recovery-phrase", "generate"]),
      await piped("", ["recovery-phrase", "generate"]),
    ];
    expect(first.trim().split(" ")).toHaveLength(24);
    expect(first).not.toBe(second);
  });
});
