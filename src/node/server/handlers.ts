/**
 * The server's side of the four protocols: each is a loop that receives a message, calls a handler, and answers.
 *
 * Assumptions: a handler is an async function or an iterable without knowledge of the protocol. If it throws (an
 * unknown query), the connection ends, as with a node. A client that does not read is not served further.
 */
import { yieldToEventLoop } from "#src/base/eventLoop.ts";
import type { Result } from "#src/base/result.ts";
import { type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import { chainSync, type ChainSyncMessage, type ChainSyncState } from "#src/node/protocols/chainSync.ts";
import { nodeError } from "#src/node/errors.ts";
import { heightOf } from "#src/node/client/header.ts";
import type { Message, Protocol, Speaker } from "#src/node/protocols/protocol.ts";
import {
  type AcquireFailure,
  stateQuery,
  type StateQueryMessage,
  type StateQueryState,
  type StateTarget,
} from "#src/node/protocols/stateQuery.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";
import {
  MEASURES_SINCE,
  type MempoolMeasures,
  type MonitorMessage,
  type MonitorState,
  txMonitor,
} from "#src/node/protocols/txMonitor.ts";
import { type SubmissionMessage, type SubmissionState, txSubmission } from "#src/node/protocols/txSubmission.ts";
import type { WireTransaction } from "#src/node/protocols/values.ts";

/** A transaction of a served mempool. */
export interface ServedTransaction extends WireTransaction {
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

/** A snapshot of a mempool. */
export interface ServedMempool {
  /** Slot for which its transactions are valid. */
  readonly slot: number;
  /** Capacity in bytes. */
  readonly capacity: number;
  readonly transactions: readonly ServedTransaction[];
  /** Its measures besides `transaction_bytes`. */
  readonly measures?: MempoolMeasures["measures"];
}

/** A ledger state that a client has acquired. */
export interface ServedState {
  /** Answers a query, both as CBOR. Throws for an unknown query, which ends the connection. */
  query(query: Uint8Array, version: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Called when the client releases it. */
  release?(): void;
}

/** Handlers of a server; a protocol without a handler is not served. Signals abort when the client has gone. */
export interface NodeHandlers {
  readonly magic: number;
  /** Versions supported; 16 to 23 by default. */
  readonly versions?: readonly number[];
  /**
   * The chain's steps from the newest of `points` (newest first) that is on the chain, else from the origin; the first
   * is `backward` to that point. Waits at the tip. Same as the chain port's `follow`.
   */
  follow?(points: readonly Point[], signal: AbortSignal): AsyncIterable<SyncStep>;
  /** Submits a transaction; gives the reason (CBOR) if it is refused. */
  submit?(transaction: WireTransaction, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** A snapshot of the mempool; given the client's snapshot, waits until the mempool differs from it. */
  mempool?(snapshot: ServedMempool | undefined, signal: AbortSignal): Promise<ServedMempool>;
  /** Acquires the ledger state at a point. */
  acquire?(target: StateTarget, signal: AbortSignal): Promise<Result<ServedState, { readonly code: AcquireFailure }>>;
}

/** Opens a protocol's channel. */
type OpenChannel = <S extends string, M extends Message>(protocol: Protocol<S, M>) => Speaker<S, M>;

/**
 * Serves each protocol that has a handler. A promise resolves when its protocol is done, and rejects when a handler
 * throws.
 */
export function serveProtocols(
  handlers: NodeHandlers,
  version: number,
  open: OpenChannel,
  ended: AbortSignal,
): Promise<void>[] {
  const { follow, submit, mempool, acquire } = handlers;
  return [
    ...(follow ? [serveChain(open(chainSync()), follow.bind(handlers), ended)] : []),
    ...(submit ? [serveSubmission(open(txSubmission), submit.bind(handlers), ended)] : []),
    ...(mempool ? [serveMempool(open(txMonitor), mempool.bind(handlers), version, ended)] : []),
    ...(acquire ? [serveStates(open(stateQuery), acquire.bind(handlers), version, ended)] : []),
  ];
}

/** The stream of steps for one client. */
class StepStream {
  private readonly controller = new AbortController();
  private readonly iterator: AsyncIterator<SyncStep>;
  private readonly stop = () => this.close();
  /** Whether the last step reached the tip. */
  private atTip = false;

  constructor(
    follow: NonNullable<NodeHandlers["follow"]>,
    points: readonly Point[],
    private readonly ended: AbortSignal,
  ) {
    ended.addEventListener("abort", this.stop);
    this.iterator = follow(points, this.controller.signal)[Symbol.asyncIterator]();
  }

  /** The next step; calls `waiting` first if there is none yet. */
  async next(waiting: () => void): Promise<SyncStep> {
    const coming = this.iterator.next();
    if (this.atTip && await Promise.race([coming, yieldToEventLoop()]) === undefined) waiting();
    const { value: step, done } = await coming;
    if (done) throw nodeError("closed", "The chain source has ended.");
    this.atTip = step.type === "forward" ? isTip(step.block, step.tip) : samePoint(step.point, step.tip);
    return step;
  }

  close(): void {
    this.ended.removeEventListener("abort", this.stop);
    this.controller.abort();
    // a waiting generator ends with the signal; nothing needs its result
    this.iterator.return?.().catch(() => {});
  }
}

/** Whether a block is the tip. The block may be of a form that is not decoded here. */
function isTip(block: Uint8Array, tip: Tip): boolean {
  try {
    return heightOf(block) >= tip.height;
  } catch {
    return false;
  }
}

async function serveChain(
  speaker: Speaker<ChainSyncState, ChainSyncMessage>,
  follow: NonNullable<NodeHandlers["follow"]>,
  ended: AbortSignal,
): Promise<void> {
  let reading: StepStream | undefined;
  /** The step back to the client's starting point: the answer to its first request. */
  let first: SyncStep | undefined;
  const begin = async (points: readonly Point[]) => {
    const stream = new StepStream(follow, points, ended);
    const step = await stream.next(() => {});
    if (step.type !== "backward") {
      throw nodeError("protocol_violation", "The chain's first step is not back to a point.");
    }
    const found = step.point.slot >= 0 || points.some(({ slot }) => slot < 0);
    if (found) {
      reading?.close();
      reading = stream;
      first = step;
    } else stream.close();
    return { stream, step, found };
  };
  for (;;) {
    const message = speaker.next() ?? await speaker.receive();
    switch (message.type) {
      case "done":
        return reading?.close();
      case "findIntersect": {
        const { step: { point, tip }, found } = await begin(message.points);
        speaker.send(found ? { type: "intersectFound", point, tip } : { type: "intersectNotFound", tip });
        break;
      }
      case "requestNext": {
        const stream = reading ?? (await begin([ORIGIN])).stream;
        const step: SyncStep = first ?? await stream.next(() => speaker.send({ type: "awaitReply" }));
        first = undefined;
        speaker.send(
          step.type === "forward"
            ? { type: "rollForward", block: step.block, tip: step.tip }
            : { type: "rollBackward", point: step.point, tip: step.tip },
        );
        if (speaker.channel.full) await speaker.channel.room();
        break;
      }
    }
  }
}

async function serveSubmission(
  speaker: Speaker<SubmissionState, SubmissionMessage>,
  submit: NonNullable<NodeHandlers["submit"]>,
  ended: AbortSignal,
): Promise<void> {
  for (;;) {
    const message = await speaker.receive();
    if (message.type !== "submit") return;
    const { era, bytes } = message.transaction;
    // copied, because a mempool may keep it, and a slice would keep the whole received chunk in memory
    const reason = await submit({ era, bytes: bytes.slice() }, ended);
    speaker.send(reason ? { type: "reject", reason } : { type: "accept" });
  }
}

async function serveMempool(
  speaker: Speaker<MonitorState, MonitorMessage>,
  mempool: NonNullable<NodeHandlers["mempool"]>,
  version: number,
  ended: AbortSignal,
): Promise<void> {
  let snapshot: ServedMempool = { slot: 0, capacity: 0, transactions: [] };
  let held = false;
  let given = 0;
  for (;;) {
    const message = await speaker.receive();
    const { transactions, capacity } = snapshot;
    const size = () => transactions.reduce((sum, { bytes }) => sum + bytes.length, 0);
    switch (message.type) {
      case "acquire":
        snapshot = await mempool(held ? snapshot : undefined, ended);
        held = true;
        given = 0;
        speaker.send({ type: "acquired", slot: snapshot.slot });
        break;
      case "release":
        held = false;
        break;
      case "nextTx":
        speaker.send({ type: "replyNextTx", transaction: transactions[given++] });
        break;
      case "hasTx":
        speaker.send({ type: "replyHasTx", has: transactions.some(({ hash }) => hash === message.id.hash) });
        break;
      case "getSizes":
        speaker.send({ type: "replyGetSizes", sizes: { capacity, size: size(), transactions: transactions.length } });
        break;
      case "getMeasures": {
        if (version < MEASURES_SINCE) throw nodeError("protocol_violation", `Version ${version} has no measures.`);
        const bytes = { size: BigInt(size()), capacity: BigInt(capacity) };
        const measures = new Map([["transaction_bytes", bytes], ...snapshot.measures ?? []]);
        speaker.send({ type: "replyGetMeasures", transactions: transactions.length, measures });
        break;
      }
      default:
        return;
    }
    if (speaker.channel.full) await speaker.channel.room();
  }
}

async function serveStates(
  speaker: Speaker<StateQueryState, StateQueryMessage>,
  acquire: NonNullable<NodeHandlers["acquire"]>,
  version: number,
  ended: AbortSignal,
): Promise<void> {
  let state: ServedState | undefined;
  const release = () => {
    state?.release?.();
    state = undefined;
  };
  try {
    for (;;) {
      const message = await speaker.receive();
      switch (message.type) {
        case "acquire":
        case "reacquire": {
          release();
          const acquired = await acquire(message.target, ended);
          if (acquired.ok) state = acquired.value;
          speaker.send(acquired.ok ? { type: "acquired" } : { type: "failure", failure: acquired.error.code });
          break;
        }
        case "query":
          if (!state) throw nodeError("protocol_violation", "A query was sent before a state was acquired.");
          speaker.send({ type: "result", result: await state.query(message.query, version, ended) });
          break;
        case "release":
          release();
          break;
        default:
          return;
      }
      if (speaker.channel.full) await speaker.channel.room();
    }
  } finally {
    release();
  }
}

const ORIGIN: Point = { slot: -1, hash: "" };
