/** Sessions of a client: a ledger state to be asked, a mempool to be looked at. */
import type { Result } from "#src/base/result.ts";
import { nodeError, type NodeFailure } from "#src/node/errors.ts";
import type { Message } from "#src/node/protocols/protocol.ts";
import type { StateQueryMessage, StateQueryState, Target } from "#src/node/protocols/stateQuery.ts";
import { attempt, type Desk, Turns } from "#src/node/transport/exclusive.ts";
import {
  MEASURES_SINCE,
  type MempoolMeasures,
  type MempoolSizes,
  type MonitorMessage,
  type MonitorState,
} from "#src/node/protocols/txMonitor.ts";
import type { WireId, WireTransaction } from "#src/node/protocols/values.ts";

/** A protocol held from acquire to release. */
class Session<S extends string, M extends Message> {
  private readonly calls = new Turns();
  private open = true;
  private busy = false;

  constructor(
    private readonly desk: Desk<S, M>,
    private readonly leave: () => void,
    private readonly acquired: S,
    private readonly releasing: M,
  ) {}

  /** Asks within the session. When the caller gives up on the answer, the session ends. */
  async call(message: M, signal: AbortSignal | undefined): Promise<M> {
    const next = await this.calls.enter(this.desk.ended, signal);
    try {
      if (!this.open) {
        throw nodeError("session_ended", "The session was released, or given up in the middle of a question.");
      }
      const { answer, settled } = this.desk.ask(message, signal);
      this.busy = true;
      let taken = false;
      settled.then(() => {
        this.busy = false;
        // given up, released meanwhile, or lost: nothing is acquired any more
        if (!this.open || this.desk.speaker.state !== this.acquired) this.close();
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

  /** Releases what is held; a question under way is answered first. */
  release(): void {
    this.open = false;
    if (!this.busy) this.close();
  }

  private closed = false;
  private close(): void {
    this.open = false;
    if (this.closed) return;
    this.closed = true;
    if (!this.desk.ended.aborted && this.desk.speaker.state === this.acquired) this.desk.speaker.send(this.releasing);
    this.leave();
  }
}

type StateDesk = Desk<StateQueryState, StateQueryMessage>;

/** The ledger's state at one point. It is held until `release`; other sessions of the connection wait for that. */
export class QuerySession {
  private readonly session: Session<StateQueryState, StateQueryMessage>;

  /** `version`: what was agreed on, 16 to 23; queries differ by it. */
  private constructor(desk: StateDesk, leave: () => void, readonly version: number) {
    this.session = new Session(desk, leave, "acquired", { type: "release" });
  }

  /** Acquires a state (for `NodeConnection.acquire`). Throws `NodeError`. */
  static async acquire(desk: StateDesk, version: number, target: Target, signal?: AbortSignal): Promise<QuerySession> {
    const leave = await desk.enter(signal);
    const session = new QuerySession(desk, leave, version);
    await session.take({ type: "acquire", target }, target, signal);
    return session;
  }

  /** Asks with CBOR and answers with CBOR: what stands inside the messages, a slice of what came. `queries/ask.ts` asks with values. */
  query(query: Uint8Array, signal?: AbortSignal): Promise<Result<Uint8Array, NodeFailure>> {
    return attempt(async () => {
      const answer = await this.session.call({ type: "query", query }, signal);
      return answer.type === "result" ? answer.result : impossible(answer);
    });
  }

  /** Moves to another state. Where that fails, the session has ended. */
  reacquire(target: Target, signal?: AbortSignal): Promise<Result<void, NodeFailure>> {
    return attempt(() => this.take({ type: "reacquire", target }, target, signal));
  }

  /** Lets the state go. */
  release(): void {
    this.session.release();
  }

  private async take(message: StateQueryMessage, target: Target, signal: AbortSignal | undefined): Promise<void> {
    let answer: StateQueryMessage;
    try {
      answer = await this.session.call(message, signal);
    } catch (error) {
      this.session.release();
      throw error;
    }
    if (answer.type === "acquired") return;
    if (answer.type !== "failure") return impossible(answer);
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

type MonitorDesk = Desk<MonitorState, MonitorMessage>;

/** The mempool as it stood at one moment. It is held until `release`; other snapshots of the connection wait for that. */
export class MempoolSession {
  private readonly session: Session<MonitorState, MonitorMessage>;
  private at = 0;

  private constructor(desk: MonitorDesk, leave: () => void, private readonly version: number) {
    this.session = new Session(desk, leave, "acquired", { type: "release" });
  }

  /** Takes a snapshot (for `NodeConnection.mempool`). Throws `NodeError`. */
  static async acquire(desk: MonitorDesk, version: number, signal?: AbortSignal): Promise<MempoolSession> {
    const leave = await desk.enter(signal);
    const session = new MempoolSession(desk, leave, version);
    await session.take(signal);
    return session;
  }

  /** Slot after the ledger's tip, for which the mempool's transactions are meant. */
  get slot(): number {
    return this.at;
  }

  /** Waits until the mempool differs, and looks at it as it is then. */
  change(signal?: AbortSignal): Promise<Result<void, NodeFailure>> {
    return attempt(() => this.take(signal));
  }

  /** The next transaction of the snapshot, or undefined after the last. */
  next(signal?: AbortSignal): Promise<Result<WireTransaction | undefined, NodeFailure>> {
    return attempt(async () => {
      const answer = await this.session.call({ type: "nextTx" }, signal);
      return answer.type === "replyNextTx" ? answer.transaction : impossible(answer);
    });
  }

  /** Whether the snapshot has a transaction. */
  has(id: WireId, signal?: AbortSignal): Promise<Result<boolean, NodeFailure>> {
    return attempt(async () => {
      const answer = await this.session.call({ type: "hasTx", id }, signal);
      return answer.type === "replyHasTx" ? answer.has : impossible(answer);
    });
  }

  /** How full the mempool is. */
  sizes(signal?: AbortSignal): Promise<Result<MempoolSizes, NodeFailure>> {
    return attempt(async () => {
      const answer = await this.session.call({ type: "getSizes" }, signal);
      return answer.type === "replyGetSizes" ? answer.sizes : impossible(answer);
    });
  }

  /** How full the mempool is by each measure; `unsupported_version` before version 20. */
  measures(signal?: AbortSignal): Promise<Result<MempoolMeasures, NodeFailure>> {
    return attempt(async () => {
      if (this.version < MEASURES_SINCE) {
        throw nodeError(
          "unsupported_version",
          `The mempool's measures came with version ${MEASURES_SINCE}; this is ${this.version}.`,
        );
      }
      const answer = await this.session.call({ type: "getMeasures" }, signal);
      return answer.type === "replyGetMeasures" ? answer.measures : impossible(answer);
    });
  }

  /** Lets the snapshot go. */
  release(): void {
    this.session.release();
  }

  private async take(signal: AbortSignal | undefined): Promise<void> {
    try {
      const answer = await this.session.call({ type: "acquire" }, signal);
      this.at = answer.type === "acquired" ? answer.slot : impossible(answer);
    } catch (error) {
      this.session.release();
      throw error;
    }
  }
}

/** What the table of moves lets through is what is asked for. */
function impossible(message: Message): never {
  throw nodeError("protocol_violation", `${message.type} is no answer to what was asked.`);
}
