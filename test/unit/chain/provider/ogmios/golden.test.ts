/** A server that replays messages of Ogmios 7.0 with random content: each is read, or ends in a stated failure. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { isObject, type Json } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { type OgmiosPort, ogmiosPort } from "#src/chain/provider/ogmios/port.ts";
import { MemoryChain } from "../../../../support/chain/memoryChain.ts";
import { type Alter, type OgmiosChain, serveOgmiosChain } from "../../../../support/chain/ogmiosChain.ts";
import { golden } from "../../../../support/ogmios/golden.ts";
import { newRef, person } from "../../../../support/wallets/person.ts";

type Item = { [name: string]: Json };

let served: OgmiosChain;
let port: OgmiosPort;
beforeAll(() => {
  const chain = new MemoryChain();
  chain.add();
  served = serveOgmiosChain(chain);
  port = ogmiosPort({ url: served.url, magic: 42, log: silentLog, firstWaitMs: 1 });
});
afterAll(async () => {
  port.close();
  await served.stop();
});

/** The messages of a directory, without their ids. */
const messages = (directory: string): Item[] => (golden(directory) as Item[]).map(({ id: _, ...message }) => message);

/** A slot or a height as it is read: random ones may be larger than a number is exact. */
const exact = (value: number) => Math.min(Number(value), Number.MAX_SAFE_INTEGER);

/** Answers requests of a method with a message of the vectors. */
const replaying = (method: string, message: Item): Alter => (request, { id }) =>
  request.method === method ? { ...message, id: id! } : undefined;

it("every block is given as it is, or is of an era that is not known", async () => {
  const blocks = messages("NextBlockResponse").flatMap(({ result }) =>
    isObject(result) && isObject(result.block) ? [result.block] : []
  );
  expect(blocks.length).toBeGreaterThan(30);
  let unknown = 0;
  for (const block of blocks) {
    // at the tip, so that the message is consistent with itself; a boundary block states no slot
    const { slot = 0, id, height } = block as { slot?: number; id: string; height: number };
    served.alter = ({ method, times }, answer) =>
      method === "nextBlock" && times === 2
        ? { ...answer, result: { direction: "forward", block, tip: { slot, id, height } } }
        : undefined;
    const steps = port.follow([], new AbortController().signal)[Symbol.asyncIterator]();
    expect((await steps.next()).value).toMatchObject({ type: "backward" });
    const next = await steps.next().catch((error) => error);
    if (block.era === "dijkstra") {
      expect(next).toMatchObject({ code: "era_unknown" });
      unknown++;
      continue;
    }
    const { block: given } = next.value as { block: ScannedBlock };
    expect({ slot: given.slot, hash: given.hash, height: given.height }).toEqual({
      slot: exact(slot),
      hash: id,
      height: exact(height),
    });
    const stated = (block.transactions ?? []) as Item[];
    expect(given.transactions.map(({ hash }) => hash)).toEqual(stated.map((one) => one.id));
    for (const [i, transaction] of given.transactions.entries()) {
      expect(transaction.inputs).toHaveLength((stated[i]!.inputs as Json[]).length);
      expect(transaction.outputs).toHaveLength((stated[i]!.outputs as Json[] | undefined)?.length ?? 0);
      expect(transaction.valid).toBe(stated[i]!.spends === "inputs");
    }
    await steps.return!();
  }
  expect(unknown).toBeLessThan(blocks.length / 2);
}, 30_000);

const cbor = encodeTransaction({
  inputs: [newRef()],
  outputs: [{ address: person("anna").enterprise, value: lovelace(2_000_000n) }],
  fee: 0n,
});

it("every error of a submission is a refusal with a failure", async () => {
  const errors = messages("SubmitTransactionResponse").filter(({ error }) => error !== undefined);
  expect(errors.length).toBeGreaterThan(100);
  const names = new Set<string>();
  for (const message of errors) {
    // the memory of the server accepts what the message refuses
    served.alter = (request, answer) =>
      request.method === "hasTransaction"
        ? { ...answer, result: false }
        : replaying("submitTransaction", message)(request, answer);
    const answer = await port.submit(cbor);
    if (!answer.ok || answer.value.outcome !== "refused") throw new Error(JSON.stringify([message, answer]));
    expect(answer.value.failures).toHaveLength(1);
    names.add(answer.value.failures[0]!.name);
  }
  expect(names.size).toBeGreaterThan(30);
});

it("no answer with another id is taken for the transaction", async () => {
  const accepted = messages("SubmitTransactionResponse").filter(({ result }) => result !== undefined);
  expect(accepted.length).toBeGreaterThan(0);
  for (const message of accepted) {
    served.alter = replaying("submitTransaction", message);
    expect(await port.submit(cbor)).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
  }
});

it.each<[string, string, () => Promise<{ readonly ok: boolean }>]>([
  [
    "QueryLedgerStateRewardAccountSummaries",
    "rewardAccountSummaries",
    () => port.accounts([{ kind: "key", hash: "ab".repeat(28) }]),
  ],
  ["QueryLedgerStateDelegateRepresentatives", "delegateRepresentatives", () => port.dreps()],
  ["QueryLedgerStateUtxo", "utxo", () => port.utxosByRef([newRef()])],
])("every message of %s is an answer, or a stated failure", async (directory, query, ask) => {
  let answered = 0;
  for (const message of messages(directory)) {
    served.alter = replaying(`queryLedgerState/${query}`, message);
    const { ok } = await ask();
    expect(ok).toBe(message.error === undefined);
    answered += Number(ok);
  }
  expect(answered).toBeGreaterThan(0);
});

it("every message about a mempool is an answer, or a stated failure", async () => {
  for (const message of messages("HasTransactionResponse")) {
    served.alter = replaying("hasTransaction", message);
    expect((await port.inMempool("ab".repeat(32))).ok).toBe(message.error === undefined);
  }
  let transactions = 0;
  for (const message of messages("NextTransactionResponse")) {
    let times = 0;
    served.alter = (request, answer) =>
      request.method === "nextTransaction" && times++ === 0 ? { ...message, id: answer.id! } : undefined;
    const read = await port.mempool(new Set());
    expect(read.ok).toBe(message.error === undefined);
    if (read.ok) transactions += read.value.hashes.size;
  }
  expect(transactions).toBeGreaterThan(0);
});

it("a ledger state that cannot be acquired, by every message, is a stated failure", async () => {
  for (const message of messages("AcquireLedgerStateResponse")) {
    served.alter = replaying("acquireLedgerState", message);
    expect((await port.utxosByRef([])).ok).toBe(message.error === undefined);
  }
});
