/** The service `submit`: evaluation and submission of transactions, and the mempool. */
import type { submit } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { PendingTransaction } from "#src/devnet/blocks/mempool.ts";
import { readIncluded, readMempoolHashes } from "#src/devnet/blocks/rows.ts";
import { evaluateTransaction } from "#src/devnet/serve/evaluation.ts";
import { failuresAtNode } from "#src/devnet/serve/rejection.ts";
import type { Streaming, Unary } from "#src/devnet/serve/utxorpc/handlers/handler.ts";
import { judged, pendingOutputs } from "#src/devnet/serve/utxorpc/judged.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";
import { redeemerMessage, transactionMessageOf } from "#src/devnet/serve/utxorpc/messages/transaction.ts";
import { unitsMessage } from "#src/devnet/serve/utxorpc/messages/values.ts";
import { transactionTest } from "#src/devnet/serve/utxorpc/patterns.ts";
import { exhausted, hexOf, invalid, type Served, unavailable, untilChange } from "#src/devnet/serve/utxorpc/served.ts";
import { showFailure } from "#src/node/rejections/haskellText.ts";
import type { RedeemerFailure } from "#src/plutus/types.ts";

/** Most transactions of a request. */
const MOST_TRANSACTIONS = 100;
const HASH_BYTES = 32;
/** Transactions of the mempool of another process that are read. */
const MEMPOOL_ROWS = 10_000;

/** Where a transaction is, by the numbers of the messages. */
const STAGE = { unknown: 0, mempool: 2, confirmed: 4 } as const satisfies Record<string, submit.Stage>;

/** A request with a transaction, or with several before 0.18. */
interface WithTransactions {
  readonly tx?: submit.AnyChainTx | readonly submit.AnyChainTx[];
}

export interface SubmitHandlers {
  readonly submitTx: Unary<WithTransactions, { ref: Uint8Array[] }>;
  readonly evalTx: Unary<WithTransactions, { report: submit.AnyChainEval[] }>;
  readonly readMempool: Unary<submit.ReadMempoolRequest, submit.ReadMempoolResponse>;
  readonly waitForTx: Streaming<submit.WaitForTxRequest, submit.WaitForTxResponse>;
  readonly watchMempool: Streaming<submit.WatchMempoolRequest, submit.WatchMempoolResponse>;
}

/** The handlers for a devnet. Answers with a list have one element for each transaction of the request. */
export function submitHandlers(served: Served): SubmitHandlers {
  const { devnet, store, form } = served;
  const inMempool = (transaction: PendingTransaction): Draft<submit.TxInMempool> => {
    const message = transactionMessageOf(transaction.cbor, pendingOutputs(transaction), form);
    return {
      ref: fromHex(transaction.transaction.hash),
      nativeBytes: transaction.cbor,
      stage: STAGE.mempool,
      ...(message ? { parsedState: { case: "cardano", value: message } } : {}),
    };
  };
  return {
    submitTx: async (request) => {
      const ref: Uint8Array[] = [];
      for (const bytes of rawTransactions(request)) ref.push(await submitOne(served, bytes));
      return { ref };
    },
    evalTx: async (request) => {
      const report: Draft<submit.AnyChainEval>[] = [];
      for (const bytes of rawTransactions(request)) {
        report.push({ chain: { case: "cardano", value: await evaluateOne(served, bytes) } });
      }
      return { report };
    },
    readMempool: async () => ({ items: devnet.mempool().map(inMempool) }),
    waitForTx: async function* ({ ref: refs }, signal) {
      if (refs.length > MOST_TRANSACTIONS) throw invalid(`A request may have ${MOST_TRANSACTIONS} transactions.`);
      const hashes = [...new Set(refs.map((ref) => hexOf(ref, HASH_BYTES, "The hash of a transaction")))];
      const last = new Map<string, submit.Stage>();
      while (!signal.aborted) {
        const since = devnet.changes();
        const stages = await stagesOf(served, hashes.filter((hash) => last.get(hash) !== STAGE.confirmed));
        for (const [hash, stage] of stages) {
          if (last.get(hash) !== stage) yield { ref: fromHex(hash), stage };
          last.set(hash, stage);
        }
        if (hashes.every((hash) => last.get(hash) === STAGE.confirmed)) return;
        await untilChange(served, since, signal);
      }
    },
    watchMempool: async function* ({ predicate }, signal) {
      const test = transactionTest(predicate);
      // those that were sent, and are in the mempool still
      let sent = new Map<string, Draft<submit.TxInMempool>>();
      while (!signal.aborted) {
        const since = devnet.changes();
        const pending = devnet.mempool();
        const hashes = new Set(pending.map(({ transaction }) => transaction.hash));
        const left = [...sent].filter(([hash]) => !hashes.has(hash));
        const included = await readIncluded(store.sql, left.map(([hash]) => hash));
        for (const [hash, tx] of left) {
          if (included.has(hash)) yield { tx: { ...tx, stage: STAGE.confirmed } };
        }
        sent = new Map([...sent].filter(([hash]) => hashes.has(hash)));
        for (const one of pending) {
          const { hash } = one.transaction;
          if (sent.has(hash) || signal.aborted) continue;
          if (!test(judged(one.transaction, pendingOutputs(one)))) continue;
          const tx = inMempool(one);
          sent.set(hash, { ref: tx.ref, nativeBytes: tx.nativeBytes });
          yield { tx };
        }
        await untilChange(served, since, signal);
      }
    },
  };
}

/** The bytes of the transactions of a request. */
function rawTransactions({ tx }: WithTransactions): Uint8Array[] {
  const given = tx === undefined ? [] : "type" in tx ? [tx] : tx;
  if (given.length === 0) throw invalid("missing tx");
  if (given.length > MOST_TRANSACTIONS) throw invalid(`A request may have ${MOST_TRANSACTIONS} transactions.`);
  return given.map(({ type }) => {
    if (type.case !== "raw") throw invalid("missing or unsupported tx type");
    return type.value;
  });
}

/** Submits a transaction; gives its hash. */
async function submitOne({ devnet }: Served, bytes: Uint8Array): Promise<Uint8Array> {
  const submitted = await devnet.submit(bytes);
  if (!submitted.ok) {
    const { code, message } = submitted.error;
    switch (code) {
      case "undecodable":
        throw refused(message);
      case "mempool_full":
        throw exhausted(message);
      case "devnet_unavailable":
        throw unavailable(message);
    }
  }
  if (submitted.value.outcome === "accepted") return fromHex(scanTransaction(bytes).hash);
  const { failures } = submitted.value;
  const [first] = failures;
  if (first?.name === "DeserialiseFailure") throw refused(first.message);
  throw refused((await failuresAtNode(devnet, failures, bytes)).map(showFailure).join("; "));
}

const refused = (why: string) => invalid(`could not process tx: ${why}`);

/** Evaluates a transaction. What is wrong with its scripts is in the report; redeemers are in the order of the witness set. */
async function evaluateOne(served: Served, bytes: Uint8Array) {
  const evaluated = await evaluateTransaction(served, bytes, []);
  switch (evaluated.kind) {
    case "unavailable":
      throw unavailable(evaluated.message);
    case "undecodable":
      throw invalid(`could not decode tx: ${evaluated.message}`);
    case "overlap":
      throw new Error("outputs overlap, of which none were given");
    case "no_context":
      return { errors: [{ msg: `${evaluated.reason}: ${evaluated.about}` }] };
  }
  const read = readTransaction(bytes);
  if (!read.ok) throw invalid(`could not decode tx: ${read.error.message}`);
  const { body: { fee }, witnesses } = read.value;
  const measured = new Map(evaluated.redeemers.map((one) => [`${one.purpose} ${one.index}`, one.result]));
  const total = { memory: 0n, steps: 0n };
  const errors: { msg: string }[] = [];
  const traces: { msg: string }[] = [];
  const redeemers = witnesses.redeemers.flatMap((redeemer) => {
    const result = measured.get(`${redeemer.purpose} ${redeemer.index}`);
    if (!result) return [];
    if (!result.ok) {
      errors.push({ msg: `${redeemer.purpose} ${redeemer.index}: ${messageOf(result.error)}` });
      if (result.error.kind === "failed") traces.push(...result.error.logs.map((msg) => ({ msg })));
      return [];
    }
    total.memory += result.value.memory;
    total.steps += result.value.steps;
    return [redeemerMessage({ ...redeemer, units: result.value })];
  });
  return { fee: served.form.quantity(fee), exUnits: unitsMessage(total), errors, traces, redeemers };
}

function messageOf(failure: RedeemerFailure): string {
  switch (failure.kind) {
    case "no_target":
      return "the redeemer points to nothing that a Plutus script must agree to";
    case "no_script":
      return `the script ${failure.script} is missing`;
    case "no_datum":
      return `the datum ${failure.datum} is missing`;
    case "no_cost_model":
      return `there is no cost model for Plutus V${failure.language}`;
    case "failed":
      return failure.message;
  }
}

/** Where transactions are now. */
async function stagesOf({ devnet, store }: Served, hashes: readonly string[]): Promise<[string, submit.Stage][]> {
  // the mempool first: what leaves it in between is in a block already
  const pending = new Set(
    devnet.runs()
      ? devnet.mempool().map(({ transaction }) => transaction.hash)
      : await readMempoolHashes(store.sql, MEMPOOL_ROWS),
  );
  const included = await readIncluded(store.sql, hashes);
  return hashes.map((hash) => [
    hash,
    included.has(hash) ? STAGE.confirmed : pending.has(hash) ? STAGE.mempool : STAGE.unknown,
  ]);
}
