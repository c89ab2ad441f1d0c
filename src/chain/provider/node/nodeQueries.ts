/**
 * Queries of a node, over one connection that is opened when it is needed.
 *
 * Assumption: a node restarts, so a query on a connection that turns out to be broken is repeated once on a new one.
 */
import type { Log } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { type At, type Unanswered, type Unreachable, unsupported } from "#src/chain/provider/answer.ts";
import { type LedgerSession, UnsupportedQuery } from "#src/chain/provider/ledgerQueries.ts";
import { AnsweredQueries } from "#src/chain/provider/node/answeredQueries.ts";
import { atTip, type MempoolSupport } from "#src/chain/provider/node/queries.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { asNodeError, NodeError, nodeError, type NodeFailure } from "#src/node/errors.ts";
import { type NodeAddress, showAddress } from "#src/node/transport/dial.ts";

export interface NodeQueriesSettings {
  readonly address: NodeAddress;
  /** The network's magic; a node of another network is refused. */
  readonly magic: number;
  readonly log: Log;
  /** Milliseconds to wait for an answer; 60,000 by default. */
  readonly answerMs?: number;
}

type NodeWork<T> = (connection: NodeConnection, signal: AbortSignal) => Promise<T>;

export class NodeQueries {
  /** The node's address, for messages. */
  readonly node: string;
  readonly #closing = new AbortController();
  readonly #answered = new AnsweredQueries();
  readonly #mempool: MempoolSupport = { readWhole: false };
  #connecting: Promise<NodeConnection> | undefined;

  constructor(private readonly settings: NodeQueriesSettings) {
    this.node = showAddress(settings.address);
  }

  /** Aborts when this is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Runs a query; once more on a new connection if an existing one turns out to be broken. */
  async attempt<T>(work: NodeWork<T>): Promise<Result<T, NodeFailure>> {
    const { answerMs = 60_000 } = this.settings;
    for (let again = this.#connecting !== undefined;; again = false) {
      const late = AbortSignal.timeout(answerMs);
      try {
        return ok(await work(await this.#connection(), late));
      } catch (error) {
        const { failure } = asNodeError(error, `The response of ${this.node} cannot be used`);
        if (again && failure.code === "connection_lost") continue;
        if (!late.aborted || failure.code !== "aborted") return { ok: false, error: failure };
        // others that wait on this connection would not get an answer either
        this.#connecting?.then((open) => open.close(), () => {});
        return fail("connection_lost", `The node at ${this.node} did not respond within ${answerMs / 1_000} s.`);
      }
    }
  }

  /** Runs a query for a caller of the port. */
  async query<T>(work: NodeWork<T>): Promise<Result<T, Unreachable>> {
    const answer = await this.attempt(work);
    return answer.ok ? answer : this.#unreachable(answer.error);
  }

  /** Queries the ledger at the tip. */
  atTip<T>(work: (ledger: LedgerSession) => Promise<T>): Promise<Result<At<T>, Unreachable>> {
    return this.query((connection, signal) => atTip(connection, signal, work));
  }

  /**
   * Queries the ledger at the tip, with queries that the node may not support; again after the node closed the
   * connection, until it is known which query it does not support.
   */
  async ofLedger<T>(work: (ledger: LedgerSession) => Promise<T>): Promise<Result<At<T>, Unanswered>> {
    for (;;) {
      const { closedConnections } = this.#answered;
      const answer = await this.attempt((connection, signal) =>
        atTip(connection, signal, (ledger) => unlessUnsupported(work(ledger)), this.#answered)
      );
      if (answer.ok) {
        const { point, value } = answer.value;
        return value.ok ? ok({ point, value: value.value }) : value;
      }
      if (this.#answered.closedConnections === closedConnections) return this.#unreachable(answer.error);
    }
  }

  /** Runs a query of the mempool; again if the node closed the connection on the first way of asking. */
  async ofMempool<T>(
    work: (connection: NodeConnection, signal: AbortSignal, support: MempoolSupport) => Promise<T>,
  ): Promise<Result<T, Unreachable>> {
    const { readWhole } = this.#mempool;
    const run = () => this.query((connection, signal) => work(connection, signal, this.#mempool));
    const answer = await run();
    return answer.ok || this.#mempool.readWhole === readWhole ? answer : await run();
  }

  /** Ends the connection; later queries fail. */
  close(): void {
    const open = this.#connecting;
    this.#closing.abort();
    open?.then((connection) => connection.close(), () => {});
  }

  /** The open connection, or a new one. Throws `NodeError`. */
  #connection(): Promise<NodeConnection> {
    if (this.closed.aborted) throw nodeError("closed", "The port was closed.");
    if (this.#connecting) return this.#connecting;
    const opened = this.#connecting = this.#connect();
    const forget = () => {
      if (this.#connecting === opened) this.#connecting = undefined;
    };
    opened.then(({ ended }) => ended.aborted ? forget() : ended.addEventListener("abort", forget), forget);
    return opened;
  }

  async #connect(): Promise<NodeConnection> {
    const { address, magic } = this.settings;
    const connected = await connectNode(address, { magic, signal: this.closed });
    if (!connected.ok) throw new NodeError(connected.error);
    return connected.value;
  }

  #unreachable({ code, message }: NodeFailure): ReturnType<typeof fail<"network_unreachable">> {
    this.settings.log.warn("the node did not respond", { node: this.node, code, reason: message });
    return fail("network_unreachable", message);
  }
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
