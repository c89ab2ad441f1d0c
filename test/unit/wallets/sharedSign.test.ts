import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { encode, raw } from "#src/cardano/cbor.ts";
import { keyHash, publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import { agrees, encodeNative, nativeHash, type NativeScript, signaturesNeeded } from "#src/cardano/nativeScript.ts";
import { addWitness, encodeTransaction, partsOf } from "#src/cardano/transaction.ts";
import { signingStateOf, toSign } from "#src/wallets/shared/sign.ts";

const seeds = [1, 2, 3, 4].map((n) => new Uint8Array(32).fill(n));
const keys = seeds.map((seed) => ({ seed, key: publicKey(seed), hash: keyHash(publicKey(seed)) }));
const leaves: NativeScript[] = keys.map(({ hash }) => ({ kind: "key", hash }));

const { script: anyScript } = fc.letrec<{ script: NativeScript }>((tie) => ({
  script: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(...leaves),
    fc.constantFrom<NativeScript>({ kind: "from", slot: 50n }, { kind: "before", slot: 200n }),
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

function transactionWith(scripts: readonly NativeScript[], requiredSigners: readonly string[] = []): Uint8Array {
  return encodeTransaction({
    inputs: [{ txHash: "ab".repeat(32), index: 0 }],
    outputs: [{ address: "60" + "cd".repeat(28), value: { lovelace: 5_000_000n, assets: new Map() } }],
    fee: 170_000n,
    validFrom: 100,
    validTo: 200,
    requiredSigners,
    nativeScripts: scripts.map(encodeNative),
  });
}

/** A cosigner's server signs with its key if that is needed. */
function signBy(transaction: Uint8Array, who: number, scripts: readonly NativeScript[]): Uint8Array {
  const { seed, key, hash } = keys[who]!;
  const read = signingStateOf(transaction);
  const own = scripts.map((script) => ({ script: nativeHash(encodeNative(script)), path: who, key: hash }));
  const paths = toSign(read, own);
  expect(paths.length).toBeLessThanOrEqual(1);
  return paths.length === 0 ? transaction : addWitness(transaction, { key, signature: sign(seed, fromHex(read.hash)) });
}

describe("signing in turn", () => {
  const bodyOf = (transaction: Uint8Array) => toHex(raw(partsOf(transaction).body));

  test("in any order all signatures that a script can get satisfy it, and they are no more than were paid for", () => {
    fc.assert(
      fc.property(anyScript, fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (script, order) => {
        let transaction = transactionWith([script]);
        const body = bodyOf(transaction);
        for (const who of order) transaction = signBy(transaction, who, [script]);
        const { signers, interval } = signingStateOf(transaction);
        expect(bodyOf(transaction)).toBe(body);
        const everybody = new Set(keys.map(({ hash }) => hash));
        expect(agrees(script, signers, interval)).toBe(agrees(script, everybody, interval));
        if (agrees(script, everybody, interval)) expect(signers.size).toBeLessThanOrEqual(signaturesNeeded(script));
      }),
      { numRuns: 60 },
    );
  });

  test("signing again, and signing a complete transaction, changes no byte", () => {
    const script: NativeScript = { kind: "at least", count: 2n, scripts: leaves.slice(0, 3) };
    const once = signBy(transactionWith([script]), 0, [script]);
    expect(signingStateOf(once).signers).toEqual(new Set([keys[0]!.hash]));
    expect(signBy(once, 0, [script])).toEqual(once);
    const twice = signBy(once, 2, [script]);
    expect(signingStateOf(twice).signers.size).toBe(2);
    expect(signBy(twice, 1, [script])).toEqual(twice);
  });

  test("a wrong signature does not count", () => {
    const script: NativeScript = { kind: "any", scripts: leaves.slice(0, 2) };
    const forged = addWitness(transactionWith([script]), { key: keys[1]!.key, signature: new Uint8Array(64).fill(7) });
    expect(signingStateOf(forged).signers.size).toBe(0);
    expect(signingStateOf(signBy(forged, 0, [script])).signers).toEqual(new Set([keys[0]!.hash]));
  });

  test("a required signer signs although its script is satisfied", () => {
    const script: NativeScript = { kind: "any", scripts: leaves.slice(0, 2) };
    const signed = signBy(transactionWith([script], [keys[1]!.hash]), 0, [script]);
    expect(signingStateOf(signBy(signed, 1, [script])).signers.size).toBe(2);
  });

  test("scripts that are not in the transaction require no signature", () => {
    const script: NativeScript = { kind: "any", scripts: leaves.slice(0, 2) };
    expect(signingStateOf(signBy(transactionWith([]), 0, [script])).signers.size).toBe(0);
  });

  test("bytes that are not a transaction throw", () => {
    expect(() => signingStateOf(encode([1, 2]))).toThrow();
  });
});
