/** A client's sessions: an acquired ledger state, an acquired mempool snapshot. */
import type { Result } from "#src/base/result.ts";
import { nodeError, type NodeFailure } from "#src/node/errors.ts";
import type { Message } from "#src/node/protocols/protocol.ts";
import type { StateQueryMessage, StateQueryState, StateTarget } from "#src/node/protocols/stateQuery.ts";
import { type ExclusiveProtocol, Mutex, toResult } from "#src/node/transport/exclusiveProtocol.ts";
import {
  MEASURES_SINCE,
  type MempoolMeasures,
  type MempoolSizes,
  type MonitorMessage,
  type MonitorState,
} from "#src/node/protocols/txMonitor.ts";
import type { WireId, WireTransaction } from "#src/node/protocols/values.ts";

/** A protocol from acquire to release. */
class ProtocolSession<S extends string, M extends Message> {
  private readonly calls = new Mutex();
  private open = true;
  private busy = false;

  constructor(
    private readonly protocol: ExclusiveProtocol<S, M>,
    private readonly leave: () => void,
    private readonly acquired: S,
    private readonly releasing: M,
  ) {}

  /** Sends a message and receives the answer. If the caller aborts, the session ends. */
  async call(message: M, signal: AbortSignal | undefined): Promise<M> {
    const next = await this.calls.enter(this.protocol.ended, signal);
    try {
      if (!this.open) {
        throw nodeError("session_ended", "The session was released, or given up in the middle of a question.");
      }
      const { answer, settled } = this.protocol.request(message, signal);
      this.busy = true;
      let taken = false;
      settled.then(() => {
        this.busy = false;
        // aborted, released meanwhile, or connection lost: nothing is acquired any more
        if (!this.open || this.protocol.speaker.state !== this.acquired) this.close();
      });
      try {
        const given = await answer;
        taken = true;
        return given;
      } finally {
        if (!taken) this.open = false;
      }
    } finally {
      next();
    }
  }

  /** Sends a message and receives the answer of the type that the protocol's transitions allow. */
  async request<T extends M["type"]>(
    message: M,
    type: T,
    signal: AbortSignal | undefined,
  ): Promise<Extract<M, { readonly type: T }>> {
    const answer = await this.call(message, signal);
    return isOf(answer, type) ? answer : unexpectedAnswer(answer);
  }

  /** Releases the session; a request in progress is answered first. */
  release(): void {
    this.open = false;
    if (!this.busy) this.close();
  }

  private closed = false;
  private close(): void {
    this.open = false;
    if (this.closed) return;
    this.closed = true;
    if (!this.protocol.ended.aborted && this.protocol.speaker.state === this.acquired) {
      this.protocol.speaker.send(this.releasing);
    }
    this.leave();
  }
}

type StateProtocol = ExclusiveProtocol<StateQueryState, StateQueryMessage>;

/** The ledger state at a point, until `release`; other sessions of the connection wait meanwhile. */
export class QuerySession {
  private readonly session: ProtocolSession<StateQueryState, StateQueryMessage>;

  /** `version`: the negotiated version, 16 to 23; queries depend on it. */
  private constructor(protocol: StateProtocol, leave: () => void, readonly version: number) {
    this.session = new ProtocolSession(protocol, leave, "acquired", { type: "release" });
  }

  /** Acquires a state (for `NodeConnection.acquire`). Throws `NodeError`. */
  static async acquire(
    protocol: StateProtocol,
    version: number,
    target: StateTarget,
    signal?: AbortSignal,
  ): Promise<QuerySession> {
    const leave = await protocol.enter(signal);
    const session = new QuerySession(protocol, leave, version);
    await session.take({ type: "acquire", target }, target, signal);
    return session;
  }

  /**
   * Sends a query and gives the answer, both as CBOR; the answer is a slice of the received message. `queries/ask.ts`
   * is the typed form.
   */
  query(query: Uint8Array, signal?: AbortSignal): Promise<Result<Uint8Array, NodeFailure>> {
    return toResult(async () => (await this.session.request({ type: "query", query }, "result", signal)).result);
  }

  /** Acquires another state. If that fails, the session has ended. */
  reacquire(target: StateTarget, signal?: AbortSignal): Promise<Result<void, NodeFailure>> {
    return toResult(() => this.take({ type: "reacquire", target }, target, signal));
  }

  /** Releases the state. */
  release(): void {
    this.session.release();
  }

  private async take(message: StateQueryMessage, target: StateTarget, signal: AbortSignal | undefined): Promise<void> {
    let answer: StateQueryMessage;
    try {
      answer = await this.session.call(message, signal);
    } catch (error) {
      this.session.release();
      throw error;
    }
    if (answer.type === "acquired") return;
    if (answer.type !== "failure") return unexpectedAnswer(answer);
    const where = typeof target === "string"
      ? `the ${target} state`
      : target.slot < 0
      ? "the origin"
      : `slot ${target.slot}, block ${target.hash}`;
    throw answer.failure === "point_too_old"
      ? nodeError("point_too_old", `The node no longer has the state at ${where}.`)
      : nodeError("point_not_on_chain", `The node's chain does not have ${where}.`);
  }
}

type MonitorProtocol = ExclusiveProtocol<MonitorState, MonitorMessage>;

/** A snapshot of the mempool, until `release`; other snapshots of the connection wait meanwhile. */
export class MempoolSession {
  private readonly session: ProtocolSession<MonitorState, MonitorMessage>;
  private at = 0;

  private constructor(protocol: MonitorProtocol, leave: () => void, private readonly version: number) {
    this.session = new ProtocolSession(protocol, leave, "acquired", { type: "release" });
  }

  /** Takes a snapshot (for `NodeConnection.mempool`). Throws `NodeError`. */
  static async acquire(protocol: MonitorProtocol, version: number, signal?: AbortSignal): Promise<MempoolSession> {
    const leave = await protocol.enter(signal);
    const session = new MempoolSession(protocol, leave, version);
    await session.take(signal);
    return session;
  }

  /** The slot after the ledger's tip, for which the mempool's transactions are valid. */
  get slot(): number {
    return this.at;
  }

  /** Waits until the mempool differs, and takes a new snapshot. */
  change(signal?: AbortSignal): Promise<Result<void, NodeFailure>> {
    return toResult(() => this.take(signal));
  }

  /** The next transaction of the snapshot, or undefined after the last. */
  next(signal?: AbortSignal): Promise<Result<WireTransaction | undefined, NodeFailure>> {
    return toResult(async () => (await this.session.request({ type: "nextTx" }, "replyNextTx", signal)).transaction);
  }

  /** Whether the snapshot has a transaction. */
  has(id: WireId, signal?: AbortSignal): Promise<Result<boolean, NodeFailure>> {
    return toResult(async () => (await this.session.request({ type: "hasTx", id }, "replyHasTx", signal)).has);
  }

  /** Fill level of the mempool. */
  sizes(signal?: AbortSignal): Promise<Result<MempoolSizes, NodeFailure>> {
    return toResult(async () => (await this.session.request({ type: "getSizes" }, "replyGetSizes", signal)).sizes);
  }

  /** Fill level of the mempool by each measure; `unsupported_version` before version 20. */
  measures(signal?: AbortSignal): Promise<Result<MempoolMeasures, NodeFailure>> {
    return toResult(async () => {
      if (this.version < MEASURES_SINCE) {
        throw nodeError(
          "unsupported_version",
          `Mempool measures require protocol version ${MEASURES_SINCE}; the connection has ${this.version}.`,
        );
      }
      const { transactions, measures } = await this.session.request(
        { type: "getMeasures" },
        "replyGetMeasures",
        signal,
      );
      return { transactions, measures };
    });
  }

  /** Releases the snapshot. */
  release(): void {
    this.session.release();
  }

  private async take(signal: AbortSignal | undefined): Promise<void> {
    try {
      this.at = (await this.session.request({ type: "acquire" }, "acquired", signal)).slot;
    } catch (error) {
      this.session.release();
      throw error;
    }
  }
}

function isOf<M extends Message, T extends M["type"]>(
  message: M,
  type: T,
): message is Extract<M, { readonly type: T }> {
  return message.type === type;
}

/** The protocol's transitions allow no other message here. */
function unexpectedAnswer(message: Message): never {
  throw nodeError("protocol_violation", `${message.type} is not a response to the query.`);
}
