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
import {
  atTip,
  isPending,
  readNetwork,
  readParameters,
  readTip,
  submit,
  undecodable,
} from "#src/chain/nodeQuestions.ts";
import type { ChainPort, Network, Unreachable } from "#src/chain/port.ts";
import { connectNode, type NodeConnection } from "#src/node/client.ts";
import { type NodeAddress, showAddress } from "#src/node/dial.ts";
import { asNodeError, mayPass, NodeError, nodeError, type NodeFailure } from "#src/node/errors.ts";
import { followNode } from "#src/node/follow.ts";

export interface NodePortSettings {
  readonly address: NodeAddress;
  /** The network's magic; a node of another network is refused. */
  readonly magic: number;
  readonly log: Log;
  /** Milliseconds that an answer is waited for; 60,000 unless said otherwise. */
  readonly answerMs?: number;
  /** Milliseconds until the second attempt to reach a node that is away; 250 unless said otherwise. Later ones wait up to 5 s. */
  readonly firstWait?: number;
}

/** The port to a node, and what ends its connections. */
export interface NodePort extends ChainPort {
  /** What the network is, asked once: or why the node cannot be used now, in a sentence for a person. */
  check(): Promise<Result<Network, NodeFailure>>;
  close(): void;
}

const LONGEST_WAIT = 5_000;

/** The port to the node at a socket. Nothing is connected before the first question. */
export function nodePort(settings: NodePortSettings): NodePort {
  const { address, magic, log, answerMs = 60_000, firstWait = 250 } = settings;
  const where = showAddress(address);
  const closing = new AbortController();
  let connecting: Promise<NodeConnection> | undefined;
  let known: Network | undefined;

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

  /** The same, for callers of the port. */
  const reached = async <T>(
    work: (connection: NodeConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<Result<T, Unreachable>> => {
    const answer = await asked(work);
    if (answer.ok) return answer;
    log.warn("the node gave no answer", { node: where, code: answer.error.code, reason: answer.error.message });
    return fail("network_unreachable", answer.error.message);
  };

  const check = async (): Promise<Result<Network, NodeFailure>> => {
    if (known) return ok(known);
    const read = await asked((connection, signal) => readNetwork(connection, magic, signal));
    if (read.ok) known = read.value;
    return read;
  };

  return {
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
      return await reached((connection, signal) => submit(connection, transaction, signal));
    },
    inMempool: (txHash) => reached((connection, signal) => isPending(connection, txHash, signal)),
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
    close: () => {
      const standing = connecting;
      closing.abort();
      standing?.then((connection) => connection.close(), () => {});
    },
  };
}
