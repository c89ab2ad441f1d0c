/** The event of a transaction with a part in governance. */
import { expect, test } from "vitest";
import { walletInputs } from "#machines/wallet.ts";
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { governanceEvents } from "#src/wallets/index/governanceEvents.ts";
import { newRef } from "../../../support/wallets/person.ts";

const [key, script] = ["11".repeat(28), "22".repeat(28)];
const anchor = ["https://example.org", new Uint8Array(32)];
const block = { slot: 7, hash: "33".repeat(32), height: 3 } as ScannedBlock;
const place = { slot: 7, hash: "33".repeat(32), height: 3 };
const life = { life: 2 };

function transaction(fields: readonly (readonly [number, Encodable])[], valid = true) {
  const ref = newRef();
  const body = new Map<Encodable, Encodable>([
    [0, new Tagged(258, [[fromHex(ref.txHash), ref.index]])],
    [1, []],
    [2, 0],
    ...fields,
  ]);
  return scanTransaction(encode([body, new Map(), valid, null]));
}
const votes = (count: number): readonly [number, Encodable] => [
  19,
  new Map([[
    [2, fromHex(key)] as Encodable,
    new Map(Array.from({ length: count }, (_, i) => [[new Uint8Array(32), i] as Encodable, [2, null] as Encodable])),
  ]]),
];
const proposals = (count: number): readonly [number, Encodable] => [
  20,
  new Tagged(258, Array.from({ length: count }, () => [5, fromHex(`f0${script}`), [6], anchor])),
];
const certificates: readonly [number, Encodable] = [
  4,
  new Tagged(258, [
    [16, [0, fromHex(key)], 500, anchor],
    [18, [1, fromHex(script)], null],
    [17, [0, fromHex(key)], 500],
    [14, [0, fromHex(key)], [1, fromHex(script)]],
    [15, [1, fromHex(script)], null],
    [9, [0, fromHex(key)], [2]],
  ]),
];

test("names certificates, votes and proposals, as the wallet's machine reads it", () => {
  const made = transaction([certificates, votes(1), proposals(1)]);
  const [event, ...others] = governanceEvents(made, block, life);
  expect(others).toEqual([]);
  expect(event).toEqual({
    type: "GOVERNED",
    slot: 7,
    hash: made.hash,
    block: place,
    certificates: [
      { kind: "register_drep", credential: `key-${key}`, deposit: "500" },
      { kind: "update_drep", credential: `script-${script}` },
      { kind: "unregister_drep", credential: `key-${key}`, deposit: "500" },
      { kind: "authorize", credential: `key-${key}`, hot: `script-${script}` },
      { kind: "resign", credential: `script-${script}` },
    ],
    votes: [{ role: "drep", credential: `key-${key}`, action: `${"00".repeat(32)}#0`, vote: "abstain" }],
    proposals: [{ action: `${made.hash}#0`, kind: "info", deposit: "5", account: `script-${script}` }],
    life: 2,
  });
  expect(walletInputs.parse(event)).toEqual(event);
});

test("has no more than fits into an event, and says how much is left out", () => {
  const [event] = governanceEvents(transaction([certificates, votes(300), proposals(300)]), block, life);
  expect(JSON.stringify(event).length).toBeLessThan(8_000);
  expect(event).toMatchObject({ leftOut: 5 + 600 - 25 });
  expect(walletInputs.parse(event)).toEqual(event);
});

test("there is none for a transaction without a part in governance, or whose scripts failed", () => {
  const delegation: readonly [number, Encodable] = [4, new Tagged(258, [[9, [0, fromHex(key)], [2]]])];
  expect(governanceEvents(transaction([delegation]), block, life)).toEqual([]);
  expect(governanceEvents(transaction([certificates, votes(1), proposals(1)], false), block, life)).toEqual([]);
});

test("malformed votes stop nothing", () => {
  const [event] = governanceEvents(
    transaction([certificates, [19, new Map([[[9, fromHex(key)], new Map()]])]]),
    block,
    life,
  );
  expect(event).toMatchObject({ certificates: { length: 5 } });
  expect(event).not.toHaveProperty("votes");
});
