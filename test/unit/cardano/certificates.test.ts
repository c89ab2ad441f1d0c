import { describe, expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { CborError, type Encodable, encode, Encoded, Indefinite, Tagged } from "#src/cardano/cbor.ts";
import { type Certificate, walkCertificate } from "#src/cardano/certificates.ts";
import { Walk } from "#src/cardano/walk.ts";

const hex = (byte: string, length = 28) => byte.repeat(length);
const bytes = (byte: string, length = 28) => fromHex(hex(byte, length));
const key: Encodable = [0, bytes("aa")];
const script: Encodable = [1, bytes("bb")];
const theKey = { kind: "key", hash: hex("aa") } as const;
const theScript = { kind: "script", hash: hex("bb") } as const;
const anchor: Encodable = ["https://example.org", bytes("cc", 32)];
const theAnchor = { url: "https://example.org", hash: hex("cc", 32) };

const relays: Encodable = [
  [0, 3001, bytes("01", 4), null],
  [0, null, null, bytes("02", 16)],
  [1, 3002, "relay.example.org"],
  [1, null, "relay.example.org"],
  [2, "_cardano._tcp.example.org"],
];
const pool = (owners: Encodable, metadata: Encodable): Encodable => [
  3,
  bytes("01"),
  bytes("02", 32),
  1_000,
  340_000_000,
  new Tagged(30, [1, 20]),
  bytes("e0", 29),
  owners,
  relays,
  metadata,
];
const thePool = {
  kind: "register pool",
  pool: hex("01"),
  vrf: hex("02", 32),
  pledge: 1_000n,
  cost: 340_000_000n,
  margin: { numerator: 1n, denominator: 20n },
  account: hex("e0", 29),
  owners: [hex("03"), hex("04")],
  relays: [
    { kind: "address", port: 3001, ipv4: hex("01", 4) },
    { kind: "address", ipv6: hex("02", 16) },
    { kind: "host", port: 3002, name: "relay.example.org" },
    { kind: "host", name: "relay.example.org" },
    { kind: "service", name: "_cardano._tcp.example.org" },
  ],
} as const;
const owners = [bytes("03"), bytes("04")];

/** Certificates that each era's CDDL allows, and their decoded form. */
const KINDS: readonly (readonly [Encodable, Certificate])[] = [
  [[0, key], { kind: "register", credential: theKey }],
  [[1, script], { kind: "unregister", credential: theScript }],
  [[2, key, bytes("01")], { kind: "delegate", credential: theKey, to: { pool: hex("01") } }],
  [pool(owners, null), thePool],
  [pool(new Tagged(258, owners), anchor), { ...thePool, metadata: theAnchor }],
  [pool(new Indefinite(owners), anchor), { ...thePool, metadata: theAnchor }],
  [[4, bytes("01"), 500], { kind: "retire pool", pool: hex("01"), epoch: 500n }],
  [
    [5, bytes("01"), bytes("02"), bytes("03", 32)],
    { kind: "delegate genesis", genesis: hex("01"), delegate: hex("02"), vrf: hex("03", 32) },
  ],
  [
    [6, [0, new Map([[key, 5], [script, -6]])]],
    {
      kind: "move rewards",
      from: "reserves",
      to: [{ credential: theKey, amount: 5n }, { credential: theScript, amount: -6n }],
    },
  ],
  [[6, [1, 1n << 60n]], { kind: "move rewards", from: "treasury", to: 1n << 60n }],
  [[7, key, 2_000_000], { kind: "register", credential: theKey, deposit: 2_000_000n }],
  [[8, script, 2_000_000], { kind: "unregister", credential: theScript, refund: 2_000_000n }],
  [[9, key, [2]], { kind: "delegate", credential: theKey, to: { drep: { kind: "abstain" } } }],
  [[9, key, [3]], { kind: "delegate", credential: theKey, to: { drep: { kind: "no confidence" } } }],
  [[9, key, script], { kind: "delegate", credential: theKey, to: { drep: theScript } }],
  [
    [10, key, bytes("01"), key],
    { kind: "delegate", credential: theKey, to: { pool: hex("01"), drep: theKey } },
  ],
  [[11, key, bytes("01"), 7], { kind: "register", credential: theKey, deposit: 7n, to: { pool: hex("01") } }],
  [[12, key, [2], 7], { kind: "register", credential: theKey, deposit: 7n, to: { drep: { kind: "abstain" } } }],
  [
    [13, script, bytes("01"), key, 7],
    { kind: "register", credential: theScript, deposit: 7n, to: { pool: hex("01"), drep: theKey } },
  ],
  [[14, key, script], { kind: "authorize", cold: theKey, hot: theScript }],
  [[15, key, null], { kind: "resign", cold: theKey }],
  [[15, key, anchor], { kind: "resign", cold: theKey, anchor: theAnchor }],
  [[16, key, 500, anchor], { kind: "register drep", credential: theKey, deposit: 500n, anchor: theAnchor }],
  [[16, key, 500, null], { kind: "register drep", credential: theKey, deposit: 500n }],
  [[17, script, 500], { kind: "unregister drep", credential: theScript, refund: 500n }],
  [[18, key, anchor], { kind: "update drep", credential: theKey, anchor: theAnchor }],
];

const read = (item: Encodable) => {
  const walk = new Walk(encode(item));
  const certificate = walkCertificate(walk);
  walk.end();
  return certificate;
};

describe("certificates", () => {
  test.each(KINDS.map(([item, expected]) => ({ item, expected, kind: expected.kind })))("$kind", (one) => {
    expect(read(one.item)).toEqual(one.expected);
    expect(read(new Indefinite(one.item as readonly Encodable[]))).toEqual(one.expected);
  });

  test("there is one of every kind", () => {
    const kinds = new Set(KINDS.map(([item]) => (item as readonly number[])[0]));
    expect([...kinds].sort((a, b) => a! - b!)).toEqual(Array.from({ length: 19 }, (_, kind) => kind));
  });

  test.each([0, 27, 29, 56])("a hash of %i bytes is decoded as it is", (length) => {
    const odd = bytes("0d", length);
    expect(read([2, [0, odd], odd])).toEqual({
      kind: "delegate",
      credential: { kind: "key", hash: hex("0d", length) },
      to: { pool: hex("0d", length) },
    });
  });

  test.each<[string, Encodable]>([
    ["of a kind that no era has", [19, key]],
    ["too short", [2, key]],
    ["too long", [0, key, 1]],
    ["for an unknown kind of credential", [0, [2, bytes("aa")]]],
    ["for a representative of no kind", [9, key, [4]]],
    ["for a representative without hash", [9, key, [0]]],
    ["that is no array", 7],
    ["with a name that is not UTF-8", [18, key, [new Encoded(fromHex("61ff")), bytes("cc", 32)]]],
    ["with a margin that is no fraction", (pool(owners, null) as Encodable[]).with(5, 1)],
    ["with a relay of no kind", (pool(owners, null) as Encodable[]).with(8, [[3, "name"]])],
    ["out of a pot that is not there", [6, [2, 1]]],
  ])("one %s is refused", (_, item) => expect(() => read(item)).toThrow(CborError));
});
