import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput, type Utxo } from "#src/cardano/output.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { agrees, agreesWithTwo, plutusHash, refuses, refusesSaying } from "../../support/scripts.ts";

const slots = { zeroTime: 1_600_000_000_000, zeroSlot: 0, slotLength: 1000 };
const at = (script: Uint8Array) => Uint8Array.of(0x70, ...fromHex(plutusHash(3, script)));
const key = Uint8Array.of(0x60, ...new Uint8Array(28));

function utxo(index: number, address: Uint8Array): Utxo {
  return {
    ref: { txHash: "11".repeat(32), index },
    output: readOutput(decode(encode(new Map<Encodable, Encodable>([[0, address], [1, 5_000_000n]])))),
  };
}

function spending(utxos: readonly Utxo[], scripts: readonly Uint8Array[], fields: [number, Encodable][] = []) {
  const body = new Map<Encodable, Encodable>([
    [0, utxos.map(({ ref }) => [fromHex(ref.txHash), ref.index])],
    [1, [[key, 4_000_000n]]],
    [2, 1_000_000n],
    ...fields,
  ]);
  const redeemers = new Map<Encodable, Encodable>(utxos.map((_, index) => [[0, index], [42n, [0, 0]]]));
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

  it("takes sets of unspent outputs of any size, and one output twice", () => {
    const utxos = Array.from({ length: 300 }, (_, index) => utxo(index, at(agrees)));
    const given = [...utxos, utxos[0]!];
    const evaluation = run(spending(utxos, [agrees]), given);
    expect(evaluation.ok && evaluation.redeemers.length).toBe(300);
  });

  it("says that a script failed, and what it traced", () => {
    const silent = [utxo(0, at(refuses))];
    expect(run(spending(silent, [refuses]), silent)).toMatchObject({ ok: false, logs: [] });
    const talking = refusesSaying("not today");
    const utxos = [utxo(0, at(talking))];
    const evaluation = run(spending(utxos, [talking]), utxos);
    expect(evaluation).toMatchObject({ ok: false, logs: ["not today"] });
    expect(!evaluation.ok && evaluation.message).toBeTruthy();
  });

  it("says that an input is not there", () => {
    const utxos = [utxo(0, at(agrees))];
    expect(run(spending(utxos, [agrees]), [])).toMatchObject({ ok: false });
  });

  it("says that bytes are no transaction", () => {
    expect(run(Uint8Array.of(1, 2, 3), [])).toMatchObject({ ok: false });
  });

  it("takes the cost model it is given", () => {
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
