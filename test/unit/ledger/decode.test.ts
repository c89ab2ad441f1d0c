/** What the ledger's decoder refuses before any rule runs. */
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded, Indefinite } from "#src/cardano/cbor.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { ada, alice, bob, type Draft, output, reference, signedBy, tagged, World } from "../../support/ledger/draft.ts";
import { agrees } from "../../support/plutus/scripts.ts";

const map = (...entries: [Encodable, Encodable][]) => new Encoded(encode(new Map(entries)));
/** A map as given, including duplicate keys. */
const pairs = (...entries: [Encodable, Encodable][]) =>
  new Encoded(Uint8Array.from([0xa0 | entries.length, ...entries.flatMap(([k, v]) => [...encode(k), ...encode(v)])]));
const policy = new Uint8Array(28);
const name = Uint8Array.of(1);
const account = alice.reward;
const of: Encodable = [0, fromHex(alice.stakeHash)];
const data = (value: Encodable): Draft => ({ datums: [value] });
const bytes = (length: number) => new Uint8Array(length);
/** Lists within lists. */
const nested = (levels: number) => new Encoded(Uint8Array.from([...new Uint8Array(levels).fill(0x81), 0x80]));
/** A native script within others, each of which requires all of its parts. */
const nestedNative = (levels: number) =>
  new Encoded(Uint8Array.from([...Array.from({ length: levels }, () => [0x82, 1, 0x81]).flat(), ...encode([4, 0])]));
const chunked = (...lengths: number[]) =>
  new Encoded(Uint8Array.from([0x5f, ...lengths.flatMap((length) => [...encode(bytes(length))]), 0xff]));
/** A pool's registration, with other elements than usual. */
const pool = (other: { readonly [element: number]: Encodable }): Draft => {
  const usual: Encodable[] = [3, bytes(28), bytes(32), 1, 1, tagged(30, [1, 1]), account, [], [], null];
  return { certificates: [usual.map((element, index) => other[index] ?? element)] };
};
/** An address with a stake pointer of these bytes. */
const pointing = (...pointer: number[]) => Uint8Array.of(0x40, ...bytes(28), ...pointer);
/** Groups of seven bits: 2^32 - 1 and 2^16 - 1. */
const [slots32, indices16] = [[0x8f, 0xff, 0xff, 0xff, 0x7f], [0x83, 0xff, 0x7f]] as const;
const paying = (address: Uint8Array, value: Encodable = 2n * ada): Draft => ({ outputs: [[address, value]] });

describe("the decoder accepts", () => {
  const world = new World();
  const twice = world.fund(alice.address);
  it.each<[string, Draft]>([
    ["a payment", {}],
    ["sets under their tag", { inputs: [twice], fields: { 0: tagged(258, [reference(twice)]) } }],
    ["lists of indefinite length", { inputs: [twice], fields: { 0: new Indefinite([reference(twice)]) } }],
    ["outputs as before Babbage", paying(fromHex(alice.address))],
    ["an output at the greatest pointer", paying(pointing(...slots32, ...indices16, ...indices16))],
    ["an output at a pointer with leading zeros", paying(pointing(0x80, 0x80, 0x80, 0x80, 1, 0x80, 0x80, 2, 3))],
    ["native scripts that come twice", { witnesses: { 1: [signedBy(alice), signedBy(alice)] } }],
    ["auxiliary data as Allegra has it", { auxiliary: [map([1, "x"]), [signedBy(alice)]] }],
    ["auxiliary data as Alonzo has it", { auxiliary: tagged(259, map([0, map([1, "x"])], [4, [agrees]])) }],
    ["data in chunks of 64 bytes", data(chunked(64, 64, 3))],
    ["data under every tag of constructors", data([tagged(121, []), tagged(1400, [1]), tagged(102, [999, [2]])])],
    ["data as deep as a transaction is long", data(nested(12_000))],
    ["an inline datum as deep", {
      outputs: [map([0, fromHex(alice.address)], [1, 2n * ada], [2, [
        1,
        tagged(24, encode(nested(6_000))),
      ]])],
    }],
    ["native scripts as deep", { native: [nestedNative(5_000)] }],
    ["reference scripts as deep", { outputs: [output(bob.address, 2n * ada, { script: [0, nestedNative(5_000)] })] }],
    ["metadata as deep", { auxiliary: map([1, nested(16_000)]) }],
    ["metadata in lists and maps with a break", {
      auxiliary: map([1, new Indefinite([[], new Encoded(Uint8Array.of(0xbf, 1, 0x80, 0x9f, 0xff, 2, 0xff)), "x"])]),
    }],
    ["redeemers as a list", { witnesses: { 5: [[0, 0, 42, [1, 1]]] } }],
    ["relays of every kind", pool({ 8: [[0, 1, bytes(4), bytes(16)], [1, null, "a"], [2, "b"]] })],
  ])("%s", (_, draft) => {
    expect(readTransaction(world.write(draft))).toMatchObject({ ok: true });
  });
});

describe("the decoder refuses", () => {
  const world = new World();
  const twice = world.fund(alice.address);
  it.each<[string, Draft]>([
    ["an input twice", { inputs: [twice, twice] }],
    ["collateral twice", { fields: { 13: [reference(twice), reference(twice)] } }],
    ["a reference input twice", { fields: { 18: [reference(twice), reference(twice)] } }],
    ["a required signer twice", { fields: { 14: [bytes(28), bytes(28)] } }],
    ["a certificate twice", { certificates: [[0, of], [0, of]] }],
    ["a Plutus script twice", { plutus: { 3: [agrees, agrees] } }],
    ["a field of the body twice", { fields: { 15: new Encoded(Uint8Array.of(0, 15, 0)) } }],
    ["an unknown field of the body", { fields: { 6: 0 } }],
    ["an unknown field of the witness set", { witnesses: { 8: [1] } }],
    ["a body without a fee", { fields: { 2: null } }],
    ["a body without outputs", { fields: { 1: null } }],
    ["no certificates", { certificates: [] }],
    ["no withdrawals", { withdrawals: [] }],
    ["no collateral", { fields: { 13: [] } }],
    ["no required signers", { fields: { 14: [] } }],
    ["no reference inputs", { fields: { 18: [] } }],
    ["no votes", { fields: { 19: map() } }],
    ["no proposals", { fields: { 20: [] } }],
    ["a donation of nothing", { fields: { 22: 0 } }],
    ["no signatures in a list of them", { witnesses: { 0: [] } }],
    ["no redeemers in a map of them", { witnesses: { 5: map() } }],
    ["no datums in a list of them", { witnesses: { 4: [] } }],
    ["a redeemer twice", { witnesses: { 5: pairs([[0, 0], [1, [1, 1]]], [[0, 0], [1, [1, 1]]]) } }],
    ["a redeemer for something unknown", { witnesses: { 5: map([[6, 0], [1, [1, 1]]]) } }],
    ["units of more than 63 bits", { witnesses: { 5: map([[0, 0], [1, [1n << 63n, 1]]]) } }],
    ["nothing minted", { fields: { 9: map() } }],
    ["a policy that mints nothing", { fields: { 9: map([policy, map()]) } }],
    ["zero minted", { fields: { 9: map([policy, map([name, 0])]) } }],
    ["more minted than 63 bits", { fields: { 9: map([policy, map([name, 1n << 63n])]) } }],
    ["a policy minted twice", { fields: { 9: pairs([policy, map([name, 1])], [policy, map([name, 1])]) } }],
    ["an asset minted twice", { fields: { 9: map([policy, pairs([name, 1], [name, 1])]) } }],
    ["a policy of 27 bytes", { fields: { 9: map([bytes(27), map([name, 1])]) } }],
    ["an asset name of 33 bytes", { fields: { 9: map([policy, map([bytes(33), 1])]) } }],
    ["a withdrawal twice", { fields: { 5: pairs([account, 1], [account, 2]) } }],
    ["a withdrawal from a payment address", { fields: { 5: map([fromHex(alice.address), 1]) } }],
    ["an output with zero of an asset", paying(fromHex(alice.address), [2n * ada, map([policy, map([name, 0])])])],
    ["an output with less than nothing", paying(fromHex(alice.address), -1)],
    ["an output with more than 64 bits", paying(fromHex(alice.address), 1n << 64n)],
    ["an output at a reward account", paying(account)],
    ["an output at an address that is cut short", paying(fromHex(alice.address).subarray(0, 56))],
    ["an output at an address with a byte too many", paying(Uint8Array.of(...fromHex(alice.address), 0))],
    ["an output at no address", paying(bytes(0))],
    ["an output at a pointer to a slot of over 32 bits", paying(pointing(0x90, 0x80, 0x80, 0x80, 0, 2, 3))],
    ["an output at a pointer to a transaction beyond 16 bits", paying(pointing(1, 0x84, 0x80, 0, 3))],
    ["an output at a pointer to a certificate beyond 16 bits", paying(pointing(1, 2, 0x84, 0x80, 0))],
    ["an output at a pointer with too many leading zeros", paying(pointing(1, 0x80, 0x80, 0x80, 2, 3))],
    ["an output with an unknown field", { outputs: [map([0, fromHex(alice.address)], [1, 2n * ada], [4, 0])] }],
    ["an output with a datum hash of 31 bytes", { outputs: [[fromHex(alice.address), 2n * ada, bytes(31)]] }],
    ["an output with bytes for a datum", {
      outputs: [map([0, fromHex(alice.address)], [1, 2n * ada], [2, [1, bytes(3)]])],
    }],
    ["an output with a datum that is none", { outputs: [output(bob.address, 2n * ada, { datum: "text" })] }],
    ["an output with a script of an unknown language", {
      outputs: [output(bob.address, 2n * ada, { script: [4, agrees] })],
    }],
    ["a reward address for an account that has a byte too many", {
      fields: { 5: map([Uint8Array.of(...account, 0), 1]) },
    }],
    ["a network that does not exist", { fields: { 15: 2 } }],
    ["a hash of 31 bytes", { fields: { 11: bytes(31) } }],
    ["data of 65 bytes in one chunk", data(bytes(65))],
    ["data with a chunk of 65 bytes", data(chunked(65))],
    ["a number of 65 bytes in one chunk", data(new Encoded(Uint8Array.of(0xc2, ...encode(bytes(65)))))],
    ["data under a tag that is no constructor", data(tagged(120, []))],
    ["text as data", data("x")],
    ["a native script of an unknown kind", { native: [[6, 1]] }],
    ["a native script of a part too many", { native: [[4, 1, 1]] }],
    ["a native script that is cut short", { native: [[3, 1]] }],
    ["a native script with a part that is none", { native: [[1, [[1, [[0, "x"]]]]]] }],
    ["a native script that requires more than 63 bits of parts", { native: [[3, 1n << 63n, []]] }],
    ["a native script from a slot that is a big number", { native: [[4, tagged(2, Uint8Array.of(7))]] }],
    ["a native script for a key hash of 27 bytes", { native: [[0, bytes(27)]] }],
    ["a key of 31 bytes", { witnesses: { 0: [[bytes(31), bytes(64)]] } }],
    ["a signature of 63 bytes", { witnesses: { 0: [[bytes(32), bytes(63)]] } }],
    ["a certificate of the era of genesis keys", { certificates: [[5, bytes(28), bytes(28), bytes(32)]] }],
    ["a certificate that is too long", { certificates: [[0, of, 1]] }],
    ["a pool whose margin is over one", pool({ 5: tagged(30, [2, 1]) })],
    ["a pool whose margin is a share of nothing", pool({ 5: tagged(30, [0, 0]) })],
    ["a relay with an address of 5 bytes", pool({ 8: [[0, 1, bytes(5), null]] })],
    ["a relay at a port over 65,535", pool({ 8: [[1, 65_536, "a"]] })],
    ["a relay with a name of 129 bytes", pool({ 8: [[2, "a".repeat(129)]] })],
    ["a pool of 56 bytes", pool({ 1: bytes(56) })],
    ["a pool with an owner twice", pool({ 7: [bytes(28), bytes(28)] })],
    ["a pool whose metadata URL has 129 bytes", pool({ 9: ["é".repeat(64) + "a", bytes(32)] })],
    ["a delegation to a pool of 27 bytes", { certificates: [[2, of, bytes(27)]] }],
    ["a delegation to a representative of 29 bytes", { certificates: [[9, of, [0, bytes(29)]]] }],
    ["a registration of 32 bytes", { certificates: [[0, [0, bytes(32)]]] }],
    ["a deposit below nothing", { certificates: [[7, of, -1]] }],
    ["a deposit that is a big number", { certificates: [[7, of, tagged(2, Uint8Array.of(7))]] }],
    ["an anchor with a hash of 28 bytes", { certificates: [[18, of, ["a", bytes(28)]]] }],
    ["metadata under a label that is no number", { auxiliary: map(["x", "y"]) }],
    ["metadata with a float", { auxiliary: map([1, new Encoded(Uint8Array.of(0xf9, 0, 0))]) }],
    ["metadata with a float deep inside", {
      auxiliary: map([1, new Encoded(Uint8Array.of(...new Uint8Array(3_000).fill(0x81), 0xf9, 0, 0))]),
    }],
    ["metadata with a map that lacks a value", { auxiliary: map([1, new Encoded(Uint8Array.of(0xbf, 1, 0xff))]) }],
    ["a label twice", { auxiliary: pairs([1, "x"], [1, "y"]) }],
    ["a vote of an unknown kind", { fields: { 19: map([[2, bytes(28)], map([[bytes(32), 0], [3, null]])]) } }],
  ])("%s", async (_, draft) => {
    const written = world.write(draft);
    expect(readTransaction(written)).toMatchObject({ ok: false, error: { code: "undecodable" } });
    expect(await world.failures(written)).toEqual(["DeserialiseFailure"]);
  });

  it("bytes after the transaction, a part of it, and other bytes", () => {
    const whole = world.write({});
    expect(readTransaction(whole).ok).toBe(true);
    for (
      const other of [
        Uint8Array.of(...whole, 0),
        whole.subarray(0, whole.length - 1),
        new Uint8Array(0),
        encode([1, 2, 3, 4]),
        encode("transaction"),
      ]
    ) expect(readTransaction(other)).toMatchObject({ ok: false });
  });

  it("any transaction that is truncated or has one bit flipped, or decodes it without an exception", () => {
    const whole = world.write({ certificates: [[0, of]], datums: [[1, 2]], mint: new Map([["ab".repeat(28), 1n]]) });
    for (let at = 0; at < whole.length; at++) {
      expect(readTransaction(whole.subarray(0, at)).ok).toBe(false);
      const flipped = whole.slice();
      flipped[at]! ^= 1 << (at % 8);
      expect(typeof readTransaction(flipped).ok).toBe("boolean");
    }
  });
});

describe("a transaction's hash", () => {
  it("is over its body's own bytes, in any encoding", () => {
    const world = new World();
    const draft = { inputs: [world.fund(alice.address)] };
    const plain = readTransaction(world.write(draft));
    const odd = readTransaction(world.write({ ...draft, fields: { 0: new Indefinite(draft.inputs.map(reference)) } }));
    if (!plain.ok || !odd.ok) throw new Error("undecodable");
    expect(odd.value.body.inputs).toEqual(plain.value.body.inputs);
    expect(odd.value.hash).not.toBe(plain.value.hash);
  });
});
