import { HexBlob, Transaction, TransactionOutput, TxCBOR } from "@blaze-cardano/core";
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { describe, expect, test } from "vitest";
import { equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { as, CborError, decode, raw } from "#src/cardano/cbor.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import {
  addWitness,
  encodeOutput,
  encodeTransaction,
  madeOutput,
  type NewOutput,
  redeemerIndices,
  transactionHash,
  type TransactionParts,
  witnessBytes,
} from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { agrees } from "../../support/plutus/scripts.ts";
import { witnessFields } from "../../support/ledger/soundness.ts";
import { assetId, newRef, person, signed } from "../../support/wallets/person.ts";

const alice = person("alice");
const bob = person("bob");
const at = (txHash: string, index: number): OutRef => ({ txHash, index });
const hash = "ab".repeat(32);
const argument = encodeData(constr(0, 1n));
const units = { memory: 1000n, steps: 200_000n };

const outputs: readonly NewOutput[] = [
  {
    address: alice.enterprise,
    value: { lovelace: 2_000_000n, assets: new Map([[assetId(1, 2), 5n]]) },
    datum: argument,
  },
  { address: alice.base, value: lovelace(5_000_000_000n) },
];
const full: TransactionParts = {
  inputs: [at(hash, 10), at(hash, 2), at("01".repeat(32), 255)],
  outputs,
  fee: 200_000n,
  validTo: 1000,
  validFrom: 10,
  mint: new Map([[assetId(9, 1), -1n], [assetId(1, 1), 2n], [assetId(1, 2), 7n]]),
  scriptDataHash: "cd".repeat(32),
  collateral: [at(hash, 2)],
  requiredSigners: [bob.key, alice.key, bob.key],
  collateralReturn: { address: alice.base, value: lovelace(1_000_000n) },
  totalCollateral: 300_000n,
  references: [at(hash, 300), at(hash, 24)],
  redeemers: [
    { for: { purpose: "mint", policy: assetId(9, 1).slice(0, 56) }, data: argument, units },
    { for: { purpose: "spend", ref: at(hash, 10) }, data: argument, units },
    { for: { purpose: "spend", ref: at(hash, 2) }, data: argument, units },
  ],
  scripts: [agrees],
};

describe("assembling", () => {
  const transaction = encodeTransaction(full);

  test("inputs are in the ledger's order, and redeemers refer to them by index", () => {
    const scanned = scanTransaction(transaction);
    expect(scanned.inputs).toEqual([at("01".repeat(32), 255), at(hash, 2), at(hash, 10)]);
    expect(scanned.references).toEqual([at(hash, 24), at(hash, 300)]);
    const indexOf = redeemerIndices(full);
    expect(indexOf({ purpose: "spend", ref: at(hash, 2) })).toBe(1);
    expect(indexOf({ purpose: "spend", ref: at(hash, 10) })).toBe(2);
    expect(indexOf({ purpose: "mint", policy: "09".repeat(28) })).toBe(1);
    expect(() => indexOf({ purpose: "spend", ref: newRef() })).toThrow(RangeError);
    expect(scanned).toMatchObject({ fee: 200_000n, validTo: 1000, validFrom: 10, valid: true, mint: full.mint });
  });

  test("other libraries decode the same and encode it to the same bytes", () => {
    const blaze = Transaction.fromCbor(TxCBOR(toHex(transaction)));
    expect(blaze.toCbor()).toBe(toHex(transaction));
    expect(blaze.getId()).toBe(transactionHash(transaction));
    const redeemers = blaze.witnessSet().redeemers()!.values().map((one) => [one.tag(), Number(one.index())]);
    expect(redeemers).toEqual([[0, 1], [0, 2], [1, 1]]);
    const theirs = csl.FixedTransaction.from_bytes(transaction);
    expect(theirs.transaction_hash().to_hex()).toBe(transactionHash(transaction));
    expect(csl.Transaction.from_bytes(transaction).body().to_hex()).toBe(toHex(scanTransaction(transaction).body));
    expect(theirs.body().required_signers()!.len()).toBe(2);
  });

  test("there is no signature field, and empty fields are omitted", () => {
    expect([...witnessFields(transaction).keys()]).toEqual([5, 7]);
    const plain = encodeTransaction({ inputs: [newRef()], outputs: [], fee: 1n });
    expect([...witnessFields(plain).keys()]).toEqual([]);
    expect(as(as(decode(plain), "array").value[0], "map").value).toHaveLength(3);
  });

  test("outputs are decoded as encoded", () => {
    for (const output of [...outputs, { ...outputs[1]!, script: fromHex("820342abcd") }]) {
      const read = madeOutput(output);
      expect(read).toMatchObject({ address: output.address, value: output.value });
      expect(read.datum && toHex(read.datum)).toBe(output.datum && toHex(output.datum));
      expect(read.script && toHex(read.script)).toBe("script" in output ? "820342abcd" : undefined);
      const blaze = TransactionOutput.fromCbor(HexBlob(toHex(encodeOutput(output))));
      expect(blaze.amount().coin()).toBe(output.value.lovelace);
      expect(csl.TransactionOutput.from_bytes(encodeOutput(output)).address().to_hex()).toBe(output.address);
    }
  });
});

describe("signing", () => {
  const transaction = encodeTransaction(full);
  const witness = (who: typeof alice) => ({
    key: publicKey(who.seed),
    signature: sign(who.seed, fromHex(transactionHash(transaction))),
  });

  test("signatures are those of another library, with the predicted number of bytes", () => {
    const ours = addWitness(transaction, witness(alice), witness(bob));
    const theirs = signed(transaction, alice, bob);
    expect(ours.length).toBe(transaction.length + witnessBytes(2));
    expect(transactionHash(ours)).toBe(transactionHash(transaction));
    expect(theirs.length).toBe(ours.length);
    expect(csl.Transaction.from_bytes(ours).witness_set().vkeys()!.len()).toBe(2);
  });

  test("every byte of the body and of other witnesses stays, in any encoding", () => {
    // Indefinite maps, integers in long form, redeemers as an array: encodings of other builders.
    const writable = fromHex(
      `84bf00d9010281825820${hash}1800018002190001ffbf1805818400001a00000001821864187bfff5f6`,
    );
    const once = addWitness(writable, witness(alice));
    const [body, witnesses, valid, auxiliary] = as(decode(writable), "array").value;
    const [sameBody, more, sameValid, sameAuxiliary] = as(decode(once), "array").value;
    expect(equalBytes(raw(sameBody!), raw(body!))).toBe(true);
    expect(toHex(raw(more!))).toContain(toHex(raw(witnesses!)).slice(2, -2));
    expect([raw(sameValid!), raw(sameAuxiliary!)].map(toHex)).toEqual([raw(valid!), raw(auxiliary!)].map(toHex));
    expect(transactionHash(once)).toBe(transactionHash(writable));
  });

  test("a second signature is added, the same one again changes nothing", () => {
    const first = addWitness(transaction, witness(alice));
    const both = addWitness(first, witness(bob));
    expect(toHex(both)).toBe(toHex(addWitness(transaction, witness(alice), witness(bob))));
    expect(toHex(addWitness(both, witness(alice)))).toBe(toHex(both));
  });

  test("bytes that are not a transaction are refused", () => {
    for (const bytes of ["", "80", "84a0a0f5", "83a0a0f6", "84a0a0f6f6", "8480a0f5f6", "84a0a0f5f600"]) {
      expect(() => transactionHash(fromHex(bytes)), bytes).toThrow(CborError);
    }
  });
});
