/** Ids of governance actions and committee credentials: examples of CIP-129, and back. */
import { describe, expect, it } from "vitest";
import { toBech32 } from "#src/cardano/bech32.ts";
import {
  actionText,
  committeeText,
  parseActionId,
  parseActionText,
  parseCommitteeText,
} from "#src/cardano/governanceId.ts";

describe("ids of governance", () => {
  it.each([
    ["00".repeat(32), 17, "gov_action1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpzklpgpf"],
    ["11".repeat(32), 0, "gov_action1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygsq6dmejn"],
  ])("writes the action %s#%i as in CIP-129", (txHash, index, text) => {
    expect(actionText({ txHash, index })).toBe(text);
    expect(parseActionText(text)).toEqual({ txHash, index });
  });

  it("reads back indices of two bytes, and nothing else", () => {
    const id = { txHash: "ab".repeat(32), index: 65_535 };
    expect(parseActionText(actionText(id))).toEqual(id);
    expect(parseActionText(actionText({ ...id, index: 256 }))).toEqual({ ...id, index: 256 });
    for (const length of [0, 31, 32, 35]) {
      expect(parseActionText(toBech32("gov_action", new Uint8Array(length)))).toBeUndefined();
    }
    expect(parseActionText("gov_action1")).toBeUndefined();
  });

  it("reads an action by its id, or by its transaction and index", () => {
    const id = { txHash: "ab".repeat(32), index: 65_535 };
    for (const text of [actionText(id), `${id.txHash}#65535`, `${id.txHash.toUpperCase()}#65535`]) {
      expect(parseActionId(text), text).toEqual(id);
    }
    const others = [
      "",
      id.txHash,
      `${id.txHash}#`,
      `${id.txHash}#65536`,
      `${id.txHash}#01`,
      `${id.txHash}#-1`,
      "drep1",
    ];
    for (const text of [...others, `${id.txHash.slice(2)}#0`, `${id.txHash}:0`]) {
      expect(parseActionId(text), text).toBeUndefined();
    }
  });

  it.each(["key", "script"] as const)("reads back committee credentials of a %s", (kind) => {
    const credential = { kind, hash: "0a".repeat(28) };
    for (const role of ["hot", "cold"] as const) {
      expect(parseCommitteeText(committeeText(role, credential))).toEqual({ of: role, credential });
    }
    expect(parseCommitteeText(toBech32("cc_hot", new Uint8Array(29)))).toBeUndefined();
    expect(parseCommitteeText(toBech32("drep", new Uint8Array(29)))).toBeUndefined();
  });
});
