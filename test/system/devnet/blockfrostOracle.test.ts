/**
 * Every answer of the Blockfrost API about random chains, against an oracle that reads only the blocks: after growth and after
 * rollbacks. The long form (test/long/blockfrostOracle.test.ts) has 1,000 blocks and asks everything.
 */
import { expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { ExplorerChain } from "../../support/explorer/explorerChain.ts";
import {
  Comparison,
  describedOperations,
  serviceOf,
  WITHOUT_CONTENT,
} from "../../support/explorer/explorerComparison.ts";
import { oracleAnswers } from "../../support/explorer/explorerOracleDocuments.ts";
import { Oracle } from "../../support/explorer/explorerOracle.ts";
import { seeded } from "../../support/base/seededRandom.ts";

test("the answers about a random chain are what the oracle computes from its blocks", async () => {
  const chain = await ExplorerChain.start(1);
  const comparison = new Comparison(serviceOf(chain), seeded(1));
  const compare = async () => {
    const oracle = new Oracle(chain.devnet.genesis, await chain.blocks(), chain.mempool());
    await comparison.run(oracle, 8);
    expect(comparison.differences.slice(0, 10)).toEqual([]);
  };
  await chain.complete();
  await compare();
  await noticesMissingParts(chain);
  await chain.rollback(20);
  for (let i = 0; i < 5; i++) await chain.step();
  await chain.present();
  await compare();
  expect(comparison.empty().sort()).toEqual([...WITHOUT_CONTENT.keys()].sort());
  await chain.stop();
});

/** Answers without their last element or member differ, in every operation. */
async function noticesMissingParts(chain: ExplorerChain): Promise<void> {
  const ask = serviceOf(chain);
  const without = (json: Json): Json => {
    if (Array.isArray(json)) return json.length === 0 ? [null] : json.slice(0, -1);
    return isObject(json) ? Object.fromEntries(Object.entries(json).slice(0, -1)) : null;
  };
  const comparison = new Comparison(async (path) => {
    const { status, text } = await ask(path);
    return { status, text: status === 200 ? toJson(without(parseJson(text))) : text };
  }, seeded(2));
  await comparison.run(new Oracle(chain.devnet.genesis, await chain.blocks(), chain.mempool()), 1);
  for (const [operation, { all }] of comparison.answers) {
    const path = new RegExp(`^${operation.replace(/\{\w+\}/g, "[^/?]+")}(\\?|$)`);
    // 404 is the same with and without its last member
    const noticed = comparison.differences.some(({ url }) => path.test(url));
    if (!noticed) expect([operation, comparison.found(operation)]).toEqual([operation, 0]);
    expect(all).toBeGreaterThan(0);
  }
}

test("the oracle knows every operation of the description that is in scope", () => {
  const elsewhere = /^\/(governance|ipfs|nutlink|metrics)(\/|$)/;
  const posted = ["/tx/submit", "/utils/txs/evaluate", "/utils/txs/evaluate/utxos"];
  const all = describedOperations().filter((operation) => !elsewhere.test(operation));
  expect(all).toHaveLength(97);
  expect([...Object.keys(oracleAnswers), ...posted].sort()).toEqual(all.sort());
});

test("transactions are evaluated on the outputs of the chain and of the mempool, and submitted", async () => {
  const chain = await ExplorerChain.start(3);
  const ask = serviceOf(chain);
  const { genesis } = chain.devnet;
  const post = async (path: string, type: string, body: string | Uint8Array<ArrayBuffer>) => {
    const { status, text } = await ask(path, { method: "POST", headers: { "content-type": type }, body });
    return { status, body: parseJson(text) };
  };
  const kinds = new Set<string>();
  for (let i = 0; i < 200 && kinds.size < 5; i++) {
    await chain.step();
    for (const kind of ["unlock", "unlockByReference", "plutusMint", "cip68", "scriptAccount"] as const) {
      const cbor = kinds.has(kind) ? undefined : await chain.draft(kind);
      if (!cbor) continue;
      const oracle = new Oracle(genesis, await chain.blocks(), chain.mempool());
      const { inputs, references, collateral, hash } = scanTransaction(cbor);
      // outputs of the mempool count too
      const pending = new Map(oracle.mempool.flatMap(({ created }) => created).map((one) => [refKey(one.ref), one]));
      const utxos = [...inputs, ...references, ...collateral].map((ref) =>
        (pending.get(refKey(ref)) ?? oracle.output(ref))!
      );
      const evaluation = evaluateScripts({
        transaction: cbor,
        utxos,
        parameters: oracle.state.parameters,
        slots: genesis.network.slots,
      });
      if (!evaluation.ok) throw new Error(evaluation.message);
      const units = evaluation.redeemers.map(({ purpose, index, units: { memory, steps } }) => ({
        purpose,
        index,
        memory: Number(memory),
        steps: Number(steps),
      }));
      expect(units.length).toBeGreaterThan(0);
      const named = { spend: "spend", mint: "mint", cert: "certificate", reward: "withdrawal" } as Record<
        string,
        string
      >;
      const version5 = {
        status: 200,
        body: {
          result: {
            EvaluationResult: Object.fromEntries(
              units.map(({ purpose, index, ...budget }) => [`${named[purpose]}:${index}`, budget]),
            ),
          },
        },
      };
      expect(await post("/utils/txs/evaluate", "application/cbor", toHex(cbor))).toMatchObject(version5);
      const both = toJson({ cbor: toHex(cbor), additionalUtxoSet: [] });
      expect(await post("/utils/txs/evaluate/utxos", "application/json", both)).toMatchObject(version5);
      const newer = { spend: "spend", mint: "mint", cert: "publish", reward: "withdraw" } as Record<string, string>;
      const { body } = await post("/utils/txs/evaluate?version=6", "application/cbor", toHex(cbor));
      const { result } = body as { result: { validator: { index: number; purpose: string }; budget: unknown }[] };
      const ordered = (list: readonly unknown[]) => list.map((one) => toJson(one)).sort();
      expect(ordered(result)).toEqual(ordered(units.map(({ purpose, index, memory, steps }) => ({
        validator: { index, purpose: newer[purpose] },
        budget: { memory, cpu: steps },
      }))));
      expect(await post("/tx/submit", "application/cbor", new Uint8Array(cbor))).toEqual({ status: 200, body: hash });
      expect(chain.devnet.mempool().at(-1)!.transaction.hash).toBe(hash);
      kinds.add(kind);
    }
  }
  expect([...kinds].sort()).toEqual(["cip68", "plutusMint", "scriptAccount", "unlock", "unlockByReference"]);
  await chain.stop();
});
