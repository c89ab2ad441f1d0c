/** What the explorer page reads: transactions in full, refusals, live state, search, and the chain's index. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { isHex } from "#src/base/bytes.ts";
import { type Log, reason } from "#src/base/log.ts";
import * as api from "#src/devnet/api/explorer.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { refKey } from "#src/cardano/output.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import type { Departure } from "#src/devnet/blocks/departures.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { readNewestTransactions, readTransaction as readIndexed } from "#src/devnet/index/reads/transactions.ts";
import { readLoad } from "#src/devnet/index/reads/blocks.ts";
import { addOperations, blockfrostOperations } from "#src/devnet/serve/blockfrost/app.ts";
import type { Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import { addressTransactionRoutes } from "#src/devnet/serve/explorer/addressTransactions.ts";
import { findOutputs } from "#src/devnet/serve/explorer/outputs.ts";
import { governanceRoutes } from "#src/devnet/serve/explorer/governance.ts";
import { liveState, liveStates } from "#src/devnet/serve/explorer/live.ts";
import { search } from "#src/devnet/serve/explorer/search.ts";
import { findTransaction, type FoundTransaction, readDeparted } from "#src/devnet/serve/explorer/state.ts";
import { outputView, partsView, refsOf } from "#src/devnet/serve/explorer/transactionView.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { eventStream, eventText, KEEP_ALIVE_MS } from "#src/http/eventStream.ts";
import { endpoint } from "#src/http/route.ts";
import type { MeasureRedeemers, RedeemerFailure } from "#src/plutus/types.ts";
import type { Store } from "#src/store/store.ts";

export interface ExplorerRoutesOptions {
  readonly devnet: Devnet;
  readonly store: Pick<Store, "sql">;
  readonly log: Log;
  /** Measures the redeemers of a transaction, in a thread. */
  readonly measure: MeasureRedeemers;
  /** Whether the index of the chain is kept. */
  readonly index: boolean;
}

/** Path of the index, in the paths of Blockfrost. */
export const INDEX_PREFIX = "/explorer/v0";
/** Most pages that may follow the state at a time. */
const MOST_READERS = 200;

const notFound = () =>
  new HttpFailure(
    404,
    "transaction_unknown",
    "No transaction with this hash is in a block, in the mempool, or among those that were refused lately.",
  );

/** Adds the endpoints. */
export function explorerRoutes(app: OpenAPIHono, options: ExplorerRoutesOptions): void {
  const { devnet, store: { sql }, log, measure, index } = options;
  listRoutes(app, options);
  transactionRoutes(app, options);
  scriptRunRoutes(app, options);
  governanceRoutes(app, { devnet, sql, requireIndex: () => requireIndex(index) });
  addressTransactionRoutes(app, { devnet, store: options.store, requireIndex: () => requireIndex(index) });

  liveRoutes(app, devnet);
  const operations = blockfrostOperations({ devnet, store: { sql }, measure, log })
    .filter(({ method, path }) => method === "GET" && !path.startsWith("/health"));
  addOperations(app, operations.map((operation) => inOwnWords(operation, index)), [INDEX_PREFIX]);
}

/** Lists of transactions, and the search. */
function listRoutes(app: OpenAPIHono, { devnet, store: { sql }, index }: ExplorerRoutesOptions): void {
  const { slots } = devnet.network;

  endpoint(app, "get", "/transactions", {
    summary: "Transactions of all blocks or of one, newest first",
    query: {
      count: z.coerce.number().int().min(1).max(100).default(20),
      before: z.string().regex(/^\d{1,10}:\d{1,10}$/).optional().describe("The `next` of an answer: older ones."),
      block: z.coerce.number().int().min(0).max(2 ** 31 - 1).optional().describe("Height of a block."),
    },
    answer: api.transactionList,
    refusals: { 404: "`index_off`" },
  }, async ({ query: { count, before, block } }) => {
    requireIndex(index);
    const [height = 0, at = 0] = before?.split(":").map(Number) ?? [];
    const rows = await readNewestTransactions(sql, {
      limit: count + 1,
      before: before === undefined ? undefined : { height, index: at },
      height: block,
    });
    const shown = rows.slice(0, count);
    const last = rows.length > count ? shown.at(-1) : undefined;
    return {
      transactions: shown.map(({ tx_index: index, slot, ...row }) => ({
        ...row,
        index,
        slot: Number(slot),
        time: slotTime(slots, Number(slot)),
      })),
      next: last && `${last.height}:${last.tx_index}`,
    };
  });

  endpoint(app, "get", "/load", {
    summary: "Bytes, units of scripts and fees of the newest blocks or epochs",
    query: {
      by: z.enum(["block", "epoch"]).default("block"),
      count: z.coerce.number().int().min(1).max(100).default(60),
    },
    answer: api.load,
    refusals: { 404: "`index_off`" },
  }, async ({ query: { by, count } }) => {
    requireIndex(index);
    const rows = (await readLoad(sql, by, count)).reverse().map(({ slot, ...row }) => ({
      of: Number(row.of),
      time: slotTime(slots, Number(slot)),
      blocks: Number(row.blocks),
      transactions: Number(row.transactions),
      bytes: Number(row.bytes),
      fees: Number(row.fees),
      memory: Number(row.memory),
      steps: Number(row.steps),
    }));
    return { rows };
  });

  endpoint(app, "get", "/search", {
    summary: "What a text names: a hash, height, slot, epoch, address, pool, policy, asset, fingerprint or script",
    description:
      "Of hashes, addresses, pool ids and names the beginning is enough: 6 characters (behind the prefix of bech32), or 3 of a " +
      "name. Each kind has at most 10 hits.",
    query: { q: z.string().min(1).max(300) },
    answer: api.searchAnswer,
  }, async ({ query: { q } }) => await search({ sql, devnet }, q));

  endpoint(app, "get", "/transactions/refused", {
    summary: "Transactions that were refused or left without a block, newest first",
    description: "The last 500 at most, of those that are in no block and not in the mempool.",
    query: {
      count: z.coerce.number().int().min(1).max(500).default(50),
      kind: z.enum(["refused", "dropped", "withdrawn"]).optional(),
    },
    answer: api.departures,
  }, async ({ query: { count, kind } }) => {
    const all = (await readDeparted(sql, devnet)).filter((one) => kind === undefined || one.kind === kind);
    const transactions = all.slice(0, count).map((departure) => ({
      hash: departure.hash,
      bytes: departure.cbor.length,
      ...departureView(departure),
    }));
    return { total: all.length, transactions };
  });
}

const params = { hash: z.string().min(1).max(64).describe("Hash of the transaction.") };
const refusals = { 404: "`transaction_unknown`" };

async function transactionOf(
  { devnet, store: { sql } }: ExplorerRoutesOptions,
  text: string,
): Promise<FoundTransaction> {
  const transaction = isHex(text, 32) ? await findTransaction(sql, devnet, text.toLowerCase()) : undefined;
  if (!transaction) throw notFound();
  return transaction;
}

/** A transaction in full. */
function transactionRoutes(app: OpenAPIHono, options: ExplorerRoutesOptions): void {
  const { devnet, store: { sql } } = options;
  const { genesis, network: { id: network, slots } } = devnet;

  endpoint(app, "get", "/transactions/:hash", {
    summary: "A transaction in full: where it is, why it was refused, its parts decoded, the outputs it refers to",
    params,
    answer: api.transaction,
    refusals,
  }, async ({ params: { hash: text } }) => {
    const hash = text.toLowerCase();
    const own = genesisOutputs(genesis).filter(({ ref }) => ref.txHash === hash);
    if (own.length > 0) return await genesisView(hash, own);
    const transaction = await transactionOf(options, text);
    const known = await findOutputs(sql, devnet, refsOf(transaction.cbor));
    const parts = partsView(transaction.cbor, known, network);
    const { from, before } = parts.validity as { from?: bigint; before?: bigint };
    const timeOf = (slot: bigint | undefined) => slot === undefined ? undefined : slotTime(slots, Number(slot));
    return {
      hash,
      ...await placeOf(hash, transaction),
      ...parts,
      validity: { from, before, fromTime: timeOf(from), beforeTime: timeOf(before) },
    };
  });

  const placeOf = async (hash: string, transaction: FoundTransaction) => {
    const { status } = transaction;
    switch (status) {
      case "in_mempool": {
        const waiting = devnet.mempool().find((one) => one.transaction.hash === hash);
        return { status, deposit: waiting?.applied.deposits };
      }
      case "in_block": {
        const { block, index: at, confirmations } = transaction;
        const time = slotTime(slots, block.slot);
        const deposit = (await readIndexed(sql, hash))?.deposit;
        return { status, block: { ...block, time, index: at, confirmations }, deposit };
      }
      default:
        return { status, departure: departureView(transaction.departure) };
    }
  };

  /** The transaction that stands for an output of the genesis. */
  const genesisView = async (hash: string, own: ReturnType<typeof genesisOutputs>) => {
    const { spentBy } = await findOutputs(sql, devnet, own.map(({ ref }) => ref));
    const nothing = partsView(new Uint8Array(), { outputs: new Map(), spentBy }, network);
    const outputs = own.map(({ ref, output }) => outputView(output, new Map(), network, spentBy.get(refKey(ref))));
    return { hash, status: "genesis", ...nothing, problem: undefined, outputs };
  };
}

/** The scripts of a transaction, run again. */
function scriptRunRoutes(app: OpenAPIHono, options: ExplorerRoutesOptions): void {
  const { devnet, store: { sql }, log, measure } = options;

  endpoint(app, "get", "/transactions/:hash/runs", {
    summary: "The transaction's scripts run again: the units that each takes, and messages of those that fail",
    params,
    answer: api.scriptRuns,
    refusals: { ...refusals, 503: "`evaluation_unavailable`, `devnet_unavailable`" },
  }, async ({ params: { hash } }) => {
    const { cbor } = await transactionOf(options, hash);
    const read = readTransaction(cbor, { stored: true });
    if (!read.ok || read.value.witnesses.redeemers.length === 0) return { runs: [] };
    const refs = refsOf(cbor);
    const { outputs } = await findOutputs(sql, devnet, refs);
    const parameters = await devnet.query(({ parameters }) => parameters);
    if (!parameters) {
      throw new HttpFailure(503, "devnet_unavailable", "The devnet is not running in this process; try again.");
    }
    const utxos = refs.flatMap((ref) => {
      const output = outputs.get(refKey(ref));
      return output ? [{ ref, output }] : [];
    });
    const measured = await measure({ transaction: cbor, utxos, parameters, slots: devnet.network.slots }).catch(
      (error) => {
        log.warn("a transaction was not evaluated", { reason: reason(error) });
        throw new HttpFailure(503, "evaluation_unavailable", "The scripts could not be run now; try again.");
      },
    );
    if (!measured.ok) {
      const problem = measured.kind === "undecodable"
        ? measured.message
        : `Scripts cannot see this transaction: ${measured.reason} (${measured.about}).`;
      return { problem, runs: [] };
    }
    return {
      runs: measured.redeemers.map(({ purpose, index, result }) =>
        result.ok
          ? { purpose, index, spent: result.value, logs: [] }
          : { purpose, index, problem: problemText(result.error), logs: logsOf(result.error) }
      ),
    };
  });
}

/** The newest block and the mempool, as events. */
function liveRoutes(app: OpenAPIHono, devnet: Devnet): void {
  let readers = 0;
  endpoint(app, "get", "/live", {
    summary: "The newest block and the mempool as they change, as server-sent events",
    description:
      "Each event `state` has the JSON of the schema `Live`. A client that reconnects gets the present state.",
    answer: api.liveEvents,
    produces: "text/event-stream",
    refusals: { 503: "`too_many_readers`" },
  }, async ({ context }) => {
    if (readers >= MOST_READERS) {
      throw new HttpFailure(503, "too_many_readers", `The limit of ${MOST_READERS} event stream readers is reached.`);
    }
    readers++;
    const ended = new AbortController();
    ended.signal.addEventListener("abort", () => readers--, { once: true });
    const id = ({ tip, departed, changes }: ReturnType<typeof liveState>) =>
      `${tip.height}-${tip.hash.slice(0, 8)}-${departed}-${changes}`;
    return eventStream(context, liveStates(devnet, ended.signal), ended, {
      keepAliveMs: KEEP_ALIVE_MS,
      id,
      written: (state) => eventText("state", id(state), state),
    });
  });
}

/** An operation of the Blockfrost API with refusals in the form of the devnet's. */
function inOwnWords(operation: Operation, index: boolean): Operation {
  return {
    ...operation,
    answer: async (context) => {
      if (!operation.path.startsWith("/mempool")) requireIndex(index);
      try {
        const document = await operation.answer(context);
        if (document !== undefined) return document;
      } catch (error) {
        if (!(error instanceof HttpFailure) || error.code !== "blockfrost" || error.status !== 404) throw error;
      }
      throw new HttpFailure(404, "not_found", "The chain does not have this.");
    },
  };
}

/** Refuses where no index is kept: it would look like an empty chain. */
function requireIndex(index: boolean): void {
  if (index) return;
  throw new HttpFailure(
    404,
    "index_off",
    "This devnet keeps no index of its chain, because it was started with --devnet-without index.",
  );
}

function departureView({ kind, why, at, slot, failures }: Departure) {
  const reasons = failures.map((failure) => ({ name: failure.name, text: describeFailure(failure) }));
  return { kind, why, at, slot, reasons };
}

function problemText(failure: RedeemerFailure): string {
  switch (failure.kind) {
    case "no_target":
      return "The redeemer points to nothing that a Plutus script decides about.";
    case "no_script":
      return `The script ${failure.script} is neither in the transaction nor in a referenced output.`;
    case "no_datum":
      return `The datum ${failure.datum} is not in the transaction.`;
    case "no_cost_model":
      return `There is no cost model for Plutus V${failure.language}.`;
    case "failed":
      return failure.message;
  }
}

const logsOf = (failure: RedeemerFailure): readonly string[] => failure.kind === "failed" ? failure.logs : [];
