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
    ["addr_test1vq9q5g", ["address beginning"]],
    ["addr_test1vq9q5…56ab", ["asset name", "pool name"]],
    ["ADDR_TEST1VQ9Q5ZZ...QQ", ["address beginning"]],
    ["addr1vq9q5qq", []],
    ["stake_test1uq9q5", ["asset name", "pool name"]],
    ["stake_test1uq9q5g", ["account beginning"]],
    ["pool1pg9q5", ["asset name", "pool name"]],
    ["pool1pg9q5g", ["pool beginning"]],
    ["pool1pg9q5…g9q5g", ["pool beginning"]],
  ])("%j may be %j", (text, expected) => expect(kinds(text)).toEqual(expected));

  it("has the bytes of each id in bech32 within the range of its beginning", () => {
    const { hex } = enterpriseAddress(0, credential);
    const ids: [string, string][] = [
      [addressText(enterpriseAddress(0, credential)), hex],
      [addressText(rewardAddress(0, credential)), rewardAddress(0, credential).hex],
      [toBech32("pool", fromHex(short)), short],
    ];
    for (const [id, bytes] of ids) {
      const first = id.lastIndexOf("1") + 7;
      for (let length = first; length < id.length; length++) {
        const [term] = searchTerms(id.slice(0, length), 0).terms;
        if (term === undefined || !("range" in term)) throw new Error(`${id.slice(0, length)} has no range`);
        expect(bytes >= term.range.from && bytes < term.range.to).toBe(true);
        const other = `${id.slice(0, length - 1)}${id[length - 1] === "z" ? "q" : "z"}`;
        const [off] = searchTerms(other, 0).terms;
        if (length <= first + 38) expect(off).not.toMatchObject({ range: term.range });
      }
    }
  });

  it("says why an address of another network is not found", () => {
    expect(searchTerms(addressText(enterpriseAddress(1, credential)), 0).understood).toMatch(/another network/);
  });
});
