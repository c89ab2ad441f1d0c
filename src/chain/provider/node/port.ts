/**
 * Port adapter for a node, over the node-to-client protocol at a UNIX socket.
 *
 * Assumptions: a node restarts and its socket is gone meanwhile, so a query reconnects if the connection broke.
 * Following has its own connection, so that blocks arrive during a query. Queries of one session hold at one point.
 */
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { AnsweredQueries } from "#src/chain/provider/node/answeredQueries.ts";
import { firstParent, publicGenesis } from "#src/chain/provider/genesisHash.ts";
import {
  type LedgerSession,
  queryAccounts,
  queryDreps,
  queryEpoch,
  queryEras,
  queryGenesis,
  queryPools,
  queryRanking,
  UnsupportedQuery,
} from "#src/chain/provider/ledgerQueries.ts";
import type { NetworkGenesis } from "#src/chain/provider/ledgerPort.ts";
import {
  atTip,
  isPending,
  type MempoolSupport,
  readNetwork,
  readParameters,
  readTip,
  submit,
  undecodable,
} from "#src/chain/provider/node/queries.ts";
import { type At, type Unanswered, unsupported } from "#src/chain/provider/answer.ts";
import type { Guarantee } from "#src/chain/provider/guarantees.ts";
import type { Network, RawChainPort, Unreachable } from "#src/chain/provider/port.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { type NodeAddress, showAddress } from "#src/node/transport/dial.ts";
import { asNodeError, isTransient, NodeError, nodeError, type NodeFailure } from "#src/node/errors.ts";
import { followNode } from "#src/node/client/follow.ts";

export interface NodePortSettings {
  readonly address: NodeAddress;
  /** The network's magic; a node of another network is refused. */
  readonly magic: number;
  readonly log: Log;
  /** Milliseconds to wait for an answer; 60,000 by default. */
  readonly answerMs?: number;
  /** Milliseconds before the second attempt to connect; 250 by default. Later waits double, up to 5 s. */
  readonly firstWait?: number;
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
  { query: "utxosByAddress", holds: "at a point" },
  { query: "utxosByRef", holds: "at a point" },
  { query: "parameters", holds: "at a point" },
  { query: "accounts", holds: "at a point" },
  { query: "pools", holds: "at a point", note: NEWER_NODES },
  { query: "poolRanking", holds: "at a point" },
  { query: "dreps", holds: "at a point", note: NEWER_NODES },
  { query: "epoch", holds: "at a point" },
  { query: "eras", holds: "at a point" },
  { query: "genesis", holds: "at a point", note: "the hash of a network that is not public only where it is told" },
];

/** The port to the node at a socket. It connects at the first query. */
export function nodePort(settings: NodePortSettings): NodePort {
  const { address, magic, log, answerMs = 60_000, firstWait = 250 } = settings;
  const where = showAddress(address);
  const closing = new AbortController();
  let connecting: Promise<NodeConnection> | undefined;
  let network: Network | undefined;
  let cachedGenesis: NetworkGenesis | undefined;
  const answered = new AnsweredQueries();
  const mempoolSupport: MempoolSupport = { readWhole: false };

  const connect = async (): Promise<NodeConnection> => {
    const connected = await connectNode(address, { magic, signal: closing.signal });
    if (!connected.ok) throw new NodeError(connected.error);
    return connected.value;
  };

  /** The connection for queries: the open one, or a new one. Throws `NodeError`. */
  const connection = (): Promise<NodeConnection> => {
    if (closing.signal.aborted) throw nodeError("closed", "The port was closed.");
    if (connecting) return connecting;
    const opened = connecting = connect();
    const forget = () => {
      if (connecting === opened) connecting = undefined;
    };
    opened.then(({ ended }) => ended.aborted ? forget() : ended.addEventListener("abort", forget), forget);
    return opened;
  };

  /** Runs a query; once more on a new connection if an existing one turns out to be broken. */
  const withConnection = async <T>(
    work: (connection: NodeConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<Result<T, NodeFailure>> => {
    for (let again = connecting !== undefined;; again = false) {
      const late = AbortSignal.timeout(answerMs);
      try {
        return ok(await work(await connection(), late));
      } catch (error) {
        const { failure } = asNodeError(error, `The answer of ${where} cannot be used`);
        if (again && failure.code === "connection_lost") continue;
        if (!late.aborted || failure.code !== "aborted") return { ok: false, error: failure };
        // others that wait on this connection would not get an answer either
        connecting?.then((standing) => standing.close(), () => {});
        return fail("connection_lost", `The node at ${where} did not answer within ${answerMs / 1_000} s.`);
      }
    }
  };

  const unreachable = (failure: NodeFailure): ReturnType<typeof fail<"network_unreachable">> => {
    log.warn("the node gave no answer", { node: where, code: failure.code, reason: failure.message });
    return fail("network_unreachable", failure.message);
  };

  /** Runs a query for a caller of the port. */
  const query = async <T>(
    work: (connection: NodeConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<Result<T, Unreachable>> => {
    const answer = await withConnection(work);
    return answer.ok ? answer : unreachable(answer.error);
  };

  /**
   * Queries the ledger at the tip; again after the node closed the connection, until it is known which query it does
   * not support.
   */
  const queryLedger = async <T>(work: (ledger: LedgerSession) => Promise<T>): Promise<Result<At<T>, Unanswered>> => {
    for (;;) {
      const { closedConnections } = answered;
      const answer = await withConnection((connection, signal) =>
        atTip(connection, signal, (ledger) => unlessUnsupported(work(ledger)), answered)
      );
      if (answer.ok) {
        const { point, value } = answer.value;
        return value.ok ? ok({ point, value: value.value }) : value;
      }
      if (answered.closedConnections === closedConnections) return unreachable(answer.error);
    }
  };

  /** The genesis hash, and whether it is final: before the first block there may be none yet. */
  const genesisHash = async (
    connection: NodeConnection,
    signal: AbortSignal,
  ): Promise<{ hash: string | undefined; final: boolean }> => {
    const hash = settings.genesisHash ?? publicGenesis(magic);
    if (hash !== undefined) return { hash, final: true };
    const { slot } = await readTip(connection, signal);
    return slot < 0
      ? { hash: undefined, final: false }
      : { hash: await firstParent(address, magic, signal), final: true };
  };

  const genesis = async (): Promise<Result<NetworkGenesis, Unanswered>> => {
    if (cachedGenesis) return ok(cachedGenesis);
    const read = await queryLedger(queryGenesis);
    if (!read.ok) return read;
    const name = await withConnection(genesisHash);
    if (!name.ok) return unreachable(name.error);
    const whole = { hash: name.value.hash, ...read.value.value };
    if (name.value.final) cachedGenesis = whole;
    return ok(whole);
  };

  /** Runs a query of the mempool; again if the node closed the connection on the first way of asking. */
  const queryMempool = async <T>(
    work: (connection: NodeConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<Result<T, Unreachable>> => {
    const { readWhole } = mempoolSupport;
    const answer = await query(work);
    return answer.ok || mempoolSupport.readWhole === readWhole ? answer : await query(work);
  };

  const check = async (): Promise<Result<Network, NodeFailure>> => {
    if (network) return ok(network);
    const read = await withConnection((connection, signal) => readNetwork(connection, magic, signal));
    if (read.ok) network = read.value;
    return read;
  };

  return {
    guarantees: GUARANTEES,
    check,
    network: async (signal) => {
      for (let wait = firstWait;; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
        const read = await check();
        if (read.ok) return read.value;
        if (!isTransient(read.error.code)) throw new NodeError(read.error);
        log.warn("waiting for the node", { node: where, reason: read.error.message });
        await sleep(wait, signal ? AbortSignal.any([signal, closing.signal]) : closing.signal);
        if (signal?.aborted || closing.signal.aborted) throw new Error("stopped before the node could be reached");
      }
    },
    async *follow(points, signal) {
      yield* followNode(
        address,
        {
          magic,
          firstWait,
          longestWait: MAX_WAIT_MS,
          onState: (state) => {
            if (state.type === "connected") log.info("follows the node", { node: where, version: state.version });
            else log.warn("the node is away", { node: where, reason: state.failure.message });
          },
        },
        points,
        AbortSignal.any([signal, closing.signal]),
      );
    },
    tip: () => query(readTip),
    submit: async (transaction) => {
      const malformed = undecodable(transaction);
      if (malformed) return ok({ outcome: "refused", failures: [malformed] });
      return await queryMempool((connection, signal) => submit(connection, transaction, signal, mempoolSupport));
    },
    inMempool: (txHash) => queryMempool((connection, signal) => isPending(connection, txHash, signal, mempoolSupport)),
    utxosByAddress: (wanted) => {
      const addresses = [...new Set(wanted)];
      return query((connection, signal) =>
        atTip(connection, signal, (ledger) => ledger.queryEra((era) => ({ kind: "utxoByAddress", era, addresses })))
      );
    },
    utxosByRef: (refs) => {
      const inputs: OutRef[] = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
      return query((connection, signal) =>
        atTip(connection, signal, (ledger) => ledger.queryEra((era) => ({ kind: "utxoByInput", era, inputs })))
      );
    },
    parameters: () => query((connection, signal) => atTip(connection, signal, readParameters)),
    accounts: (credentials) => queryLedger((ledger) => queryAccounts(ledger, credentials)),
    pools: () => queryLedger(queryPools),
    poolRanking: (stake) => queryLedger((ledger) => queryRanking(ledger, stake)),
    dreps: () => queryLedger(queryDreps),
    epoch: () => queryLedger(queryEpoch),
    eras: () => queryLedger(queryEras),
    genesis,
    close: () => {
      const standing = connecting;
      closing.abort();
      standing?.then((connection) => connection.close(), () => {});
    },
  };
}

/** The value, or the failure that the node does not support the query. */
async function unlessUnsupported<T>(
  work: Promise<T>,
): Promise<Result<T, ReturnType<typeof unsupported>["error"]>> {
  try {
    return ok(await work);
  } catch (error) {
    if (error instanceof UnsupportedQuery) return unsupported(error.message);
    throw error;
  }
}
