/**
 * A node behind the port: whatever listens at a UNIX socket and speaks node-to-client.
 *
 * Hypotheses: a node restarts, and its socket is away meanwhile, so each question connects anew where the last connection broke;
 * following has a connection of its own, for blocks to come while something is asked; what is asked in one session holds at one point.
 */
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { AnsweredQueries } from "#src/chain/index/answeredQueries.ts";
import { firstParent, publicGenesis } from "#src/chain/provider/genesisHash.ts";
import {
  askAccounts,
  askDreps,
  askEpoch,
  askEras,
  askGenesis,
  askPools,
  askRanking,
  type Ledger,
  UnsupportedQuery,
} from "#src/chain/provider/ledgerQueries.ts";
import type { NetworkGenesis } from "#src/chain/provider/ledgerPort.ts";
import {
  atTip,
  isPending,
  type MempoolManners,
  readNetwork,
  readParameters,
  readTip,
  submit,
  undecodable,
} from "#src/chain/provider/node/queries.ts";
import { type At, type Unanswered, unsupported } from "#src/chain/provider/answer.ts";
import type { Answering } from "#src/chain/provider/guarantees.ts";
import type { Network, RawChainPort, Unreachable } from "#src/chain/provider/port.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { type NodeAddress, showAddress } from "#src/node/transport/dial.ts";
import { asNodeError, mayPass, NodeError, nodeError, type NodeFailure } from "#src/node/errors.ts";
import { followNode } from "#src/node/client/follow.ts";

export interface NodePortSettings {
  readonly address: NodeAddress;
  /** The network's magic; a node of another network is refused. */
  readonly magic: number;
  readonly log: Log;
  /** Milliseconds that an answer is waited for; 60,000 unless said otherwise. */
  readonly answerMs?: number;
  /** Milliseconds until the second attempt to reach a node that is away; 250 unless said otherwise. Later ones wait up to 5 s. */
  readonly firstWait?: number;
  /** Hash of the Byron genesis, for a network that is neither public nor begins in Byron: no node tells it. */
  readonly genesisHash?: string;
}

/** The port to a node, and what ends its connections. */
export interface NodePort extends RawChainPort {
  /** What the network is, asked once: or why the node cannot be used now, in a sentence for a person. */
  check(): Promise<Result<Network, NodeFailure>>;
  close(): void;
}

const LONGEST_WAIT = 5_000;

const OF_NEW_NODES = "where the node's version has the query";
const ANSWERS: readonly Answering[] = [
  { question: "tip", holds: "at a point" },
  { question: "inMempool", holds: "at the tip", note: "the node's own mempool" },
  { question: "utxosByAddress", holds: "at a point" },
  { question: "utxosByRef", holds: "at a point" },
  { question: "parameters", holds: "at a point" },
  { question: "accounts", holds: "at a point" },
  { question: "pools", holds: "at a point", note: OF_NEW_NODES },
  { question: "poolRanking", holds: "at a point" },
  { question: "dreps", holds: "at a point", note: OF_NEW_NODES },
  { question: "epoch", holds: "at a point" },
  { question: "eras", holds: "at a point" },
  { question: "genesis", holds: "at a point", note: "the hash of a network that is not public only where it is told" },
];

/** The port to the node at a socket. Nothing is connected before the first question. */
export function nodePort(settings: NodePortSettings): NodePort {
  const { address, magic, log, answerMs = 60_000, firstWait = 250 } = settings;
  const where = showAddress(address);
  const closing = new AbortController();
  let connecting: Promise<NodeConnection> | undefined;
  let known: Network | undefined;
  let begun: NetworkGenesis | undefined;
  const answered = new AnsweredQueries();
  const manners: MempoolManners = { walks: false };

  const connect = async (): Promise<NodeConnection> => {
    const connected = await connectNode(address, { magic, signal: closing.signal });
    if (!connected.ok) throw new NodeError(connected.error);
    return connected.value;
  };

  /** The connection for questions; a new one where there is none, or where it has ended. Throws `NodeError`. */
  const connection = (): Promise<NodeConnection> => {
    if (closing.signal.aborted) throw nodeError("closed", "The port was closed.");
    if (connecting) return connecting;
    const made = connecting = connect();
    const forget = () => {
      if (connecting === made) connecting = undefined;
    };
    made.then(({ ended }) => ended.aborted ? forget() : ended.addEventListener("abort", forget), forget);
    return made;
  };

  /** Asks; once more where a connection that stood turns out to be broken. */
  const asked = async <T>(
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
        // whoever else waits on this connection would wait for the same answer
        connecting?.then((standing) => standing.close(), () => {});
        return fail("connection_lost", `The node at ${where} did not answer within ${answerMs / 1_000} s.`);
      }
    }
  };

  const away = (failure: NodeFailure): ReturnType<typeof fail<"network_unreachable">> => {
    log.warn("the node gave no answer", { node: where, code: failure.code, reason: failure.message });
    return fail("network_unreachable", failure.message);
  };

  /** The same, for callers of the port. */
  const reached = async <T>(
    work: (connection: NodeConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<Result<T, Unreachable>> => {
    const answer = await asked(work);
    return answer.ok ? answer : away(answer.error);
  };

  /** Asks the ledger at the tip; again where the node hung up on a query, until it is known which one it does not have. */
  const ofLedger = async <T>(work: (ledger: Ledger) => Promise<T>): Promise<Result<At<T>, Unanswered>> => {
    for (;;) {
      const { hangUps } = answered;
      const said = await asked((connection, signal) =>
        atTip(connection, signal, (ledger) => unlessUnsupported(work(ledger)), answered)
      );
      if (said.ok) {
        const { point, value } = said.value;
        return value.ok ? ok({ point, value: value.value }) : value;
      }
      if (answered.hangUps === hangUps) return away(said.error);
    }
  };

  /** The hash of the genesis, and whether that is all that will be known of it. */
  const genesisHash = async (
    connection: NodeConnection,
    signal: AbortSignal,
  ): Promise<{ hash: string | undefined; final: boolean }> => {
    const told = settings.genesisHash ?? publicGenesis(magic);
    if (told !== undefined) return { hash: told, final: true };
    const { slot } = await readTip(connection, signal);
    return slot < 0
      ? { hash: undefined, final: false }
      : { hash: await firstParent(address, magic, signal), final: true };
  };

  const genesis = async (): Promise<Result<NetworkGenesis, Unanswered>> => {
    if (begun) return ok(begun);
    const read = await ofLedger(askGenesis);
    if (!read.ok) return read;
    const name = await asked(genesisHash);
    if (!name.ok) return away(name.error);
    const whole = { hash: name.value.hash, ...read.value.value };
    if (name.value.final) begun = whole;
    return ok(whole);
  };

  /** The same, for what looks into the mempool; again where the node hung up on the way that was tried. */
  const looked = async <T>(
    work: (connection: NodeConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<Result<T, Unreachable>> => {
    const { walks } = manners;
    const answer = await reached(work);
    return answer.ok || manners.walks === walks ? answer : await reached(work);
  };

  const check = async (): Promise<Result<Network, NodeFailure>> => {
    if (known) return ok(known);
    const read = await asked((connection, signal) => readNetwork(connection, magic, signal));
    if (read.ok) known = read.value;
    return read;
  };

  return {
    answers: ANSWERS,
    check,
    network: async (signal) => {
      for (let wait = firstWait;; wait = Math.min(wait * 2, LONGEST_WAIT)) {
        const read = await check();
        if (read.ok) return read.value;
        if (!mayPass(read.error.code)) throw new NodeError(read.error);
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
          longestWait: LONGEST_WAIT,
          onState: (state) => {
            if (state.type === "connected") log.info("follows the node", { node: where, version: state.version });
            else log.warn("the node is away", { node: where, reason: state.failure.message });
          },
        },
        points,
        AbortSignal.any([signal, closing.signal]),
      );
    },
    tip: () => reached(readTip),
    submit: async (transaction) => {
      const malformed = undecodable(transaction);
      if (malformed) return ok({ outcome: "refused", failures: [malformed] });
      return await looked((connection, signal) => submit(connection, transaction, signal, manners));
    },
    inMempool: (txHash) => looked((connection, signal) => isPending(connection, txHash, signal, manners)),
    utxosByAddress: (wanted) => {
      const addresses = [...new Set(wanted)];
      return reached((connection, signal) =>
        atTip(connection, signal, (ledger) => ledger.askEra((era) => ({ kind: "utxoByAddress", era, addresses })))
      );
    },
    utxosByRef: (refs) => {
      const inputs: OutRef[] = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
      return reached((connection, signal) =>
        atTip(connection, signal, (ledger) => ledger.askEra((era) => ({ kind: "utxoByInput", era, inputs })))
      );
    },
    parameters: () => reached((connection, signal) => atTip(connection, signal, readParameters)),
    accounts: (credentials) => ofLedger((ledger) => askAccounts(ledger, credentials)),
    pools: () => ofLedger(askPools),
    poolRanking: (stake) => ofLedger((ledger) => askRanking(ledger, stake)),
    dreps: () => ofLedger(askDreps),
    epoch: () => ofLedger(askEpoch),
    eras: () => ofLedger(askEras),
    genesis,
    close: () => {
      const standing = connecting;
      closing.abort();
      standing?.then((connection) => connection.close(), () => {});
    },
  };
}

/** What was asked, or that the node has no answer to it. */
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
