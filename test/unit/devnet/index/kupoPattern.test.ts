/** Patterns of Kupo: their texts, and how inclusion, overlap and matching belong together. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import {
  addressText,
  baseAddress,
  enterpriseAddress,
  pointerAddress,
  readAddressHex,
  rewardAddress,
} from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { hash224 } from "#src/cardano/hash.ts";
import {
  credentialHashes,
  includes,
  matches,
  overlap,
  parsePattern,
  type Pattern,
  type PatternedOutput,
  patternText,
} from "#src/devnet/index/kupo/pattern.ts";
import { byronAddress } from "../../../support/chain/byron.ts";

// few values, so that patterns meet
const HASHES = ["aa", "bb", "cc"].map((byte) => byte.repeat(28));
const TXS = ["01", "02"].map((byte) => byte.repeat(32));
const NAMES = ["", "00", "ff00"];
const hash = fc.constantFrom(...HASHES);
const credential = fc.record({ kind: fc.constantFrom("key" as const, "script" as const), hash });
const network = fc.constantFrom(0 as const, 1 as const);
const address = fc.oneof(
  fc.tuple(network, credential, credential).map((parts) => baseAddress(...parts).hex),
  fc.tuple(network, credential).map((parts) => enterpriseAddress(...parts).hex),
  fc.tuple(network, credential).map(([of, payment]) =>
    pointerAddress(of, payment, { slot: 1n, transaction: 2n, certificate: 300n }).hex
  ),
  hash.map((root) => byronAddress({ root: fromHex(root) })),
);
const pattern: fc.Arbitrary<Pattern> = fc.oneof(
  fc.constantFrom<Pattern>({ kind: "any" }, { kind: "shelley" }),
  address.map((one): Pattern => ({ kind: "address", address: one })),
  hash.map((payment): Pattern => ({ kind: "credentials", payment })),
  hash.map((stake): Pattern => ({ kind: "credentials", stake })),
  fc.tuple(hash, hash).map(([payment, stake]): Pattern => ({ kind: "credentials", payment, stake })),
  fc.constantFrom(...TXS).map((txHash): Pattern => ({ kind: "output", txHash })),
  fc.tuple(fc.constantFrom(...TXS), fc.nat(2)).map(([txHash, index]): Pattern => ({ kind: "output", txHash, index })),
  hash.map((policy): Pattern => ({ kind: "asset", policy })),
  fc.tuple(hash, fc.constantFrom(...NAMES)).map(([policy, name]): Pattern => ({ kind: "asset", policy, name })),
  fc.constantFrom("0", "674", "18446744073709551615").map((label): Pattern => ({ kind: "label", label })),
);
const output: fc.Arbitrary<PatternedOutput> = fc.record({
  txHash: fc.constantFrom(...TXS),
  index: fc.nat(2),
  address,
  units: fc.array(fc.tuple(hash, fc.constantFrom(...NAMES)).map(([policy, name]) => policy + name), { maxLength: 3 }),
  labels: fc.array(fc.constantFrom("0", "674", "1"), { maxLength: 2 }),
}).map((one) => ({ ...one, ...credentialHashes(one.address) }));
const runs = { numRuns: 3_000 };

describe("patterns", () => {
  test("are read from their own text", () => {
    fc.assert(fc.property(pattern, (one) => void expect(parsePattern(patternText(one))).toEqual(one)), runs);
  });

  test("include and overlap themselves", () => {
    fc.assert(fc.property(pattern, (one) => includes(one, one) && overlap(one, one)), runs);
  });

  test("overlap those that they include, and overlap is mutual", () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        expect(overlap(one, other)).toBe(overlap(other, one));
        if (includes(one, other)) expect(overlap(one, other)).toBe(true);
      }),
      runs,
    );
  });

  test("inclusion is transitive, and mutual only between equal patterns", () => {
    fc.assert(
      fc.property(pattern, pattern, pattern, (one, other, third) => {
        if (includes(one, other) && includes(other, third)) expect(includes(one, third)).toBe(true);
        if (includes(one, other) && includes(other, one)) expect(patternText(one)).toBe(patternText(other));
      }),
      runs,
    );
  });

  test("match whatever a pattern that they include matches", () => {
    let met = 0;
    fc.assert(
      fc.property(pattern, pattern, output, (one, other, held) => {
        if (!includes(one, other) || !matches(other, held)) return;
        met++;
        expect(matches(one, held)).toBe(true);
      }),
      { numRuns: 20_000 },
    );
    expect(met).toBeGreaterThan(100);
  });

  test("overlap where both match an output by its address", () => {
    const ofAddresses = (one: Pattern) => ["any", "shelley", "address", "credentials"].includes(one.kind);
    fc.assert(
      fc.property(pattern.filter(ofAddresses), pattern.filter(ofAddresses), output, (one, other, held) => {
        if (matches(one, held) && matches(other, held)) expect(overlap(one, other)).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  test("of addresses include an address when they match it", () => {
    fc.assert(
      fc.property(pattern, output, (one, held) => {
        const of: Pattern = { kind: "address", address: held.address };
        if (["any", "shelley", "address", "credentials"].includes(one.kind)) {
          expect(includes(one, of)).toBe(matches(one, held));
        } else expect(includes(one, of)).toBe(false);
      }),
      runs,
    );
  });

  test("any text is a pattern or none, without a fault", () => {
    const piece = fc.oneof(
      fc.constantFrom("*", "/", "@", ".", "{", "}", "addr1", "stake_test1", "0", TXS[0]!, HASHES[0]!, "%", "\0"),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")), (text) => {
        const read = parsePattern(text);
        if (read) expect(parsePattern(patternText(read))).toEqual(read);
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("texts", () => {
  const [key = "", other = ""] = HASHES;
  const bytes = fromHex("dd".repeat(32));
  const base = baseAddress(0, { kind: "key", hash: key }, { kind: "script", hash: other });
  const reward = rewardAddress(0, { kind: "script", hash: other });
  const byron = byronAddress({ root: fromHex(key) });
  const byronText = addressText((readAddressHex(byron) as { value: typeof base }).value);

  test.each([
    ["an address in bech32", addressText(base), base.hex],
    ["an address in hexadecimal", base.hex.toUpperCase(), base.hex],
    ["an address of Byron in base58", byronText, byron],
    ["an address of Byron in hexadecimal", byron, byron],
    ["a stake address", addressText(reward), `*/${other}`],
    ["a stake address in hexadecimal", reward.hex, `*/${other}`],
    ["a hash", `${key.toUpperCase()}/*`, `${key}/*`],
    ["a key", `${"dd".repeat(32)}/*`, `${hash224(bytes)}/*`],
    ...["vk", "addr_vk", "stake_vk"].map((prefix) => [prefix, `*/${toBech32(prefix, bytes)}`, `*/${hash224(bytes)}`]),
    ...["vkh", "addr_vkh", "stake_vkh", "script"].map((
      prefix,
    ) => [prefix, `${toBech32(prefix, fromHex(key))}/${other}`, `${key}/${other}`]),
    ["an output", `7@${"AB".repeat(32)}`, `7@${"ab".repeat(32)}`],
    ["an asset without a name", `${key}.`, `${key}.`],
    ["a policy", `${key}.*`, `${key}.*`],
    ["a label", "{00674}", "{674}"],
  ])("%s", (_, text, expected) => {
    const read = parsePattern(text!);
    expect(read && patternText(read)).toBe(expected);
  });

  test.each([
    "",
    "**",
    "*/",
    "/*",
    "*/*/*",
    "*@*",
    "*.*",
    key,
    `${key}.0`,
    `${key}.${"00".repeat(33)}`,
    `65536@${"ab".repeat(32)}`,
    `1@${"ab".repeat(31)}`,
    "{}",
    "{-1}",
    "{18446744073709551616}",
    `${addressText(base)}x`,
    `${toBech32("addr_vk", fromHex(key))}/*`,
    `${toBech32("vkh", bytes)}/*`,
    `${toBech32("pool", fromHex(key))}/*`,
    `${base.hex}00`,
    "1".repeat(100_000),
  ])("is none: %#", (text) => expect(parsePattern(text)).toBeUndefined());
});
