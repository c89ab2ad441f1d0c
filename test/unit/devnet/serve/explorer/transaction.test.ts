/** The explorer's view of a transaction: certificates, votes, proposals, and data of any depth. */
import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { addressText, enterpriseAddress, rewardAddress } from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { partsView, refsOf } from "#src/devnet/serve/explorer/transactionView.ts";

const key = "0a".repeat(28);
const pool = "0b".repeat(28);
const hash = "cd".repeat(32);
const credential = { kind: "key", hash: key } as const;
const account = rewardAddress(0, credential);
const address = enterpriseAddress(0, credential);
const url = "https://example.com";
const anchor = [url, fromHex("ab".repeat(32))];
const nothing = { outputs: new Map(), spentBy: new Map() };

function transaction(
  more: readonly (readonly [number, Encodable])[],
  witnesses = new Map<number, Encodable>(),
  auxiliary: Encodable = null,
) {
  const body = new Map<number, Encodable>([
    [0, new Tagged(258, [[fromHex(hash), 1]])],
    [1, [new Map<number, Encodable>([[0, fromHex(address.hex)], [1, 2_000_000n]])]],
    [2, 170_000n],
    ...more,
  ]);
  return encode([body, witnesses, true, auxiliary]);
}
const view = (cbor: Uint8Array) => partsView(cbor, nothing, 0);

describe("the parts of a transaction", () => {
  it("names accounts, pools and representatives by their ids", () => {
    const drep = [0, fromHex(key)];
    const { certificates } = view(transaction([[
      4,
      new Tagged(258, [
        [7, [0, fromHex(key)], 2_000_000n],
        [10, [0, fromHex(key)], fromHex(pool), [2]],
        [8, [0, fromHex(key)], 2_000_000n],
        [4, fromHex(pool), 7],
        [16, drep, 500_000_000n, anchor],
      ]),
    ]]));
    const poolText = toBech32("pool", fromHex(pool));
    expect(certificates).toEqual([
      { kind: "register", members: { account: addressText(account), deposit: 2_000_000n } },
      { kind: "delegate", members: { account: addressText(account), pool: poolText, representative: "abstain" } },
      { kind: "unregister", members: { account: addressText(account), refund: 2_000_000n } },
      { kind: "retire pool", members: { pool: poolText, epoch: 7n } },
      {
        kind: "register drep",
        members: { representative: drepId(credential), deposit: 500_000_000n, anchor: "https://example.com" },
      },
    ]);
  });

  it("shows withdrawals, votes and proposals", () => {
    const shown = view(transaction([
      [5, new Map([[fromHex(account.hex), 5n]])],
      [19, new Map([[[2, fromHex(key)], new Map([[[fromHex(hash), 3], [1, null]]])]])],
      [
        20,
        new Tagged(258, [
          [100n, fromHex(account.hex), [2, new Map([[fromHex(account.hex), 9n]]), null], anchor],
          [100n, fromHex(account.hex), [6], anchor],
          [100n, fromHex(account.hex), [
            0,
            null,
            new Map<number, Encodable>([[0, 45], [20, [7, 8]]]),
            null,
          ], anchor],
        ]),
      ],
    ]));
    expect(shown.withdrawals).toEqual([{ address: addressText(account), lovelace: 5n }]);
    expect(shown.votes).toEqual([
      { role: "drep", voter: drepId(credential), action: { txHash: hash, index: 3 }, vote: "yes" },
    ]);
    expect(shown.proposals).toEqual([
      {
        kind: "treasury",
        deposit: 100n,
        account: addressText(account),
        members: { [addressText(account)]: 9n, anchor: url },
      },
      { kind: "info", deposit: 100n, account: addressText(account), members: { anchor: url } },
      {
        kind: "parameters",
        deposit: 100n,
        account: addressText(account),
        members: { min_fee_a: 45, max_tx_ex_mem: "7", max_tx_ex_steps: "8", anchor: url },
      },
    ]);
  });

  it("gives data that is nested deeply as bytes, and answers all the same", () => {
    const depth = 7_000;
    const deep = new Encoded(new Uint8Array([...Array(depth).fill(0x81), 0x01]));
    const witnesses = new Map<number, Encodable>([[5, new Map([[[0, 0], [deep, [1n, 1n]]]])]]);
    const cbor = transaction([], witnesses, new Map<bigint, Encodable>([[1n, deep], [2n, "text"]]));
    const { redeemers, metadata, inputs } = view(cbor);
    expect(redeemers).toMatchObject([{ purpose: "spend", index: 0, target: `${hash}#1`, data: { json: null } }]);
    expect(redeemers[0]!.data.cbor).toHaveLength(2 * (depth + 1));
    expect(metadata).toEqual([{ label: "1", json: null }, { label: "2", json: "text" }]);
    // an input that is not known
    expect(inputs).toEqual([{ txHash: hash, index: 1 }]);
    expect(toJson({ redeemers, metadata })).toContain("text");
  });

  it("says why bytes cannot be decoded", () => {
    const shown = view(utf8("no transaction"));
    expect(shown).toMatchObject({ inputs: [], outputs: [], cbor: toHex(utf8("no transaction")) });
    expect("problem" in shown && shown.problem).toMatch(/no transaction/);
    expect(refsOf(utf8("no transaction"))).toEqual([]);
  });
});
