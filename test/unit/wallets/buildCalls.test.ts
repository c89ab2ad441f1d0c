/** What the edge sends for a build, as the bytes of the bus, and what the wallet's actor reads. */
import { describe, expect, it } from "vitest";
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { type Json, readJson, toJson } from "#src/base/json.ts";
import { ok } from "#src/base/result.ts";
import type { PaymentIntent } from "#src/wallets/builds/types.ts";
import { balanceInput, intentInput, type PartialTransaction, walletBuilds } from "#src/wallets/walletBuildCalls.ts";

const HASH = "ab".repeat(28);
const REF = { txHash: "cd".repeat(32), index: 1 };
const PAST_DOUBLES = 2n ** 53n + 1n;

const intent: PaymentIntent = {
  payments: [{ address: "61" + HASH, lovelace: PAST_DOUBLES, assets: [[HASH + "01", 1n]] }],
  metadata: "a0",
  mintBurn: [{ policy: { id: HASH, reference: REF }, name: "", quantity: 5n, operation: "burn" }],
  delegations: [{ index: 0 }],
  vote: { kind: "abstain" },
  withdrawal: { stakeKey: HASH },
  validity: { before: { quantity: 7n, unit: "second" } },
  referencePolicy: { all: ["cosigner#0", { active_from: 100 }] },
  coins: { spend: [REF], only: true, avoid: [] },
  changeTo: { address: "61" + HASH, foreign: true },
};
const partial: PartialTransaction = {
  transaction: fromHex("84a0"),
  inputs: [{
    ref: REF,
    output: {
      address: "61" + HASH,
      value: { lovelace: PAST_DOUBLES, assets: new Map([[HASH, 2n]]) },
      raw: fromHex("82"),
    },
  }],
  redeemers: [{ purpose: "spending", ref: REF, data: fromHex("d87980") }],
};
const entity = { kind: "wallet", id: "0".repeat(40) };

/** What a call sends, as the worker gets it. */
async function sent(call: (builds: ReturnType<typeof walletBuilds>) => Promise<unknown>): Promise<Json> {
  const inputs: Json[] = [];
  await call(walletBuilds((_entity, _name, input) => {
    inputs.push(readJson(utf8(toJson(input)))!);
    return Promise.resolve(ok(null));
  }));
  expect(inputs).toHaveLength(1);
  return inputs[0]!;
}

describe("an intent over the bus", () => {
  it("is read as it was sent, with all digits", async () => {
    const message = await sent((builds) => builds.construct(entity, { ...intent, payments: undefined }));
    expect(intentInput.parse(message)).toEqual({ intent: { ...intent, payments: undefined } });
    expect(intentInput.parse(await sent((builds) => builds.fees(entity, intent)))).toEqual({ intent });
  });

  it("is read under its present name and the one of earlier releases", async () => {
    const { wish } = await sent((builds) => builds.construct(entity, intent)) as { wish: Json };
    expect(wish).toBeDefined();
    expect(intentInput.parse({ intent: wish })).toEqual({ intent });
  });

  it("is refused with a member that is not known, and without an intent", () => {
    for (const message of [{ intent: { tip: 1 } }, { wish: { tip: 1 } }, {}]) {
      expect(intentInput.safeParse(message).success).toBe(false);
    }
  });
});

describe("a partial transaction over the bus", () => {
  it("is read as it was sent", async () => {
    expect(balanceInput.parse(await sent((builds) => builds.balance(entity, partial)))).toEqual(partial);
  });
});
