/** Updates of many requests, and wallets of every kind. */
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { compareRefs, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { lovelace, sumValues } from "#src/cardano/value.ts";
import { decodeDatum, type Operation } from "#src/cage/datum.ts";
import { buildBoot } from "#src/cage/transactions/boot.ts";
import { buildRequest } from "#src/cage/transactions/request.ts";
import { buildUpdate } from "#src/cage/transactions/update.ts";
import { Forestry } from "#src/forestry/trie.ts";
import {
  factsOf,
  judgeApplied,
  measure,
  ModelToken,
  must,
  op,
  Outputs,
  requested,
  stated,
} from "../../support/contract/contractLedger.ts";
import { assetId, coin, newRef, person, utxo } from "../../support/wallets/person.ts";

afterEach(judgeApplied);

const alice = person("alice");
const bob = person("bob");
const name = "5a".repeat(32);

function model(facts = new Forestry()): ModelToken {
  return new ModelToken(name, stated(name, alice.key, facts), facts);
}

/** Builds and applies an update, and checks each refund. */
function update(outputs: Outputs, token: ModelToken, requests: readonly Utxo[], measured = measure) {
  const built = must(
    buildUpdate({ ...outputs.input(alice.base), state: token.state, requests }, token.facts, measured),
  );
  const applied = outputs.apply(built, alice);
  const ordered = [...new Set(requests)].sort((a, b) => compareRefs(a.ref, b.ref));
  token.follow(applied.created[0]!, ordered);
  expect(toHex(token.facts.root)).toBe(built.root);
  ordered.forEach(({ output }, i) => {
    const datum = decodeDatum(output.datum!);
    if (datum?.type !== "request") throw new TypeError("no request");
    const refund = applied.created[i + 1]!.output;
    expect(refund.value).toEqual(lovelace(output.value.lovelace - datum.request.fee));
    expect(refund.address.slice(2, 58)).toBe(datum.request.refund.payment);
  });
  return { ...applied, built };
}

describe("many requests", () => {
  test("a hundred from one transaction, twenty-five at once: each is applied and refunded in the ledger's order", () => {
    const token = model();
    const txHash = newRef().txHash;
    const requests = Array.from(
      { length: 100 },
      (_, index) =>
        requested(name, `key ${index}`, op.insert(`value ${index}`), {
          ref: { txHash, index },
          refund: index % 2 ? bob.base : bob.enterprise,
          lovelace: 3_000_000n + BigInt(index),
        }),
    );
    const outputs = new Outputs(coin(alice.base, 10_000_000n), token.state, ...requests);
    for (let i = 0; i < 4; i++) {
      const batch = requests.filter((_, index) => index % 4 === i).reverse();
      const { fee, least } = update(outputs, token, batch);
      expect(fee).toBe(least);
    }
    expect(toHex(token.facts.root)).toBe(toHex(factsOf(100).root));
  });

  test("inputs 2 and 10 of one transaction, with the payer's own input 3 of it", () => {
    const token = model();
    const txHash = newRef().txHash;
    const requests = [10, 2, 100].map((index) =>
      requested(name, `${index}`, op.insert("v"), { ref: { txHash, index } })
    );
    const outputs = new Outputs(
      coin(alice.base, 10_000_000n, undefined, { txHash, index: 3 }),
      token.state,
      ...requests,
    );
    update(outputs, token, [...requests, requests[1]!]);
  });

  test("changes of one key build on each other in the ledger's order", () => {
    const token = model();
    const txHash = newRef().txHash;
    const operations: Operation[] = [op.insert("1"), op.update("1", "2"), op.remove("2"), op.insert("3")];
    const requests = operations.map((operation, index) => requested(name, "k", operation, { ref: { txHash, index } }));
    const outputs = new Outputs(coin(alice.base, 10_000_000n), token.state, ...requests);
    update(outputs, token, [...requests].reverse());
    expect(token.facts.get(factsOf(0).root)).toBeUndefined();
  });

  test("the most that fit; one more is too large", () => {
    const token = model(factsOf(1000));
    const make = (count: number) =>
      Array.from({ length: count }, (_, i) => requested(name, `new ${i}`, op.insert("v")));
    const outputs = new Outputs(coin(alice.base, 10_000_000n), token.state);
    const build = (count: number) =>
      buildUpdate({ ...outputs.input(alice.base), state: token.state, requests: make(count) }, token.facts, measure);
    expect(build(24).ok).toBe(true);
    expect(build(40)).toMatchObject({
      ok: false,
      error: { code: "too_large", details: { what: "bytes", limit: 16_384 } },
    });
    expect(toHex(token.facts.root)).toBe(toHex(factsOf(1000).root));
  });

  test("fees that requests offer pay for the update; the owner gets the rest", () => {
    const token = model();
    const requests = Array.from({ length: 10 }, (_, i) => requested(name, `${i}`, op.insert("v"), { fee: 400_000n }));
    const coins = coin(alice.base, 2_000_000n);
    const outputs = new Outputs(coins, token.state, ...requests);
    const { fee } = update(outputs, token, requests);
    const held = sumValues(outputs.at(alice.base).map(({ output }) => output.value)).lovelace;
    expect(held).toBe(2_000_000n + 4_000_000n - fee);
    expect(outputs.at(alice.base)).toContainEqual(coins);
  });
});

describe("wallets", () => {
  const request = requested(name, "k", op.insert("v"), { fee: 0n });

  test("forty outputs of an ada each", () => {
    const token = model();
    const outputs = new Outputs(...Array.from({ length: 60 }, () => coin(alice.enterprise, 1_000_000n)));
    const locking = must(buildRequest({
      ...outputs.input(alice.enterprise),
      token: token.token,
      key: utf8("k"),
      operation: op.insert("v".repeat(8_000)),
    }));
    expect(scanTransaction(locking.transaction).inputs.length).toBeGreaterThan(30);
    outputs.apply(locking, alice);
  });

  test("outputs with tokens pay if there is nothing else, and the tokens come back", () => {
    const token = model();
    const assets = new Map(Array.from({ length: 90 }, (_, i) => [assetId(i % 40, i), BigInt(i + 1) << 40n] as const));
    const laden = [coin(alice.base, 9_000_000n, assets), coin(alice.base, 9_000_000n, assets)];
    const outputs = new Outputs(...laden, token.state, request);
    update(outputs, token, [request]);
    const { assets: after } = sumValues(outputs.at(alice.base).map(({ output }) => output.value));
    expect(after).toEqual(sumValues(laden.map(({ output }) => output.value)).assets);
  });

  test("a thousand outputs, one of them with a reference script: it stays", () => {
    const token = model();
    const kept = utxo({
      address: alice.base,
      value: lovelace(900_000_000n),
      script: new Uint8Array([0x82, 0x03, 0x41, 0x00]),
    });
    const outputs = new Outputs(
      ...Array.from({ length: 1000 }, (_, i) => coin(alice.base, 1_000_000n + BigInt(i) * 1_000n)),
      kept,
      token.state,
      request,
    );
    let runs = 0;
    update(outputs, token, [request], (...given) => {
      runs++;
      return measure(...given);
    });
    expect(runs).toBeLessThan(4);
    expect(outputs.at(alice.base)).toContainEqual(kept);
  });

  test("reserved outputs are not used while others suffice, and are used otherwise", () => {
    const [reserved, free] = [coin(alice.base, 50_000_000n), coin(alice.base, 5_000_000n)];
    const outputs = new Outputs(reserved, free);
    const build = (available: Parameters<typeof buildBoot>[0]["available"]) =>
      must(buildBoot({ ...outputs.input(alice.base), available }, measure));
    const spared = build([{ utxo: reserved, preference: 1 }, { utxo: free }]);
    expect(spared.spends).toEqual([free]);
    expect(build([{ utxo: reserved, preference: 1 }]).spends).toEqual([reserved]);
  });
});

describe("any sequence of changes", () => {
  test("is built, agrees with the model, and refunds every deposit", () => {
    const key = fc.constantFrom(..."abcdefgh");
    const value = fc.constantFrom("", "1", "2024", "ü".repeat(40));
    const change = fc.record({ key, value, remove: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
        (batches) => {
          const token = model();
          const facts = new Map<string, string>();
          const outputs = new Outputs(coin(alice.base, 10_000_000n), token.state);
          for (const batch of batches) {
            const txHash = newRef().txHash;
            const requests = batch.flatMap(({ key, value, remove }, index) => {
              const old = facts.get(key);
              if (old === undefined && remove) return [];
              if (remove) facts.delete(key);
              else facts.set(key, value);
              const operation = old === undefined ? op.insert(value) : remove ? op.remove(old) : op.update(old, value);
              return [requested(name, key, operation, { ref: { txHash, index } })];
            });
            if (requests.length === 0) continue;
            outputs.add(...requests);
            update(outputs, token, requests);
          }
          expect(outputs.all().filter(({ output }) => output.address === token.state.output.address)).toEqual([
            token.state,
          ]);
        },
      ),
      { numRuns: 12 },
    );
  });
});
