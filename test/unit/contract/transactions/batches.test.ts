/** Updates of many requests, and wallets of every kind. */
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { lovelace, sumValues } from "#src/cardano/value.ts";
import type { Operation } from "#src/contract/datum.ts";
import { buildBoot } from "#src/contract/transactions/boot.ts";
import { buildRequest } from "#src/contract/transactions/request.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { factsOf, judgeApplied, measure, must, op, Outputs } from "../../../support/contract/contractLedger.ts";
import { alice, asked, askedNew, bob, NAME, OwnedToken } from "../../../support/contract/ownedToken.ts";
import { assetId, coin, newRef, utxo } from "../../../support/wallets/person.ts";

afterEach(judgeApplied);

function update(token: OwnedToken, requests: readonly Utxo[], measured = measure) {
  return token.apply(must(buildUpdate(token.input(requests), token.facts, measured)), requests);
}

describe("many requests", () => {
  test("a hundred from one transaction, twenty-five at once: each is applied and refunded in the ledger's order", () => {
    const txHash = newRef().txHash;
    const requests = Array.from(
      { length: 100 },
      (_, index) =>
        asked(`key ${index}`, op.insert(`value ${index}`), {
          ref: { txHash, index },
          refund: index % 2 ? bob.base : bob.enterprise,
          lovelace: 3_000_000n + BigInt(index),
        }),
    );
    const token = new OwnedToken(new Forestry(), requests);
    for (let i = 0; i < 4; i++) {
      const batch = requests.filter((_, index) => index % 4 === i).reverse();
      const { fee, least } = update(token, batch);
      expect(fee).toBe(least);
    }
    expect(toHex(token.facts.root)).toBe(toHex(factsOf(100).root));
  });

  test("inputs 2 and 10 of one transaction, with the payer's own input 3 of it", () => {
    const txHash = newRef().txHash;
    const requests = [10, 2, 100].map((index) => asked(`${index}`, op.insert("v"), { ref: { txHash, index } }));
    const payer = coin(alice.base, 10_000_000n, undefined, { txHash, index: 3 });
    const token = new OwnedToken(new Forestry(), requests, [payer]);
    update(token, [...requests, requests[1]!]);
  });

  test("changes of one key build on each other in the ledger's order", () => {
    const txHash = newRef().txHash;
    const operations: Operation[] = [op.insert("1"), op.update("1", "2"), op.remove("2"), op.insert("3")];
    const requests = operations.map((operation, index) => asked("k", operation, { ref: { txHash, index } }));
    const token = new OwnedToken(new Forestry(), requests);
    update(token, [...requests].reverse());
    expect(token.facts.get(factsOf(0).root)).toBeUndefined();
  });

  test("the most that fit; one more is too large", () => {
    const token = new OwnedToken(factsOf(1000));
    const build = (count: number) => buildUpdate(token.input(askedNew(count)), token.facts, measure);
    expect(build(24).ok).toBe(true);
    expect(build(40)).toMatchObject({
      ok: false,
      error: { code: "too_large", details: { what: "bytes", limit: 16_384 } },
    });
    expect(toHex(token.facts.root)).toBe(toHex(factsOf(1000).root));
  });

  test("fees that requests offer pay for the update; the owner gets the rest", () => {
    const requests = Array.from({ length: 10 }, (_, i) => asked(`${i}`, op.insert("v"), { fee: 400_000n }));
    const coins = coin(alice.base, 2_000_000n);
    const token = new OwnedToken(new Forestry(), requests, [coins]);
    const { fee } = update(token, requests);
    const held = sumValues(token.outputs.at(alice.base).map(({ output }) => output.value)).lovelace;
    expect(held).toBe(2_000_000n + 4_000_000n - fee);
    expect(token.outputs.at(alice.base)).toContainEqual(coins);
  });
});

describe("wallets", () => {
  const request = asked("k", op.insert("v"), { fee: 0n });

  test("forty outputs of an ada each", () => {
    const outputs = new Outputs(...Array.from({ length: 60 }, () => coin(alice.enterprise, 1_000_000n)));
    const locking = must(buildRequest({
      ...outputs.input(alice.enterprise),
      token: NAME,
      key: utf8("k"),
      operation: op.insert("v".repeat(8_000)),
    }));
    expect(scanTransaction(locking.transaction).inputs.length).toBeGreaterThan(30);
    outputs.apply(locking, alice);
  });

  test("outputs with tokens pay if there is nothing else, and the tokens come back", () => {
    const assets = new Map(Array.from({ length: 90 }, (_, i) => [assetId(i % 40, i), BigInt(i + 1) << 40n] as const));
    const laden = [coin(alice.base, 9_000_000n, assets), coin(alice.base, 9_000_000n, assets)];
    const token = new OwnedToken(new Forestry(), [request], laden);
    update(token, [request]);
    const { assets: after } = sumValues(token.outputs.at(alice.base).map(({ output }) => output.value));
    expect(after).toEqual(sumValues(laden.map(({ output }) => output.value)).assets);
  });

  test("a thousand outputs, one of them with a reference script: it stays", () => {
    const kept = utxo({
      address: alice.base,
      value: lovelace(900_000_000n),
      script: new Uint8Array([0x82, 0x03, 0x41, 0x00]),
    });
    const coins = Array.from({ length: 1000 }, (_, i) => coin(alice.base, 1_000_000n + BigInt(i) * 1_000n));
    const token = new OwnedToken(new Forestry(), [request], [...coins, kept]);
    let runs = 0;
    update(token, [request], (...given) => {
      runs++;
      return measure(...given);
    });
    expect(runs).toBeLessThan(4);
    expect(token.outputs.at(alice.base)).toContainEqual(kept);
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
          const token = new OwnedToken();
          const facts = new Map<string, string>();
          for (const batch of batches) {
            const txHash = newRef().txHash;
            const requests = batch.flatMap(({ key, value, remove }, index) => {
              const old = facts.get(key);
              if (old === undefined && remove) return [];
              if (remove) facts.delete(key);
              else facts.set(key, value);
              const operation = old === undefined ? op.insert(value) : remove ? op.remove(old) : op.update(old, value);
              return [asked(key, operation, { ref: { txHash, index } })];
            });
            if (requests.length === 0) continue;
            token.outputs.add(...requests);
            update(token, requests);
          }
          expect(token.outputs.at(token.state.output.address)).toEqual([token.state]);
        },
      ),
      { numRuns: 12 },
    );
  });
});
