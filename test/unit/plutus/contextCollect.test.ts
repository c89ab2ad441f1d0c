/**
 * Which scripts of a transaction run, on which arguments, and why none can (cardano-ledger `Alonzo/Plutus/Evaluate.hs`,
 * `Conway/UTxO.hs`).
 */
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import { refKey } from "#src/cardano/output.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { collectScripts } from "#src/plutus/context/collect.ts";
import { posixTime } from "#src/plutus/context/interval.ts";
import {
  ada,
  alice,
  asset,
  atScript,
  bob,
  type Draft,
  nativeHash,
  signedBy,
  slots,
  World,
} from "../../support/ledger/draft.ts";
import { agrees, agreesWithThree, agreesWithTwo, plutusHash } from "../../support/plutus/scripts.ts";
import { read } from "../../support/plutus/draftContexts.ts";

const V3 = plutusHash(3, agrees);
const V2 = plutusHash(2, agreesWithThree);
const V1 = plutusHash(1, agreesWithTwo);
const script: Encodable = [1, fromHex(V3)];

function collected(world: World, draft: Draft, costModels = mainnetParameters.costModels) {
  const transaction = read(world.write(draft));
  const input = { transaction, resolved: world.outputs, time: posixTime(slots), protocolMajor: 10, costModels };
  const result = collectScripts(input);
  if (!result.ok) return result.error;
  return result.value.map(({ redeemer, script, args, costModel }) => {
    expect(costModel).toBe(costModels.get(script.language - 1));
    return [redeemer.purpose, redeemer.index, script.hash, args.length];
  });
}

/** An item for each purpose, all for one script of Plutus V3. */
const all = (world: World): Draft => ({
  inputs: [world.fund(alice.address), world.fund(atScript(V3)), world.fund(atScript(nativeHash(signedBy(alice))))],
  mint: new Map([[asset(V3), 1n], [asset(nativeHash(signedBy(alice))), 1n]]),
  certificates: [[0, script], [1, script], [2, [0, new Uint8Array(28)], new Uint8Array(28)]],
  withdrawals: [[Uint8Array.of(0xf0, ...fromHex(V3)), 1n], [alice.reward, 1n]],
  fields: {
    19: new Map<Encodable, Encodable>([
      [[3, fromHex(V3)], new Map<Encodable, Encodable>([[[new Uint8Array(32), 0], [1, null]]])],
    ]),
    20: [[1, alice.reward, [2, new Map(), fromHex(V3)], ["https://example.org", new Uint8Array(32)]]],
  },
  native: [signedBy(alice)],
});
const mintAt = V3 < nativeHash(signedBy(alice)) ? 0 : 1;

describe("scripts that run", () => {
  it("are in the ledger's order; keys, native scripts and Shelley's registrations need none", () => {
    const world = new World();
    const draft = { ...all(world), plutus: { 3: [agrees] } };
    const redeemers = [[5, 0], [4, 0], [2, 1], [3, 0], [0, 1], [1, mintAt]] as const;
    expect(collected(world, { ...draft, redeemers })).toEqual([
      ["spend", 1, V3, 1],
      ["reward", 0, V3, 1],
      ["cert", 1, V3, 1],
      ["mint", mintAt, V3, 1],
      ["vote", 0, V3, 1],
      ["propose", 0, V3, 1],
    ]);
  });
  it("are in the witness set, in inputs or in reference inputs, each with the arguments of its language", () => {
    const world = new World();
    const holding = world.fund(bob.address, ada, { script: [3, agrees] });
    const draft: Draft = {
      inputs: [
        world.fund(atScript(V3)),
        world.fund(atScript(V2), 9n * ada, { datum: 1n, script: [2, agreesWithThree] }),
      ],
      fields: { 18: [[fromHex(holding.ref.txHash), 0]] },
      redeemers: [[0, 0], [0, 1]],
    };
    expect(collected(world, draft)).toEqual([["spend", 0, V3, 1], ["spend", 1, V2, 3]]);
  });
});

describe("none runs", () => {
  it("if redeemers are missing, all of which are named", () => {
    const world = new World();
    expect(collected(world, { ...all(world), plutus: { 3: [agrees] }, redeemers: [[0, 1], [3, 0], [4, 0]] })).toEqual([
      { kind: "NoRedeemer", purpose: "cert", index: 1 },
      { kind: "NoRedeemer", purpose: "mint", index: mintAt },
      { kind: "NoRedeemer", purpose: "propose", index: 0 },
    ]);
  });
  it("if a script is missing that a redeemer is for", () => {
    const world = new World();
    const draft: Draft = { inputs: [world.fund(atScript(V3))], redeemers: [[0, 0]] };
    expect(collected(world, draft)).toEqual([{ kind: "NoWitness", script: V3 }]);
    expect(collected(world, { inputs: draft.inputs! })).toEqual([]);
  });
  it("if a language has no cost model, or cannot represent the transaction: only the first of these is named", () => {
    const world = new World();
    const draft: Draft = {
      inputs: [world.fund(atScript(V2), 9n * ada, { datum: 1n })],
      mint: new Map([[asset(V1), 1n]]),
      plutus: { 1: [agreesWithTwo], 2: [agreesWithThree] },
      redeemers: [[0, 0], [1, 0]],
    };
    const [of] = draft.inputs!;
    const detail = "8200" + "825820" + of!.ref.txHash + "00";
    const bad = { kind: "BadTranslation", language: 1, reason: "InlineDatumsNotSupported", detail };
    expect(collected(world, draft)).toEqual([bad]);
    expect(collected(world, draft, new Map([[0, mainnetParameters.costModels.get(0)!]]))).toEqual([
      { kind: "NoCostModel", language: 2 },
    ]);
  });
  it("if an input is unknown that a redeemer is for", () => {
    const world = new World();
    const gone = world.fund(atScript(V3));
    world.outputs.delete(refKey(gone.ref));
    expect(collected(world, { inputs: [gone], plutus: { 3: [agrees] }, redeemers: [[0, 0]] })).toEqual([
      { kind: "BadTranslation", reason: "TranslationLogicMissingInput" },
    ]);
  });
});
