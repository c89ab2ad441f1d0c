import { expect, test } from "vitest";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { drepId, parseDrepId } from "#src/cardano/drepId.ts";
import { walletVectors } from "../../support/wallets/walletVectors.ts";

const samples = walletVectors("asset-fingerprint");
test("a fingerprint is that of CIP-14", () => {
  for (const { id, input, expected } of samples) {
    const { policy_id: policy, asset_name: name, policyId, assetName } = input;
    expect(fingerprint(`${policy ?? policyId}${name ?? assetName ?? ""}`), id).toBe(
      typeof expected === "string" ? expected : expected.fingerprint,
    );
  }
});

const dreps = walletVectors("drep-parameter");
test("ids of representatives are read in every form", () => {
  for (const { id, input, expected } of dreps) {
    expect(parseDrepId(input.dRepId) !== undefined, id).toBe(expected.accepted);
  }
});

test("an encoded id is decoded to the same", () => {
  const hash = "9a".repeat(28);
  for (
    const drep of [{ kind: "abstain" }, { kind: "no confidence" }, { kind: "key", hash }, {
      kind: "script",
      hash,
    }] as const
  ) {
    expect(parseDrepId(drepId(drep))).toEqual(drep);
  }
});
