import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { templateScript } from "#src/wallets/api/script.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { decode } from "#src/cardano/cbor.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { derivePath, HARD, rootKey, toPublic } from "#src/cardano/keys/derivation.ts";
import { readKey } from "#src/cardano/keys/keyText.ts";
import { mnemonicEntropy } from "#src/cardano/keys/mnemonic.ts";
import {
  agrees,
  encodeNative,
  keysOf,
  nativeHash,
  type NativeScript,
  readNative,
  signaturesNeeded,
} from "#src/cardano/nativeScript.ts";
import { writeXpub } from "#src/cardano/keys/account.ts";
import { hashOf, scriptAt, sharedWalletId } from "#src/wallets/shared/account.ts";
import { fromNative, leavesOf, scriptText, templateOf, toNative } from "#src/wallets/shared/script.ts";
import type { ScriptForm } from "#src/wallets/shared/types.ts";
import { scriptFault, validateTemplates } from "#src/wallets/shared/validate.ts";
import { walletVectors } from "../../support/wallets/walletVectors.ts";
import { sharedAddress } from "../../support/wallets/sharedAddress.ts";

/** Parses the one-line form of the vectors, with optional blanks. */
function parseLine(text: string): ScriptForm {
  const tokens = text.match(/[[\],]|[^\s[\],]+/g)!;
  let at = 0;
  const list = (): ScriptForm[] => {
    const found: ScriptForm[] = [];
    at++;
    while (tokens[at] !== "]") {
      if (tokens[at] === ",") at++;
      else found.push(one());
    }
    at++;
    return found;
  };
  const one = (): ScriptForm => {
    const word = tokens[at++]!;
    if (word === "all") return { all: list() };
    if (word === "any") return { any: list() };
    if (word === "at_least") return { some: { at_least: Number(tokens[at++]), from: list() } };
    if (word === "active_from") return { active_from: Number(tokens[at++]) };
    if (word === "active_until") return { active_until: Number(tokens[at++]) };
    return word;
  };
  return one();
}

const name = fc.nat(255).map((n) => `cosigner#${n}`);
const { script: anyScript } = fc.letrec<{ script: ScriptForm }>((tie) => ({
  script: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    name,
    fc.record({ active_from: fc.nat() }),
    fc.record({ active_until: fc.nat() }),
    fc.record({ all: fc.array(tie("script"), { maxLength: 4 }) }),
    fc.record({ any: fc.array(tie("script"), { maxLength: 4 }) }),
    fc.record({ some: fc.record({ at_least: fc.nat(5), from: fc.array(tie("script"), { maxLength: 4 }) }) }),
  ),
}));

const accountOf = (text: string) => {
  const key = readKey(text);
  if (!key.ok || key.value.form !== "publicNode") throw new Error(`no account key: ${text}`);
  return writeXpub(key.value.node);
};

describe("scripts in vectors", () => {
  test.each(walletVectors("native-script-cbor"))("$id: CBOR and hash", ({ input, expected }) => {
    const bytes = fromHex((input.preimage_cbor_hex as string).slice(2));
    expect(toHex(encodeNative(readNative(decode(bytes))))).toBe(toHex(bytes));
    expect(nativeHash(bytes)).toBe(expected.hash);
  });

  test.each(walletVectors("script-hash"))("$id: from key hashes in bech32", ({ input, expected }) => {
    const native = toNative(parseLine(input.script as string), (leaf) => toHex(fromBech32(leaf)!.bytes));
    expect(hashOf(native)).toBe(toHex(fromBech32(expected.hash as string)!.bytes));
  });

  test.each(walletVectors("policy-id"))("$id: one line as written", ({ input }) => {
    expect(scriptText(parseLine(input.template as string))).toBe(input.template);
  });

  test.each(walletVectors("shared-address"))("$id: script and address", ({ input, expected }) => {
    const keys = Object.fromEntries(
      Object.entries(input.xpubs as Record<string, string>).map(([cosigner, text]) => [cosigner, accountOf(text)]),
    );
    const payment = { script: parseLine(input.payment_template as string), keys };
    const delegation = { script: parseLine(input.delegation_template as string), keys };
    const [role, index] = [input.role as number, input.index as number];
    expect(hashOf(scriptAt(payment, role, index))).toBe(expected.script_hash);
    const address = readAddressHex(sharedAddress({ payment, delegation }, role, index));
    expect(address.ok && addressText(address.value)).toBe(expected.address);
  });

  test.each(walletVectors("shared-wallet-id"))("$id", ({ input, expected }) => {
    const templates = [input.payment_template, input.delegation_template].flatMap((text) =>
      typeof text === "string" ? [parseLine(text)] : []
    );
    let account: string;
    if (typeof input.mnemonic === "string") {
      const entropy = mnemonicEntropy(input.mnemonic.split(" "));
      if (!entropy.ok) throw new Error(entropy.error.message);
      account = writeXpub(toPublic(derivePath(rootKey(entropy.value), [HARD + 1854, HARD + 1815, HARD])));
    } else account = accountOf(input.self as string);
    expect(sharedWalletId(account, templates[0]!, templates[1])).toBe(expected.id);
  });
});

describe("scripts", () => {
  test("the ledger's form and the readable form are converted to each other, through CBOR", () => {
    fc.assert(fc.property(anyScript, (script) => {
      const hashes = leavesOf(script).map((leaf, i) => [leaf, i.toString(16).padStart(56, "0")] as const);
      const native = toNative(script, (leaf) => new Map(hashes).get(leaf)!);
      const names = new Map(hashes.map(([leaf, hash]) => [hash, leaf]));
      expect(fromNative(readNative(decode(encodeNative(native))), (hash) => names.get(hash)!)).toEqual(script);
      expect(parseLine(scriptText(script))).toEqual(script);
      expect(templateScript.parse(script)).toEqual(script);
    }));
  });

  test.each([
    "cosigner",
    "cosigner#",
    "cosigner#01",
    "cosigner#256",
    "cosigner#-1",
    "addr_shared_vkh1abc",
    {},
    { all: "cosigner#0" },
    { all: [], any: [] },
    { some: { at_least: 1 } },
    { some: { at_least: 256, from: [] } },
    { active_from: -1 },
    { active_until: 1.5 },
    { active_until: 1n << 64n },
    [],
    3,
    null,
  ])("refuses what is not a script (%#)", (body) => {
    expect(templateScript.safeParse(body).success).toBe(false);
  });

  test("a slot beyond 2^53 is exact", () => {
    const script = { all: ["cosigner#0", { active_until: (1n << 64n) - 1n }] };
    expect(templateScript.parse(script)).toEqual(script);
    expect(scriptText(script)).toBe("all [cosigner#0,active_until 18446744073709551615]");
    expect(fromNative(toNative(script, () => "00".repeat(28)), () => "cosigner#0")).toEqual(script);
  });
});

describe("signatures that a script needs", () => {
  const leaf = (n: number): NativeScript => ({ kind: "key", hash: n.toString(16).padStart(56, "0") });
  const keys = [0, 1, 2, 3, 4, 5].map(leaf);
  const { script: nested } = fc.letrec<{ script: NativeScript }>((tie) => ({
    script: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.constantFrom(...keys),
      fc.constantFrom<NativeScript>({ kind: "from", slot: 50n }, { kind: "before", slot: 150n }),
      fc.record({
        kind: fc.constantFrom("all" as const, "any" as const),
        scripts: fc.array(tie("script"), { minLength: 1, maxLength: 3 }),
      }),
      fc.array(tie("script"), { minLength: 1, maxLength: 4 }).chain((scripts) =>
        fc.record({
          kind: fc.constant("at least" as const),
          count: fc.bigInt(0n, BigInt(scripts.length)),
          scripts: fc.constant(scripts),
        })
      ),
    ),
  }));

  const interval = { from: 100n, before: 200n };
  const hasTimes = (script: NativeScript): boolean =>
    "scripts" in script ? script.scripts.some(hasTimes) : script.kind !== "key";

  /** The most signatures that are collected when each signs only while the script does not accept. */
  function worst(script: NativeScript): number {
    const signers = keysOf(script);
    const last = (signed: ReadonlySet<string>): number =>
      agrees(script, signed, interval) ? signed.size : Math.max(
        signed.size,
        ...signers.filter((key) => !signed.has(key)).map((key) => last(new Set([...signed, key]))),
      );
    return last(new Set());
  }

  const once = (script: NativeScript): number =>
    script.kind === "key" ? 1 : "scripts" in script ? script.scripts.map(once).reduce((a, b) => a + b, 0) : 0;

  test("in any order of signing, they are paid for, and no more than that", () => {
    fc.assert(
      fc.property(nested, (script) => {
        const needed = signaturesNeeded(script);
        if (!agrees(script, new Set(keysOf(script)), interval)) return;
        expect(needed).toBeGreaterThanOrEqual(worst(script));
        if (!hasTimes(script) && once(script) === keysOf(script).length) expect(needed).toBe(worst(script));
      }),
      { numRuns: 500 },
    );
  });

  test("m of n are m; times cost nothing if all sign", () => {
    const [a, b, c] = keys as [NativeScript, NativeScript, NativeScript];
    const time: NativeScript = { kind: "from", slot: 5n };
    expect(signaturesNeeded({ kind: "at least", count: 2n, scripts: [a, b, c] })).toBe(2);
    expect(signaturesNeeded({ kind: "any", scripts: [a, b, c] })).toBe(1);
    expect(signaturesNeeded({ kind: "all", scripts: [time, { kind: "any", scripts: [a, b] }] })).toBe(1);
    expect(signaturesNeeded({ kind: "all", scripts: [] })).toBe(0);
    expect(signaturesNeeded(time)).toBe(0);
  });

  test("a script may be nested as deeply as a transaction is long", () => {
    const key: NativeScript = { kind: "key", hash: "ab".repeat(28) };
    let script: NativeScript = key;
    for (let i = 0; i < 5_000; i++) {
      script = i % 2 === 0
        ? { kind: "all", scripts: [script] }
        : { kind: "at least", count: 1n, scripts: [{ kind: "from", slot: 9n }, script] };
    }
    expect(keysOf(script)).toEqual([key.hash]);
    expect(signaturesNeeded(script)).toBe(1);
    expect(agrees(script, new Set([key.hash]), {})).toBe(true);
    expect(agrees(script, new Set(), {})).toBe(false);
  });
});

describe("validation", () => {
  const fault = (text: string, level: "none" | "required" | "recommended" = "recommended") =>
    scriptFault(parseLine(text), level);

  test.each([
    "cosigner#0",
    "all [cosigner#0]",
    "all [cosigner#0, active_from 120]",
    "any [cosigner#0, cosigner#1, active_from 5]",
    "at_least 2 [cosigner#0, cosigner#1, all [cosigner#0, cosigner#2]]",
    "all [cosigner#0, active_from 100, active_until 100]",
    "any [cosigner#0, all [cosigner#1, active_from 100, active_until 120]]",
    "any [active_from 120, active_until 100]",
  ])("%s is wise", (text) => expect(fault(text)).toBeUndefined());

  test.each(
    [
      ["all []", "required", false],
      ["all [active_from 5]", "required", false],
      ["at_least 0 [cosigner#0]", "required", false],
      ["at_least 2 [cosigner#0, active_from 5]", "required", false],
      ["all [cosigner#0, cosigner#0]", "required", false],
      ["all [cosigner#0, active_from 1, active_until 2, active_from 3]", "required", false],
      ["any [cosigner#0, active_from 1, active_until 2]", "required", false],
      ["all [cosigner#0, active_from 120, active_until 100]", "required", false],
      ["all [cosigner#0, any [cosigner#1, cosigner#1]]", "required", false],
      ["any []", "required", true],
      ["at_least 2 [cosigner#0]", "required", true],
      ["all [cosigner#0, any []]", "required", true],
    ] as const,
  )("%s is unwise", (text, level, impossible) => {
    expect(fault(text)).toBeTypeOf("string");
    expect(fault(text, level) !== undefined).toBe(impossible);
    expect(fault(text, "none")).toBeUndefined();
  });

  const key = (n: number) => n.toString(16).padStart(128, "0");
  const code = (templates: Parameters<typeof validateTemplates>[0], own = key(0)) => {
    const result = validateTemplates(templates, own, "required");
    return result.ok ? "ok" : `${result.error.code}: ${result.error.message}`;
  };
  const both: ScriptForm = { all: ["cosigner#0", "cosigner#1"] };

  test("keys may be missing, but not the wallet's own, duplicated, or foreign", () => {
    const mine = { script: both, keys: { "cosigner#0": key(0) } };
    expect(code({ payment: mine })).toBe("ok");
    const refused = [
      { payment: { script: both, keys: {} } },
      { payment: { script: both, keys: { "cosigner#1": key(1) } } },
      { payment: { script: both, keys: { "cosigner#0": key(0), "cosigner#1": key(0) } } },
      { payment: { script: both, keys: { "cosigner#0": key(0), "cosigner#2": key(2) } } },
      { payment: { script: { all: [{ active_from: 5 }] }, keys: { "cosigner#0": key(0) } } },
      { payment: mine, delegation: { script: both, keys: { "cosigner#1": key(1) } } },
      { payment: mine, delegation: { script: { any: [] }, keys: { "cosigner#0": key(0) } } },
    ];
    const said = refused.map((templates) => code(templates));
    for (const one of said) {
      expect(one).toMatch(
        /^shared_wallet_script_template_invalid: It looks like you've tried to create a shared wallet with a template script for (payment|delegation) credential that does not pass validation\. The problem is: /,
      );
    }
    expect(said.slice(-2).every((one) => one.includes("for delegation"))).toBe(true);
    expect(new Set(said).size).toBe(7);
  });

  test("templates that an actor cannot store are refused", () => {
    const names = Array.from({ length: 90 }, (_, n) => `cosigner#${n}`);
    expect(code({ payment: { script: { all: names }, keys: { "cosigner#0": key(0) } } })).toContain("too large");
    expect(code({ payment: { script: { all: names.slice(0, 60) }, keys: { "cosigner#0": key(0) } } })).toBe("ok");
  });
});

describe("a stored template", () => {
  const keys = { "cosigner#0": "acct_shared_xvk1" };

  test.each<Json>([
    "cosigner#0",
    { all: ["cosigner#0", { active_from: 120 }, { active_until: 2n ** 60n }] },
    { any: [{ some: { at_least: 1, from: ["cosigner#0", "cosigner#1"] } }] },
  ])("is given as it is stored, form %#", (script) => {
    const stored: Json = { script, keys };
    expect(templateOf(stored)).toBe(stored);
  });

  test.each<[string, Json]>([
    ["no object", "cosigner#0"],
    ["no keys", { script: "cosigner#0" }],
    ["a key that is no text", { script: "cosigner#0", keys: { "cosigner#0": 1 } }],
    ["no script", { keys }],
    ["children that are no list", { script: { all: "cosigner#0" }, keys }],
    ["a child that is no script", { script: { any: [{ all: [null] }] }, keys }],
    ["a number of signatures that is none", { script: { some: { at_least: "1", from: ["cosigner#0"] } }, keys }],
    ["a slot that is none", { script: { active_from: "120" }, keys }],
  ])("is refused with %s", (_, stored) => {
    expect(() => templateOf(stored)).toThrow(TypeError);
  });
});
