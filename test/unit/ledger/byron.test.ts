/** Byron addresses: payments to them, spends from them, and attacks. */
import { describe, expect, it } from "vitest";
import { as, decode, encode, Encoded, raw } from "#src/cardano/cbor.ts";
import { mainnetParametersAt, MAJORS } from "#src/ledger/parameters.ts";
import { ada, alice, bob, type Draft, output, World } from "../../support/ledger/draft.ts";
import { foundIn } from "../../support/ledger/findings.ts";
import { bootstrapWitness, byronAddress, type ByronParts } from "../../support/chain/byron.ts";

const mine: ByronParts = { key: alice.payment, chainCode: new Uint8Array(32).fill(7) };

/** A transaction with the body of a draft and a Byron witness for it. */
function signed(world: World, draft: Draft, parts: ByronParts): Uint8Array {
  const [body] = as(decode(world.write(draft)), "array").value;
  const witness = bootstrapWitness(parts, raw(body!));
  return encode([new Encoded(raw(body!)), new Map([[2, [witness]]]), true, null]);
}

describe("Byron addresses", () => {
  const spend = (world: World): Draft => ({ inputs: [world.fund(byronAddress(mine))] });

  it("are paid to", async () => {
    const draft = { outputs: [output(byronAddress(mine), 2n * ada)], paid: 2n * ada };
    expect(await new World().failures(draft)).toEqual([]);
  });

  it("are spent from with their own kind of witness", async () => {
    const world = new World();
    expect(await world.failures(signed(world, spend(world), mine))).toEqual([]);
  });

  it("are not spent from without it, nor with the key's ordinary signature", async () => {
    const world = new World();
    expect(await world.failures({ ...spend(world), keys: [] })).toEqual(["MissingVKeyWitnessesUTXOW"]);
    expect(await world.failures(spend(world))).toEqual(["MissingVKeyWitnessesUTXOW"]);
  });

  it("are not spent from by another key, or with other attributes", async () => {
    const world = new World();
    for (const parts of [{ ...mine, key: bob.payment }, { ...mine, attributes: { 1: encode(new Uint8Array(4)) } }]) {
      expect(await world.failures(signed(world, spend(world), parts))).toEqual(["MissingVKeyWitnessesUTXOW"]);
    }
  });

  it("need the chain code of their key, but other signatures may have one of any length", async () => {
    const world = new World();
    const short = { ...mine, chainCode: new Uint8Array(31) };
    expect(await world.failures(signed(world, spend(world), short))).toEqual(["MissingVKeyWitnessesUTXOW"]);
    for (const major of MAJORS) {
      const { world, transaction } = foundIn("bootstrap-chaincode-0-bytes", mainnetParametersAt(major));
      expect(await world.failures(transaction)).toEqual([]);
    }
  });

  it("are not spent from with a signature of something else", async () => {
    const world = new World();
    const [body] = as(decode(world.write(spend(world))), "array").value;
    const witness = bootstrapWitness(mine, Uint8Array.of(0xa0));
    const bytes = encode([new Encoded(raw(body!)), new Map([[2, [witness]]]), true, null]);
    expect(await world.failures(bytes)).toEqual(["InvalidWitnessesUTXOW"]);
  });

  it("have attributes of at most 64 bytes, not counting the network magic", async () => {
    const to = (attributes: Record<number, Uint8Array>) => ({
      outputs: [output(byronAddress({ root: new Uint8Array(28), attributes }), 3n * ada)],
      paid: 3n * ada,
    });
    const world = new World();
    expect(await world.failures(to({ 1: encode(new Uint8Array(64)) }))).toEqual([]);
    expect(await world.failures(to({ 1: encode(new Uint8Array(65)) }))).toEqual(["OutputBootAddrAttrsTooBig"]);
    expect(await world.failures(to({ 7: new Uint8Array(64) }))).toEqual([]);
    expect(await world.failures(to({ 1: encode(new Uint8Array(60)), 7: new Uint8Array(5) }))).toEqual([
      "OutputBootAddrAttrsTooBig",
    ]);
  });
});
