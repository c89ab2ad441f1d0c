/** Signatures of the development wallet: exactly the keys that a transaction needs. */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { type Credential, enterpriseAddress, rewardAddress } from "#src/cardano/address.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { keyHash, publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import { encodeNative, nativeHash, type NativeScript } from "#src/cardano/nativeScript.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import {
  addWitness,
  encodeTransaction,
  madeOutput,
  transactionHash,
  type TransactionParts,
} from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { signatures } from "#src/devnet/wallet/signatures.ts";

const seed = (n: number) => new Uint8Array(32).fill(n);
const hashOf = (n: number) => keyHash(publicKey(seed(n)));
/** The account's keys, and that of another person. */
const [PAYMENT, STAKE, OTHER] = [1, 2, 3];
const keys = new Map([PAYMENT, STAKE].map((n) => [hashOf(n), seed(n)]));
const key = (n: number): Credential => ({ kind: "key", hash: hashOf(n) });

const ref = (n: number): OutRef => ({ txHash: String(n).padStart(64, "0"), index: 0 });
const native = (script: NativeScript) => ({ script, hash: nativeHash(encodeNative(script)) });
const either = native({
  kind: "any",
  scripts: [{ kind: "key", hash: hashOf(PAYMENT) }, { kind: "key", hash: hashOf(OTHER) }],
});
const both = native({
  kind: "all",
  scripts: [{ kind: "key", hash: hashOf(STAKE) }, { kind: "key", hash: hashOf(OTHER) }],
});
const late = native({ kind: "all", scripts: [{ kind: "key", hash: hashOf(PAYMENT) }, { kind: "before", slot: 5n }] });

const at = (credential: Credential, script?: NativeScript): Output =>
  madeOutput({
    address: enterpriseAddress(0, credential).hex,
    value: lovelace(5_000_000n),
    script: script && encode([0, new Encoded(encodeNative(script))]),
  });
/** Outputs by the number of their reference. */
const outputs = new Map([
  [refKey(ref(1)), at(key(PAYMENT))],
  [refKey(ref(2)), at(key(STAKE))],
  [refKey(ref(3)), at(key(OTHER))],
  [refKey(ref(4)), at({ kind: "script", hash: either.hash })],
  [refKey(ref(5)), at({ kind: "script", hash: both.hash })],
  [refKey(ref(6)), at(key(OTHER), both.script)],
  [refKey(ref(7)), at({ kind: "script", hash: late.hash })],
]);
const utxo = { get: (one: OutRef) => outputs.get(refKey(one)), outputs: () => outputs.values() };

const build = (parts: Partial<TransactionParts>) => encodeTransaction({ inputs: [], outputs: [], fee: 0n, ...parts });
const certificate = (kind: number, ...rest: unknown[]) => encode([kind, ...rest] as never);
const credential = (n: number) => [0, fromHex(hashOf(n))];

async function signed(transaction: Uint8Array, partial = false) {
  const read = readTransaction(transaction);
  if (!read.ok) throw new Error(read.error.message);
  return await signatures(read.value, keys, utxo, partial);
}

/** Numbers of the keys in a witness set; each signature is verified by another library. */
function signersIn(transaction: Uint8Array, witnessSet: Uint8Array): number[] {
  const set = CSL.TransactionWitnessSet.from_bytes(witnessSet);
  const hash = fromHex(transactionHash(transaction));
  const list = set.vkeys();
  return Array.from({ length: list?.len() ?? 0 }, (_, i) => {
    const witness = list!.get(i);
    const verifier = witness.vkey().public_key();
    expect(verifier.verify(hash, witness.signature())).toBe(true);
    return [PAYMENT, STAKE, OTHER].find((n) => hashOf(n) === verifier.hash().to_hex())!;
  });
}

describe("signatures of an account", () => {
  it.each<[what: string, parts: Partial<TransactionParts>, signers: number[]]>([
    ["an input", { inputs: [ref(1)] }, [PAYMENT]],
    ["inputs of both keys", { inputs: [ref(1), ref(2)] }, [PAYMENT, STAKE]],
    ["a collateral", { collateral: [ref(1)] }, [PAYMENT]],
    ["a reference input, which needs none", { references: [ref(1)] }, []],
    ["a withdrawal", { withdrawals: [{ account: rewardAddress(0, key(STAKE)).hex, amount: 0n }] }, [STAKE]],
    ["a registration without deposit, which needs none", { certificates: [certificate(0, credential(STAKE))] }, []],
    ["a registration with deposit", { certificates: [certificate(7, credential(STAKE), 2_000_000)] }, [STAKE]],
    ["a delegation", { certificates: [certificate(2, credential(STAKE), fromHex("ab".repeat(28)))] }, [STAKE]],
    ["a vote delegation", { certificates: [certificate(9, credential(STAKE), [2])] }, [STAKE]],
    ["a required signer", { requiredSigners: [hashOf(STAKE)] }, [STAKE]],
    ["a native script", { inputs: [ref(4)], nativeScripts: [encodeNative(either.script)] }, [PAYMENT]],
    ["a policy", { mint: new Map([[either.hash + "00", 1n]]), nativeScripts: [encodeNative(either.script)] }, [
      PAYMENT,
    ]],
    ["a script whose times are not met", { inputs: [ref(7)], nativeScripts: [encodeNative(late.script)] }, [PAYMENT]],
    ["nothing of the account", {}, []],
  ])("for %s", async (_what, parts, signers) => {
    const transaction = build(parts);
    const result = await signed(transaction);
    if (!result.ok) throw new Error(result.error.message);
    expect(signersIn(transaction, result.value.witnessSet)).toEqual(signers);
    expect(result.value.hash).toBe(transactionHash(transaction));
  });

  it.each<[what: string, parts: Partial<TransactionParts>, signers: number[], missing: object]>([
    ["an input of another person", { inputs: [ref(1), ref(3)] }, [PAYMENT], { keys: [hashOf(OTHER)], inputs: [] }],
    [
      "a script that needs another person as well",
      { inputs: [ref(5)], nativeScripts: [encodeNative(both.script)] },
      [STAKE],
      { keys: [hashOf(OTHER)], inputs: [] },
    ],
    [
      "a script in a reference input",
      { inputs: [ref(5)], references: [ref(6)] },
      [STAKE],
      { keys: [hashOf(OTHER)], inputs: [] },
    ],
    ["an unknown input", { inputs: [ref(1), ref(9)] }, [PAYMENT], { keys: [], inputs: [refKey(ref(9))] }],
    ["an unknown collateral", { collateral: [ref(9)] }, [], { keys: [], inputs: [refKey(ref(9))] }],
  ])("with %s are partial, or refused", async (_what, parts, signers, details) => {
    const transaction = build(parts);
    expect(await signed(transaction)).toMatchObject({ ok: false, error: { code: "cannot_sign", details } });
    const result = await signed(transaction, true);
    if (!result.ok) throw new Error(result.error.message);
    expect(signersIn(transaction, result.value.witnessSet)).toEqual(signers);
  });

  it("count signatures of others that the transaction has, if they are right", async () => {
    const unsigned = build({ inputs: [ref(1), ref(3)] });
    const id = fromHex(transactionHash(unsigned));
    const witness = { key: publicKey(seed(OTHER)), signature: sign(seed(OTHER), id) };
    const complete = await signed(addWitness(unsigned, witness));
    expect(complete.ok && signersIn(unsigned, complete.value.witnessSet)).toEqual([PAYMENT]);
    const wrong = { ...witness, signature: sign(seed(OTHER), new Uint8Array(32)) };
    expect(await signed(addWitness(unsigned, wrong))).toMatchObject({ ok: false, error: { code: "cannot_sign" } });
  });

  it("leave a script out that another signature satisfies", async () => {
    const unsigned = build({ inputs: [ref(4)], nativeScripts: [encodeNative(either.script)] });
    const id = fromHex(transactionHash(unsigned));
    const other = addWitness(unsigned, { key: publicKey(seed(OTHER)), signature: sign(seed(OTHER), id) });
    const result = await signed(other);
    expect(result.ok && toHex(result.value.witnessSet)).toBe("a0");
  });

  it("are given again where the transaction has them", async () => {
    const unsigned = build({ inputs: [ref(1)] });
    const first = await signed(unsigned);
    const id = fromHex(transactionHash(unsigned));
    const whole = addWitness(unsigned, { key: publicKey(seed(PAYMENT)), signature: sign(seed(PAYMENT), id) });
    expect(await signed(whole)).toEqual(first);
  });
});
