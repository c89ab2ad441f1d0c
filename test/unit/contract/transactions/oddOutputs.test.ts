/**
 * Anybody can send an output to any address, in any encoding that the ledger's decoder accepts. Builds of other users
 * spend it like any other output.
 */
import { describe, expect, it } from "vitest";
import { concat } from "#src/base/bytes.ts";
import { decode, decodeAll } from "#src/cardano/cbor.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import { encodeOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { buildBatch } from "#src/contract/transactions/batch.ts";
import { buildBoot } from "#src/contract/transactions/boot.ts";
import { buildRetract } from "#src/contract/transactions/retract.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { readNewOutput } from "#src/cardano/conway/output.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { measure, must, op, Outputs, published } from "../../../support/contract/contractLedger.ts";
import { alice, asked, bob, OwnedToken } from "../../../support/contract/ownedToken.ts";
import { oddEncodings } from "../../../support/ledger/oddEncodings.ts";
import { assetId, coin, newRef } from "../../../support/wallets/person.ts";

/** The output in every encoding that the ledger's decoder accepts. */
function everyForm(output: Uint8Array): { readonly form: string; readonly utxo: Utxo }[] {
  return [...oddEncodings(output)].flatMap(({ name: form, bytes }) => {
    try {
      return [{ form, utxo: { ref: newRef(), output: readNewOutput(decode(bytes)).output } }];
    } catch {
      return [];
    }
  });
}

const data = encodeData(constr(1, 5n, new Uint8Array(40), [constr(0), 7n]));
const holding = { lovelace: 400_000_000n, assets: new Map([[assetId(1, 1), 5n], [assetId(1, 2), 6n]]) };
const gifts = [
  everyForm(encodeOutput({ address: alice.base, value: holding })),
  everyForm(encodeOutput({ address: alice.base, value: lovelace(400_000_000n), datum: data })),
].flat();

/**
 * Data that the ledger accepts and other machines do not decode: nested beyond their limits, or a constructor of 64
 * bits.
 */
const ODD_DATA = [
  concat(new Uint8Array(5_000).fill(0x81), Uint8Array.of(5)),
  Uint8Array.from([0xd8, 0x66, 0x82, 0x1b, ...new Array(8).fill(0xff), 0x80]),
];
const odder = ODD_DATA.map((datum): Utxo => ({
  ref: newRef(),
  output: readOutput(decodeAll(encodeOutput({ address: alice.base, value: lovelace(400_000_000n), datum }))),
}));

describe("a gift", () => {
  it("has many forms", () => expect(gifts.length).toBeGreaterThan(100));

  it("in any form pays for a new token", () => {
    for (const { form, utxo } of gifts) {
      const built = buildBoot(new Outputs(utxo).input(alice.base), measure);
      expect([form, built.ok && built.value.spends]).toEqual([form, [utxo]]);
    }
  });

  it("with data that other machines do not decode pays like any other", () => {
    for (const utxo of odder) {
      expect(must(buildBoot(new Outputs(utxo).input(alice.base), measure)).spends).toEqual([utxo]);
      const request = asked("a", op.insert("1"), { refund: alice.base });
      const retract = { ...new Outputs(utxo).input(alice.base), request };
      expect(must(buildRetract(retract, measure)).spends).toEqual([utxo]);
    }
  });

  it("costs no additional script runs together with hundreds of its kind", () => {
    const many = Array.from({ length: 100 }, () => ({ ...odder[0]!, ref: newRef() }));
    let runs = 0;
    const counting: Measure = (...given) => {
      runs++;
      return measure(...given);
    };
    must(buildBoot(new Outputs(...many).input(alice.base), counting));
    expect(runs).toBeLessThan(4);
  });
});

describe("a request", () => {
  const honest = asked("b", op.insert("2"));
  const odd = everyForm(asked("a", op.insert("1")).output.raw);
  const input = (requests: readonly Utxo[]) => new OwnedToken().input(requests);

  it("in any form is applied", () => {
    expect(odd.length).toBeGreaterThan(70);
    const base = must(buildUpdate(input([asked("a", op.insert("1"))]), new Forestry(), measure));
    for (const { form, utxo } of odd) {
      const built = buildUpdate(input([utxo]), new Forestry(), measure);
      expect([form, built.ok && built.value.root]).toEqual([form, base.root]);
    }
  });

  it("in all forms at once blocks no batch", () => {
    const requests = odd.map(({ utxo }) => utxo);
    const built = must(buildBatch(input([...requests, honest]), new Forestry(), measure));
    expect(built.applied).toContain(refKey(honest.ref));
    // of those with one key the first is applied
    expect(built.left.map(({ code }) => code)).toEqual(Array(requests.length - 1).fill("fact_exists"));
  });
});

describe("the machine", () => {
  it("receives outputs in addition to those of a transaction, in any form", () => {
    const whole = new Outputs(coin(alice.base, 50_000_000n)).input(alice.base);
    const { transaction } = must(buildBoot(whole, measure));
    const [seed] = whole.available.map(({ utxo }) => utxo);
    const others = [...gifts.slice(0, 20).map(({ utxo }) => utxo), ...odder, coin(bob.base, 1_000_000n), published];
    const { parameters, slots } = whole;
    const run = (utxos: readonly Utxo[]) => evaluateScripts({ transaction, utxos, parameters, slots });
    expect(run([seed!, ...others])).toMatchObject({ ok: true });
    expect(run(others)).toMatchObject({
      kind: "not_collected",
      errors: [{ kind: "BadTranslation", reason: "TranslationLogicMissingInput" }],
    });
  });
});
