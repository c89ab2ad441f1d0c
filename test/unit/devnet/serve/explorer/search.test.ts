import { describe, expect, it } from "vitest";
import { searchTerms } from "#src/devnet/serve/explorer/searchTerms.ts";
import { addressText, enterpriseAddress, rewardAddress } from "#src/cardano/address.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { actionText } from "#src/cardano/governanceId.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { fromHex } from "#src/base/bytes.ts";

const hash = "ab".repeat(32);
const short = "0a".repeat(28);
const credential = { kind: "key", hash: short } as const;
const kinds = (text: string) => searchTerms(text, 0).terms.map(({ kind }) => kind);

describe("a text that is searched for", () => {
  it.each<[string, string[]]>([
    ["7", ["height", "epoch", "slot"]],
    ["1,234", ["height", "epoch", "slot"]],
    ["#7", ["height", "epoch", "slot"]],
    ["block 7", ["height"]],
    ["Epoch 7", ["epoch"]],
    ["slot:7", ["slot"]],
    [hash, ["transaction", "block", "datum", "asset name"]],
    [` ${hash.toUpperCase()} `, ["transaction", "block", "datum", "asset name"]],
    [`${hash}#12`, ["transaction", "action"]],
    [`${hash}#99999`, ["transaction"]],
    [actionText({ txHash: hash, index: 12 }), ["action"]],
    [short, ["pool", "policy", "script", "address"]],
    [`${short}746f6b656e`, ["unit"]],
    [fingerprint(`${short}746f6b656e`), ["fingerprint"]],
    [addressText(enterpriseAddress(0, credential)), ["address"]],
    [addressText(rewardAddress(0, credential)), ["account"]],
    [enterpriseAddress(0, credential).hex, ["address", "unit"]],
    [toBech32("pool", fromHex(short)), ["pool"]],
    [toBech32("script", fromHex(short)), ["script", "address"]],
    [toBech32("drep", fromHex(short)), ["drep"]],
    [drepId(credential), ["drep"]],
    [toBech32("cc_hot", fromHex(short)), []],
    [addressText(enterpriseAddress(1, credential)), []],
    ["token", ["asset name", "pool name"]],
    ["ef", ["asset name"]],
    ["99999999999", ["asset name", "pool name", "beginning"]],
    ["x".repeat(33), ["pool name"]],
    ["<script>", ["asset name", "pool name"]],
    ["   ", []],
    ["abcdef", ["asset name", "beginning"]],
    ["abcdef0", ["asset name", "pool name", "beginning"]],
    ["abcde", ["asset name", "pool name"]],
    ["123456", ["height", "epoch", "slot", "beginning"]],
    ["block 123456", ["height"]],
    ["AB12CD34EF…", ["asset name", "pool name", "beginning"]],
    ["ab12cd34ef…56ab12cd", ["asset name", "pool name", "beginning"]],
    [`${hash}…`, ["pool name"]],
  ])("%j may be %j", (text, expected) => expect(kinds(text)).toEqual(expected));

  it("says why an address of another network is not found", () => {
    expect(searchTerms(addressText(enterpriseAddress(1, credential)), 0).understood).toMatch(/another network/);
  });
});
