/**
 * Transactions of 16 kB that cost as much as possible to refuse. Anybody can submit them, repeatedly and for free; the
 * outputs that they refer to are in the ledger, which costs a payment once.
 */
import { concat, fromHex } from "#src/base/bytes.ts";
import { decode, type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { type Output, readOutput, refKey } from "#src/cardano/output.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { alice, atKey, atScript, World } from "./draft.ts";
import { agrees, plutusHash } from "../plutus/scripts.ts";

/** A transaction that is costly to refuse. */
export interface CostlyTransaction {
  readonly name: string;
  readonly bytes: Uint8Array;
}

type Fields = Readonly<Record<number, Encodable>>;

/** Bytes of a transaction without its filler, at most. */
const FRAME = 400;
const CAPACITY = mainnetParameters.maxTxSize - FRAME;

/** `length` bytes that are distinct for each `i`. */
function numbered(i: number, length: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(4, length));
  new DataView(bytes.buffer).setUint32(0, i);
  return bytes.subarray(Math.max(0, 4 - length));
}

/** As many elements as fit into a transaction. */
function filling(made: (i: number) => Encodable): Encoded[] {
  const elements: Encoded[] = [];
  for (let size = 0;;) {
    const element = encode(made(elements.length));
    size += element.length;
    if (size > CAPACITY) return elements;
    elements.push(new Encoded(element));
  }
}

const fieldsOf = (record: Fields) =>
  new Map(Object.entries(record).map(([key, value]) => [Number(key), value] as const));
const key = (i: number): Encodable => [0, numbered(i, 28)];
const rewardAccount = (i: number) => concat(Uint8Array.of(0xe0), numbered(i, 28));
const nested = (depth: number) => concat(new Uint8Array(depth).fill(0x81), Uint8Array.of(0));
/** A Plutus V3 script of about this many bytes: `(lam x (con integer …))`. */
function scriptOf(length: number): Uint8Array {
  // lambda, constant, type list [integer] = 1 0000 0; then a natural in groups of seven bits, all with the continuation
  // bit but the last
  const digits = "0010" + "0100" + "100000" + "10000001".repeat(length) + "00000001";
  const padded = digits + "0".repeat(7 - digits.length % 8) + "1";
  return encode(concat(Uint8Array.of(1, 1, 0), Uint8Array.from(padded.match(/.{8}/g)!, (byte) => parseInt(byte, 2))));
}

/** Value with as many assets as an output can hold: names of three bytes. */
function fullValue(i: number): Encodable {
  const names = Array.from({ length: 980 }, (_, j) => [numbered(i * 1_000 + j, 3), 1n] as const);
  return [25_000_000n, new Map([[numbered(7, 28), new Map(names)]])];
}

/**
 * All of them, and a ledger that holds the outputs that they refer to. Of one kind, `different` outputs are different, and
 * the others are like these.
 */
export function costlyTransactions(
  different = Infinity,
): { readonly world: World; readonly transactions: readonly CostlyTransaction[] } {
  const world = new World();
  const own = world.fund(alice.address);
  const input: Encodable = [fromHex(own.ref.txHash), own.ref.index];
  let funded = 1_000_000;
  /** References to outputs that are added to the ledger, as many as fit into a transaction. */
  const held = (made: (i: number) => Encodable): Encodable[] => {
    const first = funded;
    const refs = filling((i) => [numbered(first + i, 32), 0]);
    funded += refs.length;
    const outputs: Output[] = [];
    for (let i = 0; i < refs.length; i++) {
      const output = outputs[i % different] ?? readOutput(decode(encode(made(i))));
      outputs.push(output);
      world.outputs.set(refKey({ txHash: numberedHex(first + i), index: 0 }), output);
    }
    return refs;
  };
  const address = fromHex(alice.address);
  const short = fromHex(atKey(alice.hash));
  const plain = [[address, 2_000_000n]];
  const make = (name: string, body: Fields, witnesses: Fields = {}, auxiliary: Encodable = null): CostlyTransaction => {
    const whole = encode([
      fieldsOf({ 0: [input], 1: plain, 2: 5_000_000n, ...body }),
      fieldsOf(witnesses),
      true,
      auxiliary,
    ]);
    if (whole.length > mainnetParameters.maxTxSize) throw new Error(`${name} has ${whole.length} bytes`);
    return { name, bytes: whole };
  };
  const sixty = (i: number): Encodable => [
    address,
    [
      5_000_000n,
      new Map(Array.from({ length: 60 }, (_, j) => [numbered(i * 60 + j, 28), new Map([[numbered(j, 28), 1n]])])),
    ],
  ];
  const guarded = atScript(plutusHash(3, agrees));
  const full = held((i) => [address, fullValue(i)]);
  const transactions = [
    make("inputs of 60 assets", { 0: held(sixty) }),
    make("inputs of 980 assets", { 0: full }),
    make("collateral of 980 assets", { 13: full }, { 5: [[0, 0, 0, [0, 0]]] }),
    make("inputs of scripts", { 0: held(() => [fromHex(guarded), 5_000_000n]) }, { 7: [agrees] }),
    make("reference inputs with scripts of 16 kB", {
      18: held((i) =>
        new Map<Encodable, Encodable>([[0, address], [1, 70_000_000n], [
          3,
          new Tagged(24, encode([3, encode(concat(numbered(i, 4), new Uint8Array(16_000)))])),
        ]])
      ),
    }),
    make("inputs that are not there", { 0: filling((i) => [numbered(i, 32), 1]) }),
    make("signatures", {}, { 0: filling((i) => [numbered(i, 32), numbered(i, 64)]) }),
    make("Byron signatures", {}, {
      2: filling((i) => [numbered(i, 32), numbered(i, 64), numbered(i, 32), Uint8Array.of(0xa0)]),
    }),
    make("registrations", { 4: filling((i) => [0, key(i)]) }),
    make("delegations", { 4: filling((i) => [2, key(i), numbered(i, 28)]) }),
    make("DReps", { 4: filling((i) => [16, key(i), 500_000_000n, null]) }),
    make("retirements", { 4: filling((i) => [4, numbered(i, 28), 12]) }),
    make("pools", {
      4: filling((i) => [
        ...[3, numbered(i, 28), numbered(i, 32), 1, 1, new Tagged(30, [0, 1]), rewardAccount(i), [], [], null],
      ]),
    }),
    make("withdrawals", { 5: new Map(filling((i) => rewardAccount(i)).slice(0, 500).map((one) => [one, 0])) }),
    make("required signers", { 14: filling((i) => numbered(i, 28)) }),
    make("outputs", { 1: filling(() => [short, 0]) }),
    make("outputs of many assets", {
      1: filling((
        i,
      ) => [address, [
        0,
        new Map([[numbered(7, 28), new Map(Array.from({ length: 60 }, (_, j) => [numbered(i * 60 + j, 3), 1n]))]]),
      ]]),
    }),
    make("a minted policy for each asset", {
      9: new Map(
        filling((i) => numbered(i, 28)).slice(0, 450).map((policy) => [policy, new Map([[new Uint8Array(), 1]])]),
      ),
    }),
    make("minted assets", {
      9: new Map([[
        numbered(1, 28),
        new Map(filling((i) => [numbered(i, 3)]).slice(0, 2_800).map((_, i) => [numbered(i, 3), 1])),
      ]]),
    }),
    make("redeemers", {}, { 5: filling((i) => [0, i, 0, [0, 0]]) }),
    make("redeemers of one pointer", {}, { 5: filling(() => [0, 0, 0, [0, 0]]) }),
    make("datums", {}, { 4: filling((i) => i) }),
    make("datums of one kind", {}, { 4: filling(() => 0) }),
    make("a great datum", {}, { 4: [filling(() => 0)] }),
    make("nested data", {}, { 4: filling(() => new Encoded(nested(200))) }),
    make("outputs with nested datums", {
      1: filling(() => new Map<Encodable, Encodable>([[0, address], [1, 0], [2, [1, new Tagged(24, nested(200))]]])),
    }),
    make("native scripts", {}, { 1: filling((i) => [0, numbered(i, 28)]) }),
    make("a native script of many", {}, { 1: [[3, 1, filling((i) => [0, numbered(i, 28)])]] }),
    make("nested native scripts", {}, { 1: filling(() => new Encoded(nativeNest(120))) }),
    make("scripts of nothing", {}, { 7: filling((i) => numbered(i, 3)) }),
    make("a script of one number", {}, { 7: [scriptOf(15_500)] }),
    make("an output with a script of one number", {
      1: [new Map<Encodable, Encodable>([[0, address], [1, 0], [3, new Tagged(24, encode([3, scriptOf(15_500)]))]])],
    }),
    make("votes", {
      19: new Map(
        filling((i) => [2, numbered(i, 28)]).slice(0, 200).map((
          voter,
          i,
        ) => [voter, new Map([[[numbered(i, 32), 0], [1, null]]])]),
      ),
    }),
    make("committee voters", {
      19: new Map(
        filling((i) => [0, numbered(i, 28)]).slice(0, 200).map((
          voter,
          i,
        ) => [voter, new Map([[[numbered(i, 32), 0], [1, null]]])]),
      ),
    }),
    make("proposals", {
      20: filling((i) => [0, rewardAccount(i), [6], ["", numbered(i, 32)]]),
    }),
    make(
      "metadata labels",
      {},
      {},
      new Map(filling((i) => i).map((label) => [label, 0]).slice(0, 3_900) as [Encodable, Encodable][]),
    ),
    make("metadata of nothing", {}, {}, new Map([[1, filling(() => 0)]])),
    make("nested metadata", {}, {}, new Map([[1, filling(() => new Encoded(nested(200)))]])),
    make("a number of 16 kB", {}, { 4: [new Tagged(2, new Encoded(chunks(15_000)))] }),
  ];
  return { world, transactions };
}

function numberedHex(i: number): string {
  return i.toString(16).padStart(8, "0") + "00".repeat(28);
}

/** `[1, [[1, [ … ]]]]`. */
function nativeNest(depth: number): Uint8Array {
  let script: Uint8Array = encode([1, []]);
  for (let i = 0; i < depth; i++) script = encode([1, [new Encoded(script)]]);
  return script;
}

/** Bytes in chunks of 64. */
function chunks(length: number): Uint8Array {
  const pieces = Array.from({ length: Math.floor(length / 64) }, () => encode(new Uint8Array(64).fill(255)));
  return concat(Uint8Array.of(0x5f), ...pieces, Uint8Array.of(0xff));
}
