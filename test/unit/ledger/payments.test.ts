/** Inputs, outputs, fees, time and signatures (rules UTXO and UTXOW, without scripts). */
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { minFee } from "#src/transaction/fee.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import {
  ada,
  alice,
  asset,
  atKey,
  bob,
  type Draft,
  nativeHash,
  output,
  reference,
  signedBy,
  World,
} from "../../support/ledger/draft.ts";

const pay = (lovelace = 2n * ada): Draft => ({ outputs: [output(bob.address, lovelace)], paid: lovelace });
const policy = nativeHash(signedBy(alice));
const token = (quantity: bigint, name = "") => new Map([[asset(policy, name), quantity]]);

/** The minimum fee of a draft, found by encoding it. */
function least(world: World, draft: Draft): bigint {
  const read = readTransaction(world.write({ ...draft, fee: 200_000n }));
  if (!read.ok) throw new Error(read.error.message);
  return minFee(mainnetParameters, { size: read.value.size, units: read.value.units });
}

describe("a payment", () => {
  it("is accepted, and has the changes it states", async () => {
    const world = new World();
    const inputs = [world.fund(alice.address)];
    const applied = await world.apply({ ...pay(), inputs });
    expect(applied).toMatchObject({ valid: true, fee: 400_000n, deposits: 0n, donation: 0n, accounts: [] });
    expect(applied.spent).toEqual(inputs);
    expect(applied.created.map(({ output: { address, value } }) => [address, value.lovelace])).toEqual([
      [bob.address, 2n * ada],
      [alice.address, 97_600_000n],
    ]);
    expect(world.state.utxo.get(inputs[0]!.ref)).toBeUndefined();
    expect(world.state.utxo.get({ txHash: applied.hash, index: 1 })?.address).toBe(alice.address);
    expect(world.state.pots.fees).toBe(400_000n);
  });

  it("spends an output that an earlier one created", async () => {
    const world = new World();
    const { hash, created } = await world.apply(pay(50n * ada));
    expect(created[0]!.ref).toEqual({ txHash: hash, index: 0 });
    expect(await world.failures({ inputs: [created[0]!], keys: [bob.payment] })).toEqual([]);
  });

  it("pays the minimum fee and not a lovelace less", async () => {
    const world = new World();
    const draft = { ...pay(), inputs: [world.fund(alice.address)] };
    const fee = least(world, draft);
    expect(await world.failures({ ...draft, fee })).toEqual([]);
    expect(await world.judge({ ...draft, fee: fee - 1n })).toEqual([
      { name: "FeeTooSmallUTxO", supplied: fee - 1n, expected: fee },
    ]);
  });

  it("cannot be made twice, and its input cannot be spent twice", async () => {
    const world = new World();
    const inputs = [world.fund(alice.address)];
    const bytes = world.write({ ...pay(), inputs });
    await world.apply(bytes);
    expect(await world.failures(bytes)).toEqual(["BadInputsUTxO", "ValueNotConservedUTxO"]);
    expect(await world.failures({ ...pay(3n * ada), inputs })).toContain("BadInputsUTxO");
  });

  const cases: [string, (world: World) => Draft, string[]][] = [
    ["lovelace from nowhere", () => ({ ...pay(), extra: 1n }), ["ValueNotConservedUTxO"]],
    ["missing lovelace", () => ({ ...pay(), extra: -1n }), ["ValueNotConservedUTxO"]],
    ["tokens from nowhere", () => ({
      outputs: [output(bob.address, 2n * ada, { assets: token(1n) })],
      paid: 2n * ada,
    }), ["ValueNotConservedUTxO"]],
    ["an unknown input", () => ({
      inputs: [{ ...new World().fund(alice.address), ref: { txHash: "ab".repeat(32), index: 7 } }],
    }), ["BadInputsUTxO", "ValueNotConservedUTxO"]],
    ["no input", () => ({ ...pay(), inputs: [], extra: 5n * ada }), ["InputSetEmptyUTxO", "ValueNotConservedUTxO"]],
    ["an unknown reference input", () => ({
      ...pay(),
      fields: { 18: [reference({ ref: { txHash: "ab".repeat(32), index: 0 } })] },
    }), ["BadInputsUTxO"]],
    ["too little in an output", () => ({ ...pay(700_000n) }), ["BabbageOutputTooSmallUTxO"]],
    ["an address of mainnet", () => ({ outputs: [output(atKey(bob.hash, 1), 2n * ada)], paid: 2n * ada }), [
      "WrongNetwork",
    ]],
    ["the network of mainnet", () => ({ ...pay(), fields: { 15: 1 } }), ["WrongNetworkInTxBody"]],
    ["the right network", () => ({ ...pay(), fields: { 15: 0 } }), []],
    ["an end before now", () => ({ ...pay(), fields: { 3: 1_000 } }), ["OutsideValidityIntervalUTxO"]],
    ["an end after now", () => ({ ...pay(), fields: { 3: 1_001 } }), []],
    ["a start after now", () => ({ ...pay(), fields: { 8: 1_001 } }), ["OutsideValidityIntervalUTxO"]],
    ["a start now", () => ({ ...pay(), fields: { 8: 1_000 } }), []],
    ["no signature", () => ({ ...pay(), keys: [] }), ["MissingVKeyWitnessesUTXOW"]],
    ["another's signature", () => ({ ...pay(), keys: [bob.payment] }), ["MissingVKeyWitnessesUTXOW"]],
    ["a signature too many", () => ({ ...pay(), keys: [alice.payment, bob.payment] }), []],
    ["a required signer who did not sign", () => ({ ...pay(), fields: { 14: [fromHex(bob.hash)] } }), [
      "MissingVKeyWitnessesUTXOW",
    ]],
    ["a required signer who signed", () => ({
      ...pay(),
      fields: { 14: [fromHex(bob.hash)] },
      keys: [alice.payment, bob.payment],
    }), []],
    ["over 16,384 bytes", (world) => ({
      inputs: Array.from({ length: 460 }, () => world.fund(alice.address)),
      fee: 2n * ada,
    }), ["MaxTxSizeUTxO"]],
    ["a donation to the treasury", () => ({ ...pay(), extra: -5n, fields: { 22: 5 } }), []],
    ["a donation that is not paid", () => ({ ...pay(), fields: { 22: 5 } }), ["ValueNotConservedUTxO"]],
    ["the right treasury", () => ({ ...pay(), fields: { 21: 0 } }), []],
    ["another treasury", () => ({ ...pay(), fields: { 21: 1 } }), ["ConwayTreasuryValueMismatch"]],
  ];
  it.each(cases)("with %s", async (_, draft, expected) => {
    const world = new World();
    expect(await world.failures(draft(world))).toEqual(expected);
  });

  it("is refused with a wrong signature", async () => {
    const world = new World();
    const key = publicKey(alice.payment);
    const witnesses = { 0: [[key, sign(alice.payment, blake2b256(Uint8Array.of(1)))]] };
    expect(await world.failures({ ...pay(), witnesses })).toEqual(["InvalidWitnessesUTXOW"]);
    const zeros: Encodable = [[key, new Uint8Array(64)]];
    expect(await world.failures({ ...pay(), witnesses: { 0: zeros } })).toEqual(["InvalidWitnessesUTXOW"]);
  });

  it("collects all failures", async () => {
    const world = new World();
    const draft = { ...pay(), keys: [], fee: 1_000n, extra: 1n, fields: { 3: 5, 15: 1 } };
    expect(await world.failures(draft)).toEqual([
      "MissingVKeyWitnessesUTXOW",
      "OutsideValidityIntervalUTxO",
      "FeeTooSmallUTxO",
      "ValueNotConservedUTxO",
      "WrongNetworkInTxBody",
    ]);
  });

  it("holds no more than 5,000 bytes of value in an output", async () => {
    const world = new World();
    const many = new Map(Array.from({ length: 141 }, (_, i) => [asset(policy, `${i}`.padStart(32, "0")), 1n] as const));
    const draft: Draft = { mint: many, native: [signedBy(alice)], fee: 2n * ada };
    expect(await world.failures(draft)).toEqual([]);
    const more = new Map([
      ...many,
      ...Array.from({ length: 10 }, (_, i) => [asset(policy, `x${i}`.padStart(32, "0")), 1n] as const),
    ]);
    expect(await world.failures({ ...draft, mint: more })).toEqual(["OutputTooBigUTxO"]);
  });
});

describe("auxiliary data", () => {
  const metadata = new Map<Encodable, Encodable>([[674, new Map([["msg", ["hello"]]])]]);
  const long = (length: number) => new Map<Encodable, Encodable>([[1, "x".repeat(length)]]);
  it.each<[string, Draft, string[]]>([
    ["is accepted with its hash", { auxiliary: metadata }, []],
    ["is refused with another hash", { auxiliary: metadata, fields: { 7: new Uint8Array(32) } }, [
      "ConflictingMetadataHash",
    ]],
    ["is refused without a hash", { auxiliary: metadata, fields: { 7: null } }, ["MissingTxBodyMetadataHash"]],
    ["is missed where there is a hash", { fields: { 7: new Uint8Array(32) } }, ["MissingTxMetadata"]],
    ["may have texts of 64 bytes", { auxiliary: long(64) }, []],
    ["may not have texts of 65 bytes", { auxiliary: long(65) }, ["InvalidMetadata"]],
    ["may not have bytes of 65 bytes", { auxiliary: new Map([[1, new Uint8Array(65)]]) }, ["InvalidMetadata"]],
  ])("%s", async (_, draft, expected) => {
    expect(await new World().failures({ ...pay(), ...draft })).toEqual(expected);
  });
});
