/**
 * Every field of a transaction in every form of its encoding: what the ledger's decoder accepts below decoder version 12,
 * and what it refuses (sources: `src/cardano/conway/encoding.ts`, and cardano-ledger-binary `Decoder.hs` for lists, maps and
 * sets).
 */
import { describe, expect, it } from "vitest";
import { concat, fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import { constr, DataMap, encodeData } from "#src/cardano/data.ts";
import { refKey } from "#src/cardano/output.ts";
import { reapply } from "#src/ledger/validate.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { byronAddress } from "../../support/chain/byron.ts";
import { ada, alice, bob, type Draft, output, reference, signedBy, tagged, World } from "../../support/ledger/draft.ts";
import { oddEncodings, type StyleName } from "../../support/ledger/oddEncodings.ts";
import { agrees, agreesWithThree, agreesWithTwo } from "../../support/plutus/scripts.ts";
import { foundIn } from "../../support/ledger/findings.ts";

const bytes = (length: number, byte = 7) => new Uint8Array(length).fill(byte);
const hash28 = bytes(28);
const hash32 = bytes(32);
const key: Encodable = [0, fromHex(alice.stakeHash)];
const script: Encodable = [1, bytes(28, 9)];
const anchor: Encodable = ["https://example.com", hash32];
const fraction = (above: number, below: number) => tagged(30, [above, below]);
const action = [hash32, 3];
const data = new Encoded(encodeData([constr(1, 5n, bytes(40)), -7n, new DataMap([[1n, 2n], [3n, bytes(0)]])]));

/** Certificates of all kinds of Conway. */
const certificates: readonly Encodable[] = [
  [0, key],
  [1, script],
  [2, key, hash28],
  [
    3,
    hash28,
    hash32,
    1,
    2,
    fraction(1, 3),
    alice.reward,
    [hash28, bytes(28, 8)],
    [[0, 1, bytes(4), bytes(16)], [1, 3000, "a.example.com"], [2, "b.example.com"]],
    ["https://example.com/pool", hash32],
  ],
  [4, hash28, 12],
  [7, key, 2],
  [8, key, 2],
  [9, key, [0, hash28]],
  [10, key, hash28, [2]],
  [11, key, hash28, 2],
  [12, key, [1, hash28], 2],
  [13, key, hash28, [3], 2],
  [14, key, script],
  [15, key, anchor],
  [16, key, 500, anchor],
  [17, key, 500],
  [18, key, anchor],
];

const parameters = new Map<Encodable, Encodable>([
  [0, 44],
  [9, fraction(3, 10)],
  [18, new Map([[0, [1, -2, 3]]])],
  [20, [1, 2]],
  [25, [1, 2, 3, 4, 5].map((part) => fraction(part, 7))],
]);
const proposals: readonly Encodable[] = [
  [0, action, parameters, hash28],
  [1, null, [12, 0]],
  [2, new Map([[alice.reward, 5]]), hash28],
  [3, action],
  [4, action, [script], new Map([[key, 12]]), fraction(2, 3)],
  [5, null, [anchor, hash28]],
  [6],
].map((one) => [1000, alice.reward, one, anchor] as const);

/** Transactions that have each field of the grammar at least once. */
const drafts: Readonly<Record<string, (world: World) => Draft>> = {
  outputs: (world) => ({
    outputs: [
      output(bob.address, 2n * ada, { datum: data, script: [3, agrees] }),
      output(bob.address, 2n * ada, { datumHash: "ab".repeat(32), script: [0, [1, [signedBy(bob), [4, 9]]]] }),
      [fromHex(bob.address), [2n * ada, new Map([[hash28, new Map([[bytes(3), 5]])]])], hash32],
      output(bob.address, 2n * ada, { assets: new Map([["ab".repeat(28) + "00", 2n], ["ab".repeat(28), 1n]]) }),
    ],
    fields: { 13: [reference(world.fund(alice.address))], 16: output(alice.address, ada), 17: 1000 },
  }),
  body: (world) => ({
    inputs: [world.fund(alice.address, 100n * ada, { assets: new Map([["cd".repeat(28), 3n]]) })],
    mint: new Map([["ab".repeat(28) + "aa", 5n], ["cd".repeat(28), -3n]]),
    withdrawals: [[alice.reward, 5n], [bob.reward, 6n]],
    fields: {
      3: 5000,
      7: hash32,
      8: 12,
      11: hash32,
      14: [hash28, bytes(28, 8)],
      15: 0,
      18: [reference(world.fund(bob.address)), reference(world.fund(bob.address))],
      21: 7,
      22: 8,
    },
  }),
  certificates: () => ({ certificates }),
  governance: () => ({
    fields: {
      19: new Map(
        [0, 1, 2, 3, 4].map((kind) => [[kind, hash28], new Map([[action, [1, anchor]], [[hash32, 4], [0, null]]])]),
      ),
      20: proposals,
    },
  }),
  witnesses: () => ({
    native: [[3, 1, [signedBy(alice), [0, hash28], [2, [[5, 8]]]]]],
    plutus: { 1: [agreesWithTwo], 2: [agreesWithThree], 3: [agrees] },
    datums: [data, 5],
    witnesses: {
      2: [[hash32, bytes(64), hash32, encode(new Map())]],
      5: new Map<Encodable, Encodable>([[[0, 0], [data, [1, 2]]], [[1, 0], [bytes(3), [1, 2]]]]),
    },
    auxiliary: tagged(
      259,
      new Map<Encodable, Encodable>([
        [0, new Map<Encodable, Encodable>([[1, ["text", bytes(8), new Map([[1, -2]])]], [2, ""]])],
        [1, [signedBy(alice)]],
        [2, [agreesWithTwo]],
        [3, [agreesWithThree]],
        [4, [agrees]],
      ]),
    ),
  }),
  "redeemers as a list": () => ({ witnesses: { 5: [[0, 0, data, [1, 1]]] } }),
  "auxiliary data of Allegra": () => ({ auxiliary: [new Map([[1, ["text", bytes(8)]]]), [signedBy(alice)]] }),
  "auxiliary data of Shelley": () => ({ auxiliary: new Map([[1, ["text", bytes(8)]]]) }),
};

type Place = "data" | "metadata" | "set" | "part of a fraction" | "other";

/** Places with rules of their own, by path. */
const PLACES: readonly (readonly [Place, RegExp])[] = [
  ["data", /^\/1\/4\/\d/], // datums
  ["data", /^\/1\/5\/\d+\/data/], // arguments of redeemers
  ["data", /^\/0\/1\/\d+\/2\/1\/embedded/], // inline datums
  ["metadata", /^\/3\/(metadata|tag 259\/0)\/\d/],
  ["part of a fraction", /\/tag 30\/[01]$/],
  ["set", /^\/0\/(0|4|13|14|18|20)$/],
  ["set", /^\/1\/[0-467]$/],
  ["set", /^\/0\/4\/\d+\/7$/], // owners of a pool
  ["set", /^\/0\/20\/4\/2\/2$/], // removed members of the committee
];

/** Paths of what stands at other places in some drafts, and their names in `PLACES`. */
const NAMED: Readonly<Record<string, readonly [RegExp, string]>> = {
  witnesses: [/^\/1\/5\/(\d+)\/0(?=\/|$)/, "/1/5/$1/data"],
  "redeemers as a list": [/^\/1\/5\/(\d+)\/2(?=\/|$)/, "/1/5/$1/data"],
  "auxiliary data of Allegra": [/^\/3\/0\//, "/3/metadata/"],
  "auxiliary data of Shelley": [/^\/3\//, "/3/metadata/"],
};

function placeOf(draft: string, path: string): Place {
  const [from, to] = NAMED[draft] ?? [/^$/, ""];
  const named = path.replace(from, to);
  return PLACES.find(([, place]) => place.test(named))?.[0] ?? "other";
}

/** Places at which the decoder accepts a style. */
const ACCEPTED: Readonly<Record<StyleName, readonly Place[] | "everywhere">> = {
  indefinite: "everywhere",
  definite: "everywhere",
  "1-byte head": "everywhere",
  "8-byte head": "everywhere",
  reversed: "everywhere",
  "no set tag": "everywhere",
  "one piece": ["data", "metadata"],
  "empty pieces": ["data", "metadata"],
  "no pieces": ["data", "metadata"],
  "two pieces": ["data", "metadata"],
  "big integer": ["data", "part of a fraction"],
  "big integer with zeros": ["data", "part of a fraction"],
  "set tag": ["set"],
  "constructor by number": ["data"],
  "constructor by number, indefinite": ["data"],
};

describe.each(Object.entries(drafts))("%s", (name, draft) => {
  const world = new World();
  const written = world.write(draft(world));

  it("are read", () => {
    expect(readTransaction(written)).toMatchObject({ ok: true });
  });

  it("are accepted in the encodings that the ledger's decoder accepts, and refused in all others", () => {
    const wrong: string[] = [];
    const counts = { accepted: 0, refused: 0 };
    for (const { name: odd, path, style, bytes } of oddEncodings(written)) {
      if (path === undefined) continue;
      const places = ACCEPTED[style];
      const expected = places === "everywhere" || places.includes(placeOf(name, path));
      counts[expected ? "accepted" : "refused"]++;
      const read = readTransaction(bytes);
      if (read.ok !== expected) wrong.push(`${odd}: ${read.ok ? "accepted" : read.error.message}`);
    }
    expect(wrong).toEqual([]);
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(20);
  });
});

describe("strings in chunks", () => {
  const chunked = (content: Uint8Array) => concat(Uint8Array.of(0x5f), encode(content), Uint8Array.of(0xff));
  const paying = (address: Uint8Array): Draft => ({ outputs: [[address, 2n * ada]], paid: 2n * ada });

  it("are refused in the address of Byron in an output", async () => {
    const address = fromHex(byronAddress({ root: bytes(28) }));
    const payload = address.subarray(3, address.indexOf(0x1a, 3 + 30));
    const odd = concat(
      Uint8Array.of(0x82, 0xd8, 24),
      chunked(payload.subarray(2)),
      address.subarray(3 + payload.length),
    );
    expect(payload.subarray(0, 1)).toEqual(Uint8Array.of(0x58));
    expect(await new World().failures(paying(address))).toEqual([]);
    expect(await new World().failures(paying(odd))).toEqual(["DeserialiseFailure"]);
  });

  it("are refused however deep in a native script they are", async () => {
    const nested = (key: Uint8Array) =>
      new Encoded(
        concat(...new Array<Uint8Array>(400).fill(Uint8Array.of(0x82, 1, 0x81)), Uint8Array.of(0x82, 0), key),
      );
    const key = fromHex(alice.hash);
    const native = (key: Uint8Array): Draft => ({
      outputs: [output(bob.address, 4n * ada, { script: [0, nested(key)] })],
    });
    expect(readTransaction(new World().write(native(encode(key))))).toMatchObject({ ok: true });
    expect(await new World().failures(native(chunked(key)))).toEqual(["DeserialiseFailure"]);
  });

  it("were accepted by earlier releases: what a chain holds of them is read and applied", async () => {
    const { world, transaction } = foundIn("indefinite-bytes-txid");
    expect(await world.failures(transaction)).toEqual(["DeserialiseFailure"]);
    const { spent, fee } = await reapply(world.state, transaction);
    expect([spent.map(({ ref }) => refKey(ref)), fee]).toEqual([[...world.outputs.keys()], 400_000n]);
  });
});

describe("fractions", () => {
  it.each(
    [
      [[2, 4], "1/2"],
      [[-1, -2], "1/2"],
      [[0, 9], "0/1"],
      [[1n << 70n, 1n << 71n], "1/2"],
      [[1, 0], undefined],
      [[-1, 2], undefined],
      [[3, 2], undefined],
      [[1, 1n << 64n], undefined],
    ] as const,
  )("of %s are %s", (parts, expected) => {
    const world = new World();
    const pool = [3, hash28, hash32, 1, 2, tagged(30, parts), alice.reward, [], [], null];
    const read = readTransaction(world.write({ certificates: [pool] }));
    const [certificate] = read.ok ? read.value.body.certificates : [];
    const margin = certificate?.kind === "register pool" ? certificate.margin : undefined;
    expect(margin && `${margin.numerator}/${margin.denominator}`).toBe(expected);
  });
});
