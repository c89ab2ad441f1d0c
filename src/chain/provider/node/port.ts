/**
 * Port adapter for a node, over the node-to-client protocol at a UNIX socket.
 *
 * Assumptions: a node restarts and its socket is gone meanwhile, so a query reconnects if the connection broke.
 * Following has its own connection, so that blocks arrive during a query, and so has reading the whole mempool. Queries
 * of one session hold at one point.
 */
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { ok, type Result } from "#src/base/result.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { type Unanswered, unsupported } from "#src/chain/provider/answer.ts";
import { firstParent, publicGenesis } from "#src/chain/provider/genesisHash.ts";
import type { Guarantee } from "#src/chain/provider/port.ts";
import type { NetworkGenesis } from "#src/chain/provider/ledgerPort.ts";
import {
  queryAccounts,
  queryDreps,
  queryDrepStatus,
  queryEpoch,
  queryEras,
  queryGenesis,
  queryPools,
  queryRanking,
} from "#src/chain/provider/ledgerQueries.ts";
import { NodeQueries, type NodeQueriesSettings } from "#src/chain/provider/node/nodeQueries.ts";
import {
  isPending,
  readMempool,
  readNetwork,
  readParameters,
  readTip,
  submit,
  undecodable,
} from "#src/chain/provider/node/queries.ts";
import type { Network, RawChainPort } from "#src/chain/provider/port.ts";
import type { NodeConnection } from "#src/node/client/connection.ts";
import { followNode, type FollowState } from "#src/node/client/follow.ts";
import { isTransient, NodeError, type NodeFailure } from "#src/node/errors.ts";

export interface NodePortSettings extends NodeQueriesSettings {
  /** Milliseconds before the second attempt to connect; 250 by default. Later waits double, up to 5 s. */
  readonly firstWaitMs?: number;
  /** Hash of the Byron genesis, for a network that is neither public nor starts in Byron: no query gives it. */
  readonly genesisHash?: string;
}

/** The port to a node. */
export interface NodePort extends RawChainPort {
  /** The network, in one attempt; or why the node cannot be used now, as a sentence for a person. */
  check(): Promise<Result<Network, NodeFailure>>;
  close(): void;
}

const MAX_WAIT_MS = 5_000;

const NEWER_NODES = "where the node's version has the query";
const GUARANTEES: readonly Guarantee[] = [
  { query: "tip", holds: "at a point" },
  { query: "inMempool", holds: "at the tip", note: "the node's own mempool" },
  { query: "mempool", holds: "at the tip", note: "the node's own mempool" },
  { query: "utxosByAddress", holds: "at a point" },
  { query: "utxosByRef", holds: "at a point" },
  { query: "parameters", holds: "at a point" },
  { query: "accounts", holds: "at a point" },
  { query: "pools", holds: "at a point", note: NEWER_NODES },
  { query: "poolRanking", holds: "at a point" },
  { query: "dreps", holds: "at a point", note: NEWER_NODES },
  {
    query: "drepStatus",
    holds: "at a point",
    note: `${NEWER_NODES}; their stake as of the last epoch boundary`,
  },
  { query: "epoch", holds: "at a point" },
  { query: "eras", holds: "at a point" },
  {
    query: "genesis",
    holds: "at a point",
    note: "the hash of a network that is not public only where the node gives it",
  },
  { query: "actions", holds: "not at all" },
];

/** The port to the node at a socket. It connects at the first query. */
export function nodePort(settings: NodePortSettings): NodePort {
  const { address, magic, log, firstWaitMs = 250 } = settings;
  const queries = new NodeQueries(settings);
  // a large mempool takes many messages: other queries of the mempool do not wait for it
  const mempoolQueries = new NodeQueries(settings);
  const { node, closed } = queries;
  let network: Network | undefined;
  let cachedGenesis: NetworkGenesis | undefined;

  const genesis = async (): Promise<Result<NetworkGenesis, Unanswered>> => {
    if (cachedGenesis) return ok(cachedGenesis);
    const read = await queries.ofLedger(queryGenesis);
    if (!read.ok) return read;
    const named = await queries.query((connection, signal) => readGenesisHash(settings, connection, signal));
    if (!named.ok) return named;
    const whole = { hash: named.value.hash, ...read.value.value };
    if (named.value.final) cachedGenesis = whole;
    return ok(whole);
  };

  const check = async (): Promise<Result<Network, NodeFailure>> => {
    if (network) return ok(network);
    const read = await queries.attempt((connection, signal) => readNetwork(connection, magic, signal));
    if (read.ok) network = read.value;
    return read;
  };

  return {
    guarantees: GUARANTEES,
    check,
    network: async (signal) => {
      const stop = signal ? AbortSignal.any([signal, closed]) : closed;
      for (let wait = firstWaitMs;; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
        const read = await check();
        if (read.ok) return read.value;
        if (!isTransient(read.error.code)) throw new NodeError(read.error);
        log.warn("waiting for the node", { node, reason: read.error.message });
        await sleep(wait, stop);
        if (stop.aborted) throw new Error("stopped before the node could be reached");
      }
    },
    async *follow(points, signal) {
      const options = { magic, firstWaitMs, longestWaitMs: MAX_WAIT_MS, onState: logState(log, node) };
      yield* followNode(address, options, points, AbortSignal.any([signal, closed]));
    },
    tip: () => queries.query(readTip),
    submit: async (transaction) => {
      const malformed = undecodable(transaction);
      if (malformed) return ok({ outcome: "refused", failures: [malformed] });
      return await queries.ofMempool((connection, signal, support) => submit(connection, transaction, signal, support));
    },
    inMempool: (txHash) =>
      queries.ofMempool((connection, signal, support) => isPending(connection, txHash, signal, support)),
    mempool: (known) => mempoolQueries.query((connection, signal) => readMempool(connection, known, signal)),
    utxosByAddress: (wanted) => {
      const addresses = [...new Set(wanted)];
      return queries.atTip((ledger) => ledger.queryEra((era) => ({ kind: "utxoByAddress", era, addresses })));
    },
    utxosByRef: (refs) => {
      const inputs: OutRef[] = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
      return queries.atTip((ledger) => ledger.queryEra((era) => ({ kind: "utxoByInput", era, inputs })));
    },
    parameters: () => queries.atTip(readParameters),
    accounts: (credentials) => queries.ofLedger((ledger) => queryAccounts(ledger, credentials)),
    pools: () => queries.ofLedger(queryPools),
    poolRanking: (stake) => queries.ofLedger((ledger) => queryRanking(ledger, stake)),
    dreps: () => queries.ofLedger(queryDreps),
    drepStatus: (credentials) => queries.ofLedger((ledger) => queryDrepStatus(ledger, credentials)),
    // the query for proposals has those of the last epoch boundary: one that is new would be unknown
    actions: () => Promise.resolve(unsupported("The node is not queried for governance actions.")),
    epoch: () => queries.ofLedger(queryEpoch),
    eras: () => queries.ofLedger(queryEras),
    genesis,
    close: () => {
      mempoolQueries.close();
      queries.close();
    },
  };
}

const logState = (log: Log, node: string) => (state: FollowState) => {
  if (state.type === "connected") log.info("connected to the node", { node, version: state.version });
  else log.warn("the node is not reachable", { node, reason: state.failure.message });
};

/** The genesis hash, and whether it is final: before the first block there may be none yet. */
async function readGenesisHash(
  { genesisHash, address, magic }: NodePortSettings,
  connection: NodeConnection,
  signal: AbortSignal,
): Promise<{ hash: string | undefined; final: boolean }> {
  const hash = genesisHash ?? publicGenesis(magic);
  if (hash !== undefined) return { hash, final: true };
  const { slot } = await readTip(connection, signal);
  return slot < 0
    ? { hash: undefined, final: false }
    : { hash: await firstParent(address, magic, signal), final: true };
}
