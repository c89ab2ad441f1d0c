import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { decode, type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { readOutput, type Utxo } from "#src/cardano/output.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { costModelNames } from "#src/plutus/costModelNames.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { agrees, agreesWithThree, agreesWithTwo, plutusHash, refusesSaying } from "../../support/plutus/scripts.ts";

const slots = { zeroTime: 1_600_000_000_000, zeroSlot: 0, slotLength: 1000 };
const key = Uint8Array.of(0x60, ...new Uint8Array(28));
const datum = encode(7);

function utxo(index: number, address: Uint8Array, more: [number, Encodable][] = []): Utxo {
  const fields = new Map<Encodable, Encodable>([[0, address], [1, 5_000_000n], ...more]);
  return { ref: { txHash: "11".repeat(32), index }, output: readOutput(decode(encode(fields))) };
}

const at = (language: 1 | 2 | 3, script: Uint8Array) => Uint8Array.of(0x70, ...fromHex(plutusHash(language, script)));

interface Parts {
  readonly utxos: readonly Utxo[];
  /** Pointers of redeemers: tag and index. */
  readonly redeemers: readonly (readonly [tag: number, index: number])[];
  readonly fields?: readonly (readonly [number, Encodable])[];
  readonly witnesses?: readonly (readonly [number, Encodable])[];
}

/** A transaction without signatures, units and script data hash. */
function draft({ utxos, redeemers, fields = [], witnesses = [] }: Parts): Uint8Array {
  const body = new Map<Encodable, Encodable>([
    [0, utxos.map(({ ref }) => [fromHex(ref.txHash), ref.index])],
    [1, [[key, 4_000_000n]]],
    [2, 0n],
    ...fields,
  ]);
  const pointed = redeemers.map((pointer) => [[...pointer], [42n, [0, 0]]] as const);
  const all: [number, Encodable][] = [...witnesses.map(([field, value]): [number, Encodable] => [field, value])];
  if (pointed.length > 0) all.push([5, new Map<Encodable, Encodable>(pointed)]);
  return encode([body, new Map<Encodable, Encodable>(all), true, null]);
}

const measure = (transaction: Uint8Array, utxos: readonly Utxo[], parameters = mainnetParameters) =>
  measureRedeemers({ transaction, utxos, parameters, slots });

describe("measureRedeemers", () => {
  it("gives the units that validation needs, for scripts of each version and for each purpose", () => {
    const [one, two, three] = [
      utxo(0, at(1, agreesWithThree), [[2, [0, fromHex(hash256(datum))]]]),
      utxo(1, at(2, agreesWithThree), [[2, [1, new Tagged(24, datum)]]]),
      utxo(2, at(3, agrees)),
    ];
    const account = (language: 1 | 2 | 3, script: Uint8Array) =>
      Uint8Array.of(0xf0, ...fromHex(plutusHash(language, script)));
    const policy = fromHex(plutusHash(3, agrees));
    const base = {
      fields: [
        [4, [[8, [1, fromHex(plutusHash(3, agrees))], 2_000_000n]]],
        [5, new Map([[account(2, agreesWithTwo), 0n], [account(3, agrees), 0n]])],
        [9, new Map([[policy, new Map([[new Uint8Array(), 1n]])]])],
      ] as [number, Encodable][],
      witnesses: [[4, [7]], [6, [agreesWithThree, agreesWithTwo]], [7, [agrees]]] as [number, Encodable][],
    };
    // an inline datum and a script of Plutus V1 exclude each other
    const first = draft({
      utxos: [one],
      redeemers: [[0, 0]],
      witnesses: [[3, [agreesWithThree]], [4, [7]]],
    });
    const second = draft({
      ...base,
      utxos: [two, three],
      redeemers: [[0, 0], [0, 1], [1, 0], [2, 0], [3, 0], [3, 1]],
      witnesses: base.witnesses.slice(1),
    });
    for (const [transaction, utxos, count] of [[first, [one], 1], [second, [two, three], 6]] as const) {
      const measured = measure(transaction, utxos);
      const evaluated = evaluateScripts({ transaction, utxos, parameters: mainnetParameters, slots });
      if (!measured.ok || !evaluated.ok) throw new Error(JSON.stringify([measured, evaluated], replacer));
      const units = (all: readonly { purpose: string; index: number; units: unknown }[]) =>
        new Map(all.map((each) => [`${each.purpose} ${each.index}`, each.units]));
      const values = measured.redeemers.map(({ purpose, index, result }) => ({
        purpose,
        index,
        units: result.ok && result.value,
      }));
      expect(units(values)).toEqual(units(evaluated.redeemers));
      expect(values).toHaveLength(count);
    }
  });

  it("says of each redeemer by itself what it lacks", () => {
    const saying = refusesSaying("no");
    const utxos = [
      utxo(0, at(3, agrees)),
      utxo(1, at(3, saying)),
      utxo(2, key),
      utxo(3, at(2, agreesWithThree), [
        [2, [0, fromHex(hash256(datum))]],
      ]),
    ];
    const transaction = draft({
      utxos,
      redeemers: [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]],
      fields: [[9, new Map([[new Uint8Array(28).fill(5), new Map([[new Uint8Array(), 1n]])]])]],
      witnesses: [[6, [agreesWithThree]], [7, [agrees, saying]]],
    });
    const measured = measure(transaction, utxos);
    expect(measured).toEqual({
      ok: true,
      redeemers: [
        { purpose: "spend", index: 0, result: { ok: true, value: { memory: 500n, steps: 64_100n } } },
        {
          purpose: "spend",
          index: 1,
          result: {
            ok: false,
            error: { kind: "failed", message: expect.stringMatching(/^the script /), logs: ["no"] },
          },
        },
        { purpose: "spend", index: 2, result: { ok: false, error: { kind: "no_target" } } },
        { purpose: "spend", index: 3, result: { ok: false, error: { kind: "no_datum", datum: hash256(datum) } } },
        { purpose: "mint", index: 0, result: { ok: false, error: { kind: "no_script", script: "05".repeat(28) } } },
      ],
    });
  });

  it("tells scripts of Plutus V1 from later ones, which see all redeemers, also those that point to nothing", () => {
    const redeemers = [[0, 0], [0, 9]] as const;
    const old = [utxo(0, at(1, agreesWithThree), [[2, [0, fromHex(hash256(datum))]]])];
    const witnesses: [number, Encodable][] = [[3, [agreesWithThree]], [4, [7]]];
    expect(measure(draft({ utxos: old, redeemers, witnesses }), old)).toMatchObject({
      redeemers: [{ result: { ok: true } }, { index: 9, result: { error: { kind: "no_target" } } }],
    });
    const utxos = [utxo(0, at(3, agrees))];
    expect(measure(draft({ utxos, redeemers, witnesses: [[7, [agrees]]] }), utxos)).toEqual({
      ok: false,
      kind: "no_context",
      reason: "RedeemerPointerPointsToNothing",
      about: "the redeemer for spend 9",
    });
  });

  it("has no budget beyond that of a transaction, and four times that for all redeemers", () => {
    const utxos = Array.from({ length: 6 }, (_, index) => utxo(index, at(3, agrees)));
    const transaction = draft({
      utxos,
      redeemers: utxos.map((_, index) => [0, index] as const),
      witnesses: [[7, [agrees]]],
    });
    const oks = (memory: bigint, steps: bigint) => {
      const measured = measure(transaction, utxos, { ...mainnetParameters, maxTxUnits: { memory, steps } });
      return measured.ok && measured.redeemers.map(({ result }) => result.ok);
    };
    expect(oks(500n, 64_100n)).toEqual([true, true, true, true, false, false]);
    expect(oks(499n, 64_100n)).toEqual([false, false, false, false, false, false]);
    const measured = measure(transaction, utxos, {
      ...mainnetParameters,
      maxTxUnits: { memory: 499n, steps: 64_100n },
    });
    expect(measured.ok && measured.redeemers[0]!.result).toMatchObject({
      error: { message: expect.stringContaining("499 memory and 64100 steps that a transaction may use") },
    });
  });

  it("gives no units where no script can see the transaction, or it is not read", () => {
    const utxos = [utxo(0, at(3, agrees))];
    const elsewhere: [number, Encodable] = [18, [[fromHex("22".repeat(32)), 4]]];
    const transaction = draft({ utxos, redeemers: [[0, 0]], fields: [elsewhere], witnesses: [[7, [agrees]]] });
    expect(measure(transaction, utxos)).toEqual({
      ok: false,
      kind: "no_context",
      reason: "TranslationLogicMissingInput",
      about: `input ${"22".repeat(32)}#4`,
    });
    expect(measure(fromHex("84a0a0f5"), [])).toMatchObject({ ok: false, kind: "undecodable" });
    const models = { ...mainnetParameters, costModels: new Map() };
    expect(measure(draft({ utxos, redeemers: [[0, 0]], witnesses: [[7, [agrees]]] }), utxos, models)).toMatchObject({
      redeemers: [{ result: { error: { kind: "no_cost_model", language: 3 } } }],
    });
    expect(measure(draft({ utxos, redeemers: [] }), utxos)).toEqual({ ok: true, redeemers: [] });
  });
});

function replacer(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value instanceof Uint8Array ? toHex(value) : value;
}

describe("costModelNames", () => {
  it("names every parameter of a language once, in the order of its cost model", () => {
    for (const language of [0, 1, 2]) {
      const names = costModelNames(language);
      expect(new Set(names).size).toBe(names.length);
      expect(names.length).toBeGreaterThanOrEqual(mainnetParameters.costModels.get(language)!.length);
    }
    expect(costModelNames(3)).toEqual([]);
  });

  it("ends with the names of the ledger where cost models of earlier protocol versions end", () => {
    // counts of `PlutusLedgerApi.V1` to `V3`, `ParamName`, before protocol version 11
    expect(costModelNames(0)[165]).toBe("verifyEd25519Signature-memory-arguments");
    expect(costModelNames(1)[174]).toBe("verifySchnorrSecp256k1Signature-memory-arguments");
    expect(costModelNames(2)[250]).toBe("byteStringToInteger-memory-arguments-slope");
    expect(costModelNames(2)[296]).toBe("ripemd_160-memory-arguments");
    expect(costModelNames(0).slice(17, 19)).toEqual(["cekApplyCost-exBudgetCPU", "cekApplyCost-exBudgetMemory"]);
  });
});
