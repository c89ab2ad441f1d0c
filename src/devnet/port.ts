/**
 * Port adapter for the devnet, for any process that reaches its database and its bus: reads use rows, a submission is a
 * request to the process that runs the devnet.
 */
import { sleep } from "#src/base/clock.ts";
import { toHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { activeSpan, refOf, traceparentOf } from "#src/base/trace.ts";
import { CborError } from "#src/cardano/cbor.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import { refKey } from "#src/cardano/output.ts";
import { transactionHash } from "#src/cardano/transaction.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import {
  type LedgerSession,
  queryAccounts,
  queryDreps,
  queryDrepStatus,
  queryEpoch,
  queryEras,
  queryGenesis,
  queryPools,
  queryRanking,
} from "#src/chain/provider/ledgerQueries.ts";
import type { ActionStatus } from "#src/chain/provider/ledgerPort.ts";
import type { Guarantee } from "#src/chain/provider/port.ts";
import { MEMPOOL_MOST, type MempoolRead, MempoolReader } from "#src/chain/provider/mempool.ts";
import type { At, RawChainPort, Submission, Unreachable } from "#src/chain/provider/port.ts";
import { accepted } from "#src/devnet/blocks/submission.ts";
import {
  hasTransaction,
  isInMempool,
  readMempoolCbor,
  readMempoolHashes,
  readTip,
  readUtxosByAddress,
  readUtxosByRef,
} from "#src/devnet/blocks/rows.ts";
import { readTransactionCbor } from "#src/devnet/index/reads/blocks.ts";
import { readAction } from "#src/devnet/index/reads/governance.ts";
import { followBlocks } from "#src/devnet/serve/follow.ts";
import { type Genesis, readGenesis, readSlotsAhead } from "#src/devnet/genesis/genesis.ts";
import { byronHash } from "#src/devnet/genesis/json.ts";
import { nodeAnswers } from "#src/devnet/serve/nodeAnswers.ts";
import { fromPlain } from "#src/devnet/ledger/plainJson.ts";
import { rowValue } from "#src/devnet/ledger/rowValues.ts";
import { SnapshotCache } from "#src/devnet/ledger/snapshotCache.ts";
import { atTip, type StateView } from "#src/devnet/serve/stateRows.ts";
import { SUBMIT_SUBJECT } from "#src/devnet/serve/subjects.ts";
import { readParametersRow } from "#src/devnet/ledger/rows.ts";
import { answerEraValue, answerValue } from "#src/node/queries/answering.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Queries, Store } from "#src/store/store.ts";

interface DevnetPortSettings {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** Milliseconds after which the block table is polled without a notification. */
  readonly pollMs?: number;
  /** Milliseconds to wait for the answer to a submission. */
  readonly submitMs?: number;
}

/**
 * Milliseconds for which the slots that the devnet runs ahead are kept. They change only with a block or a rollback, so
 * what takes the tip into account is right meanwhile.
 */
const AHEAD_MS = 1_000;

const GUARANTEES: readonly Guarantee[] = [
  { query: "tip", holds: "at a point" },
  { query: "inMempool", holds: "at the tip" },
  { query: "mempool", holds: "at the tip" },
  { query: "utxosByAddress", holds: "at a point" },
  { query: "utxosByRef", holds: "at a point" },
  { query: "parameters", holds: "at a point" },
  { query: "accounts", holds: "at a point" },
  { query: "pools", holds: "at a point" },
  { query: "poolRanking", holds: "at a point" },
  { query: "dreps", holds: "at a point", note: "their stake as of the last epoch boundary" },
  { query: "drepStatus", holds: "at a point", note: "their stake as of the last epoch boundary" },
  { query: "actions", holds: "at a point" },
  { query: "epoch", holds: "at a point" },
  { query: "eras", holds: "at a point" },
  { query: "genesis", holds: "at a point" },
];

/** The port to the devnet of a database. */
export function devnetPort({ store, bus, log, pollMs = 1_000, submitMs = 20_000 }: DevnetPortSettings): RawChainPort {
  const { sql } = store;
  let cachedGenesis: Genesis | undefined;
  let ahead = { slots: 0, at: -Infinity };
  const readParameters = parametersReader(sql);
  /** The genesis; waits for the devnet's first start. */
  const genesis = async (signal?: AbortSignal): Promise<Genesis> => {
    while (!(cachedGenesis ??= await readGenesis(sql))) {
      if (signal?.aborted) throw new Error("no process has started a devnet on this database yet");
      await sleep(200, signal);
    }
    return cachedGenesis;
  };
  const query = async <T>(read: () => Promise<T>): Promise<Result<T, Unreachable>> => {
    try {
      return ok(await read());
    } catch (error) {
      log.warn("the devnet is not reachable", { reason: reason(error) });
      return unreachable();
    }
  };
  const snapshots = new SnapshotCache();
  /** Answers a node's ledger queries from the rows. */
  const queryLedger = <T>(work: (ledger: LedgerSession) => Promise<T>): Promise<Result<At<T>, Unreachable>> =>
    query(async () => {
      const devnetGenesis = await genesis(AbortSignal.abort());
      return await atTip(store, devnetGenesis, snapshots, async (view) => {
        const answers = nodeAnswers(devnetGenesis, view);
        const { signal } = new AbortController();
        const value = await work({
          era: () => Promise.resolve(answers.era),
          supports: () => true,
          query: (query) => answerValue(answers, query, signal),
          queryEra: (query) => answerEraValue(answers, query(answers.era), signal),
        });
        const { slot, hash } = view.tip;
        return { point: { slot, hash }, value };
      });
    });
  return {
    guarantees: GUARANTEES,
    network: async (signal) => {
      const { network } = await genesis(signal);
      if (Date.now() - ahead.at >= AHEAD_MS) {
        ahead = { slots: await readSlotsAhead(sql).catch(() => ahead.slots), at: Date.now() };
      }
      return ahead.slots === 0 ? network : { ...network, slotsAhead: ahead.slots };
    },
    follow: async function* (points, signal) {
      const { network } = await genesis(signal);
      yield* followBlocks({ store, bus, pollMs, k: network.securityParameter }, points, signal);
    },
    tip: () => query(() => readTip(sql)),
    submit: async (transaction) => {
      try {
        const traceparent = traceparentOf(refOf(activeSpan()));
        const body = { transaction: toHex(transaction), ...(traceparent === undefined ? {} : { traceparent }) };
        const answer = readAnswer(await bus.request(SUBMIT_SUBJECT, body, submitMs));
        if (answer.ok && answer.value.outcome === "accepted") return answer;
        // the devnet refuses what it has already, as a node does
        const hash = hashOf(transaction);
        return hash !== undefined && await hasTransaction(sql, hash) ? accepted : answer;
      } catch (error) {
        log.warn("the devnet did not respond to a submission", { reason: reason(error) });
        return unreachable();
      }
    },
    inMempool: (txHash) => query(() => isInMempool(sql, txHash)),
    mempool: (known) => query(() => readMempool(sql, known)),
    utxosByAddress: (addresses) => query(() => readUtxosByAddress(sql, addresses)),
    utxosByRef: (refs) => query(() => readUtxosByRef(sql, refs)),
    transactionCbor: (txHash) => readTransactionCbor(sql, txHash),
    parameters: () =>
      query(async () => {
        const { parameters } = await genesis(AbortSignal.abort());
        return await readParameters(parameters);
      }),
    accounts: (credentials) => queryLedger((ledger) => queryAccounts(ledger, credentials)),
    pools: () => queryLedger(queryPools),
    poolRanking: (stake) => queryLedger((ledger) => queryRanking(ledger, stake)),
    dreps: () => queryLedger(queryDreps),
    drepStatus: (credentials) => queryLedger((ledger) => queryDrepStatus(ledger, credentials)),
    actions: (ids) =>
      query(async () =>
        await atTip(store, await genesis(AbortSignal.abort()), snapshots, async (view) => {
          const { slot, hash } = view.tip;
          return { point: { slot, hash }, value: await actionStatuses(store.sql, view, ids) };
        })
      ),
    epoch: () => queryLedger(queryEpoch),
    eras: () => queryLedger(queryEras),
    genesis: async () => {
      const answer = await queryLedger(queryGenesis);
      return answer.ok ? ok({ hash: byronHash(await genesis()), ...answer.value.value }) : answer;
    },
  };
}

/** Some governance actions: the ledger has those that are voted on, the index also those that ended. */
async function actionStatuses(
  sql: Queries,
  view: StateView,
  ids: readonly ActionId[],
): Promise<readonly ActionStatus[]> {
  const { epoch } = await view.registry(["epoch"]);
  const { proposals } = await view.registry(["proposals"], ids.map(refKey));
  return await Promise.all(ids.map(async (id): Promise<ActionStatus> => {
    const lastEpoch = proposals.get(refKey(id))?.expiresAfter;
    if (lastEpoch !== undefined && lastEpoch >= epoch) return { id, state: "open", lastEpoch };
    const known = lastEpoch !== undefined || await readAction(sql, id) !== undefined;
    return { id, state: known ? "ended" : "unknown" };
  }));
}

/** Transactions of the mempool that one statement reads. */
const MEMPOOL_ROWS = 200;

async function readMempool(sql: Queries, known: ReadonlySet<string>): Promise<MempoolRead> {
  const reader = new MempoolReader(known);
  const hashes = (await readMempoolHashes(sql, MEMPOOL_MOST + 1)).filter((hash) => reader.add(hash));
  const fresh = hashes.filter((hash) => !known.has(hash));
  for (let i = 0; i < fresh.length; i += MEMPOOL_ROWS) {
    for (const { hash, cbor } of await readMempoolCbor(sql, fresh.slice(i, i + MEMPOOL_ROWS))) {
      await reader.read(hash, cbor);
    }
  }
  return reader.result();
}

/** Reads the parameters, of the genesis until they change. They are many numbers, so they are decoded once per version of their row. */
function parametersReader(sql: Queries): (initial: Parameters) => Promise<At<Parameters>> {
  let changed: { readonly version: string; readonly parameters: Parameters } | undefined;
  return async (initial) => {
    const { point, value: row } = await readParametersRow(sql);
    if (row === undefined) return { point, value: initial };
    if (row.version !== changed?.version) {
      changed = { version: row.version, parameters: rowValue("parameters", fromPlain(row.value)) };
    }
    return { point, value: changed.parameters };
  };
}

/** The hash of a transaction; undefined for other bytes. */
function hashOf(bytes: Uint8Array): string | undefined {
  try {
    return transactionHash(bytes);
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}

function unreachable(
  message = "The devnet does not respond; is it running?",
): ReturnType<typeof fail<"network_unreachable">> {
  return fail("network_unreachable", message);
}

function readAnswer(answer: Json): Result<Submission, Unreachable> {
  const { outcome = null, error } = isObject(answer) ? answer : { error: null };
  const submission = fromPlain(outcome);
  if (isSubmission(submission)) return ok(submission);
  const message = isObject(error) && typeof error.message === "string" ? error.message : undefined;
  if (isObject(error) && error.code === "undecodable" && message !== undefined) {
    return ok({ outcome: "refused", failures: [{ name: "DeserialiseFailure", message }] });
  }
  return unreachable(message);
}

function isSubmission(answer: unknown): answer is Submission {
  if (typeof answer !== "object" || answer === null || !("outcome" in answer)) return false;
  return answer.outcome === "accepted" ||
    (answer.outcome === "refused" && "failures" in answer && Array.isArray(answer.failures));
}
