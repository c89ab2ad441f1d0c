/** What is checked of a transaction when it is submitted: its inputs (rule MEMPOOL), and that its scripts can see its time. */
import { describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { decode, encode, raw } from "#src/cardano/cbor.ts";
import { horizon } from "#src/cardano/eras.ts";
import { eraHistory } from "#src/devnet/serve/nodeGenesis.ts";
import { decodeRejection, encodeRejection } from "#src/node/rejections/rejections.ts";
import { showFailure } from "#src/node/rejections/haskellText.ts";
import { ada, alice, asset, bob, type Draft, output, reference, World } from "../../support/ledger/draft.ts";
import { foundIn } from "../../support/ledger/findings.ts";
import { agrees, agreesWithTwo, plutusHash, refuses } from "../../support/plutus/scripts.ts";

const HORIZON = 7_200;

function submitted(): World {
  const world = new World();
  world.submission = { horizon: HORIZON };
  return world;
}

const minting = (script: Uint8Array, language: 1 | 2 | 3, fields: Draft["fields"]): Draft => ({
  mint: new Map([[asset(plutusHash(language, script)), 1n]]),
  plutus: { [language]: [script] },
  redeemers: [[1, 0]],
  ...(fields ? { fields } : {}),
});

describe("inputs of a submission", () => {
  const included = [{
    name: "ConwayMempoolFailure",
    message: "All inputs are spent. Transaction has probably already been included",
  }];

  it("may not all be spent; no other rule is checked then", async () => {
    const world = submitted();
    const coin = world.fund(alice.address);
    const paid = world.write({ inputs: [coin], outputs: [output(bob.address, 2n * ada)], paid: 2n * ada });
    const twin = world.write({ inputs: [coin], fee: 0n });
    await world.apply(paid);
    for (const again of [paid, twin]) expect(await world.judge(again)).toEqual(included);
  });

  it("are checked by the other rules if one is unspent; collateral and reference inputs do not count", async () => {
    const world = submitted();
    const coins = [world.fund(alice.address), world.fund(alice.address)];
    const both = world.write({ inputs: coins });
    const referring = world.write({ inputs: [coins[0]!], fields: { 18: [reference(world.fund(bob.address))] } });
    await world.apply({ inputs: [coins[0]!] });
    expect(await world.failures(both)).toEqual(["BadInputsUTxO", "ValueNotConservedUTxO"]);
    expect(await world.judge(referring)).toEqual(included);
  });

  it("are as a node names them", () => {
    const { name, message } = included[0]!;
    const failure = { name: "ConwayMempoolFailure", message } as const;
    expect([name, showFailure(failure)]).toEqual([failure.name, `ConwayMempoolFailure "${message}"`]);
    expect(decodeRejection(encodeRejection([failure]), new World().write({}))).toEqual([failure]);
  });

  it("of a transaction in a block are checked as ever", async () => {
    const world = new World();
    const coin = world.fund(alice.address);
    const paid = world.write({ inputs: [coin] });
    await world.apply(paid);
    expect(await world.failures(paid)).toEqual(["BadInputsUTxO", "ValueNotConservedUTxO"]);
  });
});

describe("a bound past the horizon", () => {
  const refused = [{
    name: "CollectErrors",
    errors: [expect.objectContaining({ kind: "BadTranslation", reason: "TimeTranslationPastHorizon" })],
  }];

  it.each([[1, agreesWithTwo], [2, agreesWithTwo], [3, agrees]] as const)(
    "is refused where scripts of Plutus V%i run, from the horizon on",
    async (language, script) => {
      const world = submitted();
      expect(await world.judge(minting(script, language, { 3: HORIZON }))).toEqual(refused);
      expect(await world.failures(minting(script, language, { 3: HORIZON - 1 }))).toEqual([]);
      expect(await world.failures(minting(script, language, { 8: 0 }))).toEqual([]);
    },
  );

  it("is refused whatever the transaction says of its validity", async () => {
    const world = submitted();
    const failing = { ...minting(refuses, 3, { 3: HORIZON }), valid: false };
    expect(await world.judge(failing)).toEqual(refused);
    expect(await world.failures({ ...failing, fields: { 3: HORIZON - 1 } })).toEqual([]);
  });

  it("is no matter where no script runs, in a block, and where no horizon is checked", async () => {
    expect(await submitted().failures({ fields: { 3: 1n << 60n } })).toEqual([]);
    const draft = minting(agrees, 3, { 3: HORIZON });
    expect(await new World().failures(draft)).toEqual([]);
    const lifted = new World();
    lifted.submission = { horizon: undefined };
    expect(await lifted.failures(draft)).toEqual([]);
  });

  it("was accepted a million slots ahead", async () => {
    const { world, transaction } = foundIn("outside-forecast");
    world.submission = { horizon: HORIZON };
    expect(await world.judge(transaction)).toEqual(refused);
  });

  it("is told as a node tells it", async () => {
    const judged = await submitted().judge(minting(agrees, 3, { 3: HORIZON }));
    if ("hash" in judged) throw new Error("accepted");
    const [failure] = judged;
    const text = "PastHorizon: slot 7200 is not before the end of the last era that the node knows";
    const rejection = decode(encodeRejection(judged));
    const told = encode([1, [0, [0, [1, [[3, [8, [7, text]]]]]]]]);
    expect(toHex(raw(rejection))).toContain(toHex(told));
    expect(showFailure(failure!)).toBe(
      "ConwayUtxowFailure (UtxoFailure (UtxosFailure (CollectErrors [BadTranslation (BabbageContextError " +
        `(AlonzoContextError (TimeTranslationPastHorizon "${text}")))])))`,
    );
  });
});

describe("the horizon of a devnet", () => {
  it.each([[-1, 600], [250, 600], [299, 600], [300, 1_200], [899, 1_200], [900, 1_800]])(
    "at a tip in slot %i is slot %i",
    (slot, end) => {
      const network = { slots: { zeroTime: 0, zeroSlot: 0, slotLength: 1_000 }, securityParameter: 100 };
      const genesis = { network, terms: { epochLength: 600 } } as Parameters<typeof eraHistory>[0];
      expect(horizon(eraHistory(genesis, { slot }))?.slot).toBe(end);
    },
  );
});
