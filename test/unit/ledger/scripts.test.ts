/** Native scripts, Plutus scripts, datums, redeemers, collateral (rules UTXOW, UTXO and UTXOS). */
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import { applyDelta } from "#src/ledger/delta.ts";
import { mainnetParameters, mainnetParametersAt, MAJORS } from "#src/ledger/parameters.ts";
import {
  ada,
  alice,
  asset,
  atScript,
  bob,
  datumHash,
  type Draft,
  nativeHash,
  output,
  reference,
  signedBy,
  World,
} from "../../support/ledger/draft.ts";
import { foundIn } from "../../support/ledger/findings.ts";
import { byronAddress } from "../../support/chain/byron.ts";
import {
  agrees,
  agreesWithThree,
  agreesWithTwo,
  plutusHash,
  refuses,
  refusesSaying,
} from "../../support/plutus/scripts.ts";

type Case = [what: string, draft: (world: World) => Draft, failures: string[]];
const judge = (cases: readonly Case[]) =>
  it.each(cases)("%s", async (_, draft, expected) => {
    const world = new World();
    expect(await world.failures(draft(world))).toEqual(expected);
  });

describe("native scripts", () => {
  const mine = signedBy(alice);
  const mint = (script: Encodable, quantity = 5n): Draft => ({
    mint: new Map([[asset(nativeHash(script)), quantity]]),
    native: [script],
  });
  const two: Encodable = [3, 2, [signedBy(alice), signedBy(bob), [0, new Uint8Array(28)]]];
  const either: Encodable = [2, [[1, [signedBy(bob), [5, 1]]], signedBy(alice)]];
  const spend = (world: World, script: Encodable): Draft => ({
    inputs: [world.fund(atScript(nativeHash(script)))],
    native: [script],
  });
  /** Within others, each of which requires all of its parts, one of them or one of one. */
  const within = (levels: number, script: Encodable) => {
    const around = [[0x82, 1, 0x81], [0x82, 2, 0x81], [0x83, 3, 1, 0x81]];
    const before = Array.from({ length: levels }, (_, i) => around[i % 3]!).flat();
    return new Encoded(Uint8Array.from([...before, ...encode(script)]));
  };
  judge([
    ["agree however deeply they are nested", () => ({ ...mint(within(4_000, mine)), fee: ada }), []],
    ["disagree however deeply they are nested", () => ({ ...mint(within(4_000, signedBy(bob))), fee: ada }), [
      "ScriptWitnessNotValidatingUTXOW",
    ]],
    ["mint with the key they ask for", () => mint(mine), []],
    ["burn", (world) => {
      const assets = new Map([[asset(nativeHash(mine)), 7n]]);
      return { ...mint(mine, -7n), inputs: [world.fund(alice.address, 9n * ada, { assets })] };
    }, []],
    ["do not mint without the key", () => mint(signedBy(bob)), ["ScriptWitnessNotValidatingUTXOW"]],
    ["must be there", () => ({ ...mint(mine), native: undefined! }), ["MissingScriptWitnessesUTXOW"]],
    ["must be needed", () => ({ native: [mine] }), ["ExtraneousScriptWitnessesUTXOW"]],
    ["spend with two keys of three", (world) => ({
      ...spend(world, two),
      keys: [alice.payment, bob.payment],
    }), []],
    ["do not spend with one key of three", (world) => spend(world, two), ["ScriptWitnessNotValidatingUTXOW"]],
    ["may give a choice", (world) => spend(world, either), []],
    ["do not count a required key that did not sign", (world) => ({
      ...spend(world, two),
      fields: { 14: [fromHex(bob.hash)] },
    }), ["ScriptWitnessNotValidatingUTXOW", "MissingVKeyWitnessesUTXOW"]],
    ["wait for a slot", () => ({ ...mint([4, 900]), fields: { 8: 900 } }), []],
    ["wait for a slot that the transaction does not promise", () => ({ ...mint([4, 900]), fields: { 8: 899 } }), [
      "ScriptWitnessNotValidatingUTXOW",
    ]],
    ["wait for a slot, and no start is stated", () => mint([4, 900]), ["ScriptWitnessNotValidatingUTXOW"]],
    ["end before a slot", () => ({ ...mint([5, 1_100]), fields: { 3: 1_100 } }), []],
    ["end before the transaction does", () => ({ ...mint([5, 1_100]), fields: { 3: 1_101 } }), [
      "ScriptWitnessNotValidatingUTXOW",
    ]],
    ["end before a slot, and no end is stated", () => mint([5, 1_100]), ["ScriptWitnessNotValidatingUTXOW"]],
    ["work as reference scripts", (world) => ({
      ...mint(mine),
      native: undefined!,
      fields: { 18: [reference(world.fund(bob.address, 5n * ada, { script: [0, mine] }))] },
    }), []],
    ["are not to be given twice", (world) => ({
      ...mint(mine),
      fields: { 18: [reference(world.fund(bob.address, 5n * ada, { script: [0, mine] }))] },
    }), ["ExtraneousScriptWitnessesUTXOW"]],
  ]);
});

const v3 = plutusHash(3, agrees);
const datum: Encodable = 42n;

/** Spends an output at a Plutus V3 script that accepts. */
function spending(world: World, extras: Parameters<World["fund"]>[2] = { datum }, script = agrees): Draft {
  return {
    inputs: [world.fund(atScript(plutusHash(3, script)), 10n * ada, extras)],
    plutus: { 3: [script] },
    redeemers: [[0, 0]],
    keys: [alice.payment],
  };
}

describe("Plutus scripts", () => {
  const minting = (script: Uint8Array, language: 1 | 2 | 3): Draft => ({
    mint: new Map([[asset(plutusHash(language, script)), 1n]]),
    plutus: { [language]: [script] },
    redeemers: [[1, 0]],
  });
  judge([
    ["spend with an inline datum", (world) => spending(world), []],
    ["spend with the datum of a hash", (world) => ({
      ...spending(world, { datumHash: datumHash(datum) }),
      datums: [datum],
    }), []],
    ["of V3 spend without a datum", (world) => spending(world, {}), []],
    ["of V1 spend with the datum of a hash", (world) => ({
      ...spending(world),
      inputs: [world.fund(atScript(plutusHash(1, agreesWithThree)), 10n * ada, { datumHash: datumHash(datum) })],
      plutus: { 1: [agreesWithThree] },
      datums: [datum],
    }), []],
    ["of V2 do not spend without a datum", (world) => ({
      ...spending(world),
      inputs: [world.fund(atScript(plutusHash(2, agreesWithThree)))],
      plutus: { 2: [agreesWithThree] },
    }), ["UnspendableUTxONoDatumHash"]],
    ["of V1 do not see inline datums", (world) => ({
      ...spending(world),
      inputs: [world.fund(atScript(plutusHash(1, agreesWithThree)), 10n * ada, { datum })],
      plutus: { 1: [agreesWithThree] },
    }), ["CollectErrors"]],
    ["do not see Byron addresses", (world) => ({
      ...spending(world),
      outputs: [output(byronAddress({ root: new Uint8Array(28) }), 2n * ada)],
      paid: 2n * ada,
    }), ["CollectErrors"]],
    ["spend by reference", (world) => ({
      ...spending(world),
      plutus: {},
      languages: [3],
      fields: { 18: [reference(world.fund(bob.address, 5n * ada, { script: [3, agrees] }))] },
    }), []],
    ["of V3 mint", () => minting(agrees, 3), []],
    ["of V2 mint", () => minting(agreesWithTwo, 2), []],
    ["of V1 mint", () => minting(agreesWithTwo, 1), []],
    ["must be there", (world) => ({ ...spending(world), plutus: {}, redeemers: undefined! }), [
      "MissingScriptWitnessesUTXOW",
    ]],
    ["must be needed", () => ({ plutus: { 3: [agrees] }, fields: { 11: null } }), ["ExtraneousScriptWitnessesUTXOW"]],
    ["must be well-formed", () => minting(Uint8Array.of(0x42, 1, 2), 3), ["MalformedScriptWitnesses"]],
    ["must be well-formed in outputs", () => ({
      outputs: [output(bob.address, 2n * ada, { script: [3, Uint8Array.of(0x42, 1, 2)] })],
      paid: 2n * ada,
    }), ["MalformedReferenceScripts"]],
    ["may be put in outputs", () => ({
      outputs: [output(bob.address, 2n * ada, { script: [3, agrees] })],
      paid: 2n * ada,
    }), []],
  ]);

  it("that refuse make the transaction fail, with the reason", async () => {
    const world = new World();
    expect(await world.judge(spending(world, { datum }, refusesSaying("never")))).toMatchObject([
      { name: "ValidationTagMismatch", kind: "FailedUnexpectedly", logs: ["never"] },
    ]);
  });

  it("fail with an unbound variable, even if they never evaluate it", async () => {
    const unbound = { met: "46010100200201", passed: "480101002324988015" };
    for (const script of Object.values(unbound).map(fromHex)) {
      const world = new World();
      const draft = spending(world, { datum }, script);
      expect(await world.judge(draft)).toMatchObject([
        { name: "ValidationTagMismatch", kind: "FailedUnexpectedly", message: expect.stringContaining("not bound") },
      ]);
      expect(await world.failures({ ...draft, valid: false })).toEqual([]);
    }
  });

  it.each(
    [
      ["1.2.0", 3, [1, 2, 0], 11, false],
      ["1.1.0", 3, [1, 1, 0], 9, true],
      ["1.1.0", 2, [1, 1, 0], 10, false],
      ["1.1.0", 1, [1, 1, 0], 10, false],
      ["1.1.0", 2, [1, 1, 0], 11, true],
      ["2.0.0", 1, [2, 0, 0], 11, false],
    ] as const,
  )("of Plutus Core %s in V%i run where the version is available, and else fail in phase 2", async (...row) => {
    const [, language, version, major, available] = row;
    const script = (language === 3 ? agrees : agreesWithTwo).slice();
    script.set(version, 1);
    const draft = minting(script, language);
    const world = new World(mainnetParametersAt(major));
    const fails = { name: "ValidationTagMismatch", kind: "FailedUnexpectedly" };
    const judged = await world.judge(draft);
    expect("hash" in judged ? [] : judged).toMatchObject(available ? [] : [fails]);
    const collected = { ...draft, valid: false, fields: { 13: [reference(world.fund(alice.address))] } };
    expect(await world.failures(collected)).toEqual(available ? ["ValidationTagMismatch"] : []);
  });

  it("of a version of Plutus Core that is not available may be put in outputs", async () => {
    for (const major of MAJORS) {
      const { world, transaction } = foundIn("reference-script-plc-1.2.0", mainnetParametersAt(major));
      expect(await world.failures(transaction)).toEqual([]);
    }
  });

  it("that use more units than their redeemer allows make the transaction fail", async () => {
    const world = new World();
    expect(await world.failures({ ...spending(world), redeemers: [[0, 0, 500, 64_100]] })).toEqual([]);
    for (const [memory, steps] of [[499, 64_100], [500, 64_099]] as const) {
      const message = expect.stringContaining(`more than the ${memory} memory and ${steps} steps`);
      expect(await world.judge({ ...spending(world), redeemers: [[0, 0, memory, steps]] })).toMatchObject([
        { name: "ValidationTagMismatch", kind: "FailedUnexpectedly", message },
      ]);
    }
  });

  it("take only the collateral if the transaction states that they fail", async () => {
    const world = new World();
    const draft = spending(world, { datum }, refuses);
    const collateral = world.fund(alice.address, 8n * ada);
    const fields = { 13: [reference(collateral)], 16: output(alice.address, 7n * ada), 17: ada };
    const applied = await world.judge({
      ...draft,
      valid: false,
      fields,
      outputs: [output(bob.address, ada)],
      paid: ada,
    });
    if (!("hash" in applied)) throw new Error("refused");
    expect(applied).toMatchObject({ valid: false, fee: ada, deposits: 0n, spent: [collateral] });
    expect(applied.created.map(({ ref }) => ref)).toEqual([{ txHash: applied.hash, index: 2 }]);
    applyDelta(world.state, applied);
    expect(world.state.utxo.get(draft.inputs![0]!.ref)).toBeDefined();
    expect(world.state.utxo.get(collateral.ref)).toBeUndefined();
    expect(world.state.pots.fees).toBe(ada);
  });

  it("that accept do not fit a transaction that states that they fail", async () => {
    const world = new World();
    expect(await world.judge({ ...spending(world), valid: false })).toEqual([
      { name: "ValidationTagMismatch", kind: "PassedUnexpectedly" },
    ]);
    expect(await world.failures({ valid: false })).toEqual(["ValidationTagMismatch"]);
  });

  it("cannot run without a cost model", async () => {
    const costModels = new Map([...mainnetParameters.costModels].filter(([language]) => language !== 2));
    const world = new World({ ...mainnetParameters, costModels });
    expect(await world.judge(spending(world))).toEqual([
      { name: "CollectErrors", errors: [{ kind: "NoCostModel", language: 3 }] },
    ]);
  });
});

describe("redeemers and datums", () => {
  const wrongHash = { 11: new Uint8Array(32) };
  judge([
    ["are missed", (world) => ({ ...spending(world), redeemers: undefined! }), ["MissingRedeemers"]],
    ["may not point to nothing", (world) => ({ ...spending(world), redeemers: [[0, 0], [0, 1]] }), [
      "ExtraRedeemers",
    ]],
    ["point to inputs in their order", (world) => {
      const before = world.fund(alice.address);
      return { ...spending(world), inputs: [...spending(world).inputs!, before], redeemers: [[0, 1]] };
    }, []],
    ["must have the right purpose", (world) => ({ ...spending(world), redeemers: [[1, 0]] }), [
      "ExtraRedeemers",
      "MissingRedeemers",
    ]],
    ["are missed for their hash", (world) => spending(world, { datumHash: datumHash(datum) }), [
      "MissingRequiredDatums",
    ]],
    ["may not come without need", (world) => ({ ...spending(world), datums: [datum] }), [
      "NotAllowedSupplementalDatums",
    ]],
    ["may come for an output", (world) => ({
      ...spending(world),
      datums: [datum],
      outputs: [output(bob.address, 2n * ada, { datumHash: datumHash(datum) })],
      paid: 2n * ada,
    }), []],
    ["may come for a reference input", (world) => ({
      ...spending(world),
      datums: [datum],
      fields: { 18: [reference(world.fund(bob.address, 5n * ada, { datumHash: datumHash(datum) }))] },
    }), []],
    ["may come for an output without any script", () => ({
      datums: [datum],
      outputs: [output(bob.address, 2n * ada, { datumHash: datumHash(datum) })],
      paid: 2n * ada,
    }), []],
    ["are hashed", (world) => ({ ...spending(world), fields: wrongHash }), ["ScriptIntegrityHashMismatch"]],
    ["are hashed in any case", (world) => ({ ...spending(world), fields: { 11: null } }), [
      "ScriptIntegrityHashMismatch",
    ]],
    ["are not hashed where there are none", () => ({ fields: wrongHash }), ["ScriptIntegrityHashMismatch"]],
    ["are hashed with the language that runs", (world) => ({ ...spending(world), languages: [1] }), [
      "ScriptIntegrityHashMismatch",
    ]],
    ["may not state more memory than a transaction may take", (world) => ({
      ...spending(world),
      redeemers: [[0, 0, 16_500_001, 1_000_000]],
      fee: 2n * ada,
      fields: { 13: [reference(world.fund(alice.address))] },
    }), ["ExUnitsTooBigUTxO"]],
    ["may not state more steps than a transaction may take", (world) => ({
      ...spending(world),
      redeemers: [[0, 0, 1_000_000, 10_000_000_001]],
      fee: 2n * ada,
    }), ["ExUnitsTooBigUTxO"]],
    ["may state all that a transaction may take", (world) => ({
      ...spending(world),
      redeemers: [[0, 0, 16_500_000, 10_000_000_000]],
      fee: 3n * ada,
    }), []],
  ]);
});

describe("collateral", () => {
  const policy = nativeHash(signedBy(alice));
  const assets = new Map([[asset(policy), 3n]]);
  const with13 = (world: World, ...utxos: ReturnType<World["fund"]>[]): Draft => ({
    ...spending(world),
    fields: { 13: utxos.map(reference) },
  });
  judge([
    ["is needed to run scripts", (world) => ({ ...spending(world), fields: { 13: null } }), [
      "InsufficientCollateral",
      "NoCollateralInputs",
    ]],
    ["is one and a half times the fee", (world) => with13(world, world.fund(alice.address, 600_000n)), []],
    ["is not less", (world) => with13(world, world.fund(alice.address, 599_999n)), ["InsufficientCollateral"]],
    ["is not locked by a script", (world) => with13(world, world.fund(atScript(v3))), ["ScriptsNotPaidUTxO"]],
    ["is signed for", (world) => with13(world, world.fund(bob.address)), ["MissingVKeyWitnessesUTXOW"]],
    ["is there", (world) => with13(world, { ...world.fund(bob.address), ref: { txHash: "ff".repeat(32), index: 1 } }), [
      "InsufficientCollateral",
      "NoCollateralInputs",
      "BadInputsUTxO",
    ]],
    ["has no tokens", (world) => with13(world, world.fund(alice.address, 9n * ada, { assets })), [
      "CollateralContainsNonADA",
    ]],
    ["may have tokens that return", (world) => {
      const draft = with13(world, world.fund(alice.address, 9n * ada, { assets }));
      return { ...draft, fields: { ...draft.fields, 16: output(alice.address, 5n * ada, { assets }) } };
    }, []],
    ["may be less than the return leaves", (world) => {
      const draft = with13(world, world.fund(alice.address, 9n * ada));
      return { ...draft, fields: { ...draft.fields, 16: output(alice.address, 8_500_000n) } };
    }, ["InsufficientCollateral"]],
    ["is stated truly", (world) => {
      const draft = with13(world, world.fund(alice.address, 9n * ada));
      return { ...draft, fields: { ...draft.fields, 17: 9n * ada } };
    }, []],
    ["is not stated wrongly", (world) => {
      const draft = with13(world, world.fund(alice.address, 9n * ada));
      return { ...draft, fields: { ...draft.fields, 17: 9n * ada - 1n } };
    }, ["IncorrectTotalCollateralField"]],
    ["is in three inputs", (world) => with13(world, ...[1, 2, 3].map(() => world.fund(alice.address))), []],
    ["is not in four inputs", (world) => with13(world, ...[1, 2, 3, 4].map(() => world.fund(alice.address))), [
      "TooManyCollateralInputs",
    ]],
    ["returns to an output that is large enough", (world) => {
      const draft = with13(world, world.fund(alice.address, 9n * ada));
      return { ...draft, fields: { ...draft.fields, 16: output(alice.address, 1_000n) } };
    }, ["BabbageOutputTooSmallUTxO"]],
  ]);
});
