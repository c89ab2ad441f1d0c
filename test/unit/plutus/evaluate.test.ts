import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { decode, type Encodable, encode } from "#src/cardano/cbor.ts";
import { readOutput, type Utxo } from "#src/cardano/output.ts";
import { cageScript } from "#src/contract/script.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import type { EvaluationInput } from "#src/plutus/types.ts";
import { agrees, agreesWithTwo, plutusHash, refuses, refusesSaying } from "../../support/plutus/scripts.ts";

const slots = { zeroTime: 1_600_000_000_000, zeroSlot: 0, slotLength: 1000 };
const at = (script: Uint8Array) => Uint8Array.of(0x70, ...fromHex(plutusHash(3, script)));
const key = Uint8Array.of(0x60, ...new Uint8Array(28));

function utxo(index: number, address: Uint8Array): Utxo {
  return {
    ref: { txHash: "11".repeat(32), index },
    output: readOutput(decode(encode(new Map<Encodable, Encodable>([[0, address], [1, 5_000_000n]])))),
  };
}

function spending(
  utxos: readonly Utxo[],
  scripts: readonly Uint8Array[],
  fields: [number, Encodable][] = [],
  units = [0, 0],
) {
  const body = new Map<Encodable, Encodable>([
    [0, utxos.map(({ ref }) => [fromHex(ref.txHash), ref.index])],
    [1, [[key, 4_000_000n]]],
    [2, 1_000_000n],
    ...fields,
  ]);
  const redeemers = new Map<Encodable, Encodable>(utxos.map((_, index) => [[0, index], [42n, units]]));
  return encode([body, new Map<Encodable, Encodable>([[5, redeemers], [7, scripts]]), true, null]);
}

const run = (transaction: Uint8Array, utxos: readonly Utxo[]) =>
  evaluateScripts({ transaction, utxos, parameters: mainnetParameters, slots });

describe("evaluateScripts", () => {
  it("gives the units of each redeemer, whatever units the redeemer states", () => {
    const utxos = [utxo(0, at(agrees)), utxo(1, at(agrees))];
    const units = { memory: 500n, steps: 64_100n }; // startup 100/100 and 4 machine steps of 100/16,000
    expect(run(spending(utxos, [agrees]), utxos)).toEqual({
      ok: true,
      redeemers: [{ purpose: "spend", index: 0, units }, { purpose: "spend", index: 1, units }],
    });
  });

  it("accepts sets of unspent outputs of any size, and duplicate outputs", () => {
    const utxos = Array.from({ length: 300 }, (_, index) => utxo(index, at(agrees)));
    const given = [...utxos, utxos[0]!];
    const evaluation = run(spending(utxos, [agrees]), given);
    expect(evaluation.ok && evaluation.redeemers.length).toBe(300);
  });

  it("reports that a script failed, with its trace", () => {
    const silent = [utxo(0, at(refuses))];
    expect(run(spending(silent, [refuses]), silent)).toMatchObject({ ok: false, logs: [] });
    const talking = refusesSaying("not today");
    const utxos = [utxo(0, at(talking))];
    const evaluation = run(spending(utxos, [talking]), utxos);
    expect(evaluation).toMatchObject({ ok: false, logs: ["not today"] });
    expect(!evaluation.ok && evaluation.message).toBeTruthy();
  });

  it("reports a script with a free variable as failed, even if it never evaluates it", () => {
    // \context -> (\unused -> ()) (delay <variable 7>)
    const bits = "0010" + "0011" + "0010" + "0100100110" + "0001" + "0000" + "00000111";
    const padded = bits + "0".repeat(7 - bits.length % 8) + "1";
    const open = encode(Uint8Array.from([1, 1, 0, ...padded.match(/.{8}/g)!.map((byte) => parseInt(byte, 2))]));
    const utxos = [utxo(0, at(open))];
    expect(run(spending(utxos, [open]), utxos)).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("bound"),
    });
  });

  it("reports a script of Plutus V3 as failed if its result is not the unit", () => {
    const own = encode(Uint8Array.of(1, 1, 0, 0b00100000, 0b00000001, 0b00000001)); // \context -> context
    const utxos = [utxo(0, at(own))];
    expect(run(spending(utxos, [own]), utxos)).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("unit"),
    });
  });

  it("gives each script exactly the budget that its redeemer states, if that is the limit", () => {
    const utxos = [utxo(0, at(agrees))];
    const limited = (memory: number, steps: number) => {
      const transaction = spending(utxos, [agrees], [], [memory, steps]);
      return evaluateScripts({ transaction, utxos, parameters: mainnetParameters, slots, limited: true });
    };
    expect(limited(500, 64_100)).toMatchObject({ ok: true });
    for (const [memory, steps] of [[499, 64_100], [500, 64_099]] as const) {
      const allows = `more than the ${memory} memory and ${steps} steps that its redeemer allows`;
      expect(limited(memory, steps)).toMatchObject({ kind: "refused", message: expect.stringContaining(allows) });
    }
  });

  it("evaluates up to four times a transaction's budget, and no more", () => {
    const utxos = [0, 1, 2].map((index) => utxo(index, at(agrees)));
    const measured = (memory: bigint, steps: bigint) => {
      const parameters = { ...mainnetParameters, maxTxUnits: { memory, steps } };
      return evaluateScripts({ transaction: spending(utxos, [agrees]), utxos, parameters, slots });
    };
    expect(measured(375n, 64_100n)).toMatchObject({ ok: true });
    const over = measured(374n, 64_100n);
    expect(over).toMatchObject({ kind: "over_limit" });
    if (over.ok || over.kind !== "over_limit") throw new Error("it is over the limit");
    expect(over.units.memory).toBeGreaterThan(4n * 374n);
    expect(over.units.memory).toBeLessThanOrEqual(1_500n);
    expect(measured(375n, 40_000n)).toMatchObject({ kind: "over_limit" });
  });

  it("states by the ledger's names why scripts cannot be run", () => {
    const utxos = [utxo(0, at(agrees))];
    const errors = (transaction: Uint8Array, parameters: EvaluationInput["parameters"] = mainnetParameters) => {
      const evaluation = evaluateScripts({ transaction, utxos, parameters, slots });
      return !evaluation.ok && evaluation.kind === "not_collected" && evaluation.errors;
    };
    const { hash } = cageScript;
    const elsewhere = [[fromHex("22".repeat(32)), 0]];
    const missing = { kind: "BadTranslation", language: 3, reason: "TranslationLogicMissingInput" };
    expect(errors(spending(utxos, [agrees], [[18, elsewhere]]))).toMatchObject([missing]);
    expect(errors(spending(utxos, [refuses]))).toEqual([{ kind: "NoWitness", script: plutusHash(3, agrees) }]);
    expect(errors(spending(utxos, [agrees]), { ...mainnetParameters, costModels: new Map() })).toEqual([
      { kind: "NoCostModel", language: 3 },
    ]);
    const mint = new Map<Encodable, Encodable>([[fromHex(hash), new Map([[new Uint8Array(), 1n]])]]);
    expect(errors(spending(utxos, [agrees, cageScript.compiledCode], [[9, mint]]))).toEqual([
      { kind: "NoRedeemer", purpose: "mint", index: 0 },
    ]);
  });

  it("reports that the decoder refuses a transaction, or an output that it refers to", () => {
    expect(run(Uint8Array.of(1, 2, 3), [])).toMatchObject({ kind: "undecodable" });
    const good = utxo(0, at(agrees));
    const bad = { ...good, output: { ...good.output, datum: Uint8Array.of(0xff) } };
    expect(run(spending([good], [agrees]), [bad])).toMatchObject({ kind: "undecodable" });
  });

  it("uses the given cost model", () => {
    const utxos = [utxo(0, at(agrees))];
    const costModels = new Map([...mainnetParameters.costModels].map(([language, model]) => {
      return [language, model.map((cost) => cost * 2n)] as const;
    }));
    const evaluation = evaluateScripts({
      transaction: spending(utxos, [agrees]),
      utxos,
      parameters: { ...mainnetParameters, costModels },
      slots,
    });
    expect(evaluation).toMatchObject({ redeemers: [{ units: { memory: 1_000n, steps: 128_200n } }] });
  });

  it("runs Plutus V2 and names the minting purpose", () => {
    const policy = fromHex(plutusHash(2, agreesWithTwo));
    const utxos = [utxo(0, key)];
    const mint = new Map<Encodable, Encodable>([[policy, new Map([[new Uint8Array(), 1n]])]]);
    const body = new Map<Encodable, Encodable>([
      [0, [[fromHex(utxos[0]!.ref.txHash), 0]]],
      [1, [[key, [4_000_000n, mint]]]],
      [2, 1_000_000n],
      [9, mint],
    ]);
    const witnesses = new Map<Encodable, Encodable>([[5, [[1, 0, 0n, [0, 0]]]], [6, [agreesWithTwo]]]);
    expect(run(encode([body, witnesses, true, null]), utxos)).toMatchObject({
      ok: true,
      redeemers: [{ purpose: "mint", index: 0 }],
    });
  });
});
