import { describe, expect, it } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { datumData, EMPTY_ROOT } from "#src/contract/datum.ts";
import { mintData, spendData } from "#src/contract/redeemer.ts";
import { cageScript } from "#src/contract/script.ts";
import { constr } from "#src/cardano/data.ts";
import { contracts, datumMeaning, redeemerMeaning } from "#src/devnet/serve/explorer/meaning.ts";

const { hash, version } = cageScript;
const owner = "0c".repeat(28);
const name = "ab".repeat(32);

describe("data of the contract in words", () => {
  it("names a token's state", () => {
    const data = datumData({ type: "state", state: { owner, root: EMPTY_ROOT } });
    expect(datumMeaning(hash, data, 0)).toEqual({
      contract: `Arbor token contract ${version}`,
      name: "Token state",
      fields: [
        { name: "Owner's key hash", value: owner, kind: "hex" },
        { name: "Root of the facts", value: "none: the token has no facts", kind: "text" },
      ],
    });
  });

  it("names a request, with key and values as text", () => {
    const data = datumData({
      type: "request",
      request: {
        policy: hash,
        name,
        refund: { payment: owner },
        fee: 1_500_000n,
        key: utf8("planet"),
        operation: { type: "update", old: utf8("Earth"), value: Uint8Array.of(0xff, 0) },
      },
    });
    const meaning = datumMeaning(hash, data, 0);
    expect(meaning?.name).toBe("Request to update a fact");
    expect(meaning?.fields).toEqual([
      { name: "Token", value: hash + name, kind: "token" },
      { name: "Key", value: "planet", kind: "text" },
      { name: "Old value", value: "Earth", kind: "text" },
      { name: "New value", value: "ff00", kind: "hex" },
      { name: "Fee for the token's owner", value: "1500000", kind: "lovelace" },
      { name: "Deposit returns to", value: expect.stringMatching(/^addr_test1/), kind: "address" },
    ]);
  });

  it("names each redeemer", () => {
    const named = (data: Parameters<typeof redeemerMeaning>[2], purpose = "spend") =>
      redeemerMeaning(hash, purpose, data)?.name;
    expect(named(spendData({ type: "end" }))).toBe("End the token");
    expect(named(spendData({ type: "retract" }))).toBe("Retract the request");
    expect(named(spendData({ type: "contribute", index: 1 }))).toBe("Apply the request");
    expect(named(spendData({ type: "refuse", index: 1 }))).toMatch(/^Refuse the request/);
    expect(named(mintData({ type: "burning" }), "mint")).toBe("Burn the token");
    expect(named(mintData({ type: "minting", seed: { txHash: name, index: 3 } }), "mint")).toBe("Mint a token");
    const update = spendData({ type: "modify", actions: [{ type: "skip" }, { type: "refuse" }, { type: "skip" }] });
    expect(redeemerMeaning(hash, "spend", update)).toMatchObject({
      name: "Update the token's facts",
      fields: [{ name: "Requests refused", value: "1" }, { name: "Requests skipped", value: "2" }],
    });
  });

  it("says nothing of other data and of other scripts", () => {
    expect(datumMeaning(hash, constr(7), 0)).toBeUndefined();
    expect(redeemerMeaning(hash, "spend", constr(7))).toBeUndefined();
    expect(redeemerMeaning(hash, "vote", constr(0))).toBeUndefined();
    const data = datumData({ type: "state", state: { owner, root: EMPTY_ROOT } });
    expect(datumMeaning("ab".repeat(28), data, 0)).toBeUndefined();
    expect(datumMeaning(undefined, data, 0)).toBeUndefined();
    expect(contracts.map(({ hash }) => hash)).toContain(hash);
  });
});
