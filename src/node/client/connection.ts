/** A client of a node: a connection, its handshake, and its four protocols. */
import { ok, type Result } from "#src/base/result.ts";
import type { Point } from "#src/cardano/block.ts";
import { chainSync } from "#src/node/protocols/chainSync.ts";
import { dial, type NodeAddress, showAddress } from "#src/node/transport/dial.ts";
import { asNodeError, NodeError, nodeError, type NodeFailure } from "#src/node/errors.ts";
import {
  handshake,
  type HandshakeMessage,
  type HandshakeRefusal,
  otherMagic,
  VERSIONS,
  versionTable,
} from "#src/node/protocols/handshake.ts";
import { Mux } from "#src/node/transport/mux.ts";
import { type Message, type Protocol, Speaker } from "#src/node/protocols/protocol.ts";
import { MempoolSession, QuerySession } from "#src/node/client/sessions.ts";
import { stateQuery, type StateTarget } from "#src/node/protocols/stateQuery.ts";
import { DEFAULT_DEPTH, followOnConnection, type SyncStep } from "#src/node/client/chainSync.ts";
import { ExclusiveProtocol, toResult } from "#src/node/transport/exclusiveProtocol.ts";
import { txMonitor } from "#src/node/protocols/txMonitor.ts";
import { txSubmission } from "#src/node/protocols/txSubmission.ts";
import { CONWAY } from "#src/node/protocols/values.ts";

/** Options of a connection. */
export interface ConnectOptions {
  /** The network's magic; a node of another network is refused. */
  readonly magic: number;
  /** Versions to propose; 16 to 23 by default. */
  readonly versions?: readonly number[];
  /** Milliseconds for the connection, and again for the handshake; 10,000 by default. */
  readonly handshakeTimeout?: number;
  /** Blocks requested ahead while following; 100 by default. */
  readonly depth?: number;
  /** Aborts connecting; an open connection is ended by `close`. */
  readonly signal?: AbortSignal;
}

/** A node's answer to a transaction; `reason` is CBOR, see `rejections.ts`. */
type SubmissionVerdict =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly reason: Uint8Array };

/**
 * Connects to a node.
 *
 * ```ts
 * const connection = await connectNode({ path: "/run/node.socket" }, { magic: 1 });
 * if (!connection.ok) throw new Error(connection.error.message);
 * for await (const step of connection.value.follow([], signal)) …
 * ```
 */
export async function connectNode(
  address: NodeAddress,
  options: ConnectOptions,
): Promise<Result<NodeConnection, NodeFailure>> {
  const shaken = await performHandshake(address, options);
  if (!shaken.ok) return shaken;
  const { mux, answer } = shaken.value;
  const where = showAddress(address);
  if (answer.type === "accept" && answer.data.magic === options.magic && versionsOf(options).includes(answer.version)) {
    return ok(new NodeConnection(mux, answer.version, options.depth ?? DEFAULT_DEPTH));
  }
  const failure: NodeFailure = answer.type === "refuse"
    ? refused(answer.refusal, where, options)
    : answer.type === "accept" && answer.data.magic !== options.magic
    ? wrongMagic(where, options.magic, answer.data.magic)
    : { code: "not_a_node", message: `${where} accepted a version in the handshake that was not proposed.` };
  mux.fail(new NodeError(failure));
  return { ok: false, error: failure };
}

/** Proposes the versions and receives the answer. */
async function performHandshake(
  address: NodeAddress,
  options: ConnectOptions,
): Promise<Result<{ readonly mux: Mux; readonly answer: HandshakeMessage }, NodeFailure>> {
  const within = options.handshakeTimeout ?? 10_000;
  const dialled = await dial(address, within, options.signal);
  if (!dialled.ok) return dialled;
  const where = showAddress(address);
  const mux = new Mux(dialled.value, "client");
  const speaker = open(mux, handshake);
  const late = setTimeout(
    () =>
      mux.fail(
        nodeError("not_a_node", `${where} did not respond to the handshake within ${within / 1000} s; is it a node?`),
      ),
    within,
  );
  try {
    speaker.send({ type: "propose", versions: versionTable(versionsOf(options), options.magic, false) });
    return ok({ mux, answer: await speaker.receive(options.signal) });
  } catch (error) {
    const { code, message } = asNodeError(error, "").failure;
    const failure = code === "connection_lost"
      ? nodeError(
        code,
        `${where} closed the connection instead of answering the handshake: no node, one that is stopping, or one of another ` +
          `network than the one with the magic ${options.magic}.`,
      )
      : code === "protocol_violation" || code === "too_large"
      ? nodeError("not_a_node", `What listens at ${where} does not speak the node's protocol: ${message}`)
      : nodeError(code, message);
    mux.fail(failure);
    return { ok: false, error: failure.failure };
  } finally {
    clearTimeout(late);
  }
}

function versionsOf(options: ConnectOptions): readonly number[] {
  return options.versions ?? VERSIONS;
}

function refused(refusal: HandshakeRefusal, where: string, options: ConnectOptions): NodeFailure {
  if (refusal.type === "mismatch") {
    const theirs = refusal.versions.length > 0 ? refusal.versions.join(", ") : "none";
    return {
      code: "version_mismatch",
      message: `${where} speaks the versions ${theirs}; this program speaks ${versionsOf(options).join(", ")}.`,
      details: { versions: refusal.versions },
    };
  }
  const magic = otherMagic(refusal.text);
  if (refusal.type === "refused" && magic !== undefined) return wrongMagic(where, options.magic, magic ?? undefined);
  return { code: "handshake_refused", message: `${where} refused the handshake: ${refusal.text}` };
}

function wrongMagic(where: string, ours: number, theirs: number | undefined): NodeFailure {
  const message = theirs === undefined
    ? `The node at ${where} is on another network than the one with the magic ${ours}.`
    : `The node at ${where} is on the network with the magic ${theirs}, not ${ours}.`;
  return { code: "wrong_magic", message, details: { ours, ...(theirs === undefined ? {} : { theirs }) } };
}

function open<S extends string, M extends Message>(mux: Mux, protocol: Protocol<S, M>): Speaker<S, M> {
  return new Speaker(
    protocol,
    mux.channel(protocol.id, protocol.limits.client),
    "client",
    (reason) => mux.fail(reason),
  );
}

/** A connection to a node. If it ends, everything on it ends with the same reason. */
export class NodeConnection {
  private readonly chain;
  private readonly submission;
  private readonly monitor;
  private readonly states;

  constructor(
    private readonly mux: Mux,
    /** The negotiated version, 16 to 23. */
    readonly version: number,
    private readonly depth: number,
  ) {
    const exclusive = <S extends string, M extends Message>(protocol: Protocol<S, M>) =>
      new ExclusiveProtocol(open(mux, protocol), mux.ended);
    this.chain = exclusive(chainSync());
    this.submission = exclusive(txSubmission);
    this.monitor = exclusive(txMonitor);
    this.states = exclusive(stateQuery);
  }

  /** Aborts when the connection has ended; the reason is a `NodeError`. */
  get ended(): AbortSignal {
    return this.mux.ended;
  }

  /** Requests to follow the chain that the node has not answered. */
  get outstanding(): number {
    return this.chain.speaker.outstanding;
  }

  /**
   * Follows the chain from the newest of `points` (newest first) that the node has, else from the origin; the first
   * step is `backward` to that point. Ends when the signal aborts. One stream at a time: the next one waits for
   * outstanding answers, at the tip for a block; to avoid that, close the connection.
   *
   * @throws NodeError when the connection ends
   */
  follow(points: readonly Point[], signal?: AbortSignal): AsyncGenerator<SyncStep, void, void> {
    return followOnConnection(
      { protocol: this.chain, depth: this.depth, fail: (reason) => this.mux.fail(reason) },
      points,
      signal,
    );
  }

  /** Submits a signed transaction in its era's form (`era`: index as in queries; Conway by default). */
  submit(
    transaction: Uint8Array,
    options: { era?: number; signal?: AbortSignal } = {},
  ): Promise<Result<SubmissionVerdict, NodeFailure>> {
    const { era = CONWAY, signal } = options;
    return toResult(async () => {
      const leave = await this.submission.enter(signal);
      const { answer, settled } = this.submission.request(
        { type: "submit", transaction: { era, bytes: transaction } },
        signal,
      );
      settled.then(leave);
      const verdict = await answer;
      return verdict.type === "reject" ? { accepted: false, reason: verdict.reason } : { accepted: true };
    });
  }

  /** Acquires a ledger state for queries. Fails with `point_too_old` or `point_not_on_chain`. */
  acquire(target: StateTarget, signal?: AbortSignal): Promise<Result<QuerySession, NodeFailure>> {
    return toResult(() => QuerySession.acquire(this.states, this.version, target, signal));
  }

  /** Takes a snapshot of the mempool. */
  mempool(signal?: AbortSignal): Promise<Result<MempoolSession, NodeFailure>> {
    return toResult(() => MempoolSession.acquire(this.monitor, this.version, signal));
  }

  /** Closes the connection; pending calls fail with `closed`. */
  close(): void {
    this.mux.fail(nodeError("closed", "The connection was closed here."));
  }
}
