/**
 * A mini-protocol, described once for both sides: its messages, who may speak in which state, and where each message leads; and a
 * speaker that holds one side to it.
 */
import { asNodeError, type NodeError, nodeError } from "#src/node/errors.ts";
import type { Channel, Limits } from "#src/node/transport/channel.ts";
import type { Side } from "#src/node/transport/mux.ts";

/** What every message has. */
export interface Message {
  readonly type: string;
}

/** A mini-protocol. */
export interface Protocol<S extends string, M extends Message> {
  /** For sentences: "chain-sync". */
  readonly name: string;
  /** Its number in the mux. */
  readonly id: number;
  readonly initial: S;
  /** Who speaks in a state; nobody does in the last one. */
  readonly agency: Readonly<Record<S, Side | "nobody">>;
  /** Where a message leads from a state; what is not named must not be sent there. */
  readonly moves: Readonly<Record<S, { readonly [type in M["type"]]?: S }>>;
  /** States of the server's from which every way leads to the same state of the client's: there the client may speak ahead. */
  readonly settles?: { readonly [state in S]?: S };
  /** What a client takes of a server, and a server of a client. */
  readonly limits: Readonly<Record<Side, Limits>>;
  /** A message's bytes, in parts to be sent one after another. */
  encode(message: M): readonly Uint8Array[];
  /** Reads a message, whole. Throws `CborError` or `NodeError` on anything else. */
  decode(bytes: Uint8Array): M;
}

/** One side of a protocol on one connection. */
export class Speaker<S extends string, M extends Message> {
  /** As of the messages taken; on a client that has spoken ahead, the states that still await their answers. */
  private at: S;
  private readonly ahead: S[] = [];

  constructor(
    private readonly protocol: Protocol<S, M>,
    readonly channel: Channel,
    private readonly side: Side,
    private readonly fail: (reason: NodeError) => NodeError,
  ) {
    this.at = protocol.initial;
  }

  /** The state; where answers are outstanding, that of the oldest. */
  get state(): S {
    return this.ahead[0] ?? this.at;
  }

  /** Questions that still await their answers. */
  get outstanding(): number {
    return this.ahead.length;
  }

  /** Sends a message. Throws a `protocol_violation` where it must not stand (an error of ours), and sends nothing then. */
  send(message: M): void {
    const { agency, moves, settles, name } = this.protocol;
    const last = this.ahead.at(-1);
    const from = last === undefined ? this.at : settles?.[last];
    const to = from === undefined || agency[from] !== this.side ? undefined : moves[from][message.type as M["type"]];
    if (to === undefined) {
      throw nodeError("protocol_violation", `${name}: ${message.type} must not be sent while ${this.state}.`);
    }
    if (this.side === "client" && agency[to] === "server") this.ahead.push(to);
    else this.at = to;
    this.channel.send(this.protocol.encode(message));
  }

  /** The next message where one has come in, checked against the state. Ends the connection and throws when it must not stand. */
  next(): M | undefined {
    const bytes = this.channel.next();
    if (bytes === undefined) return undefined;
    const { agency, moves, name } = this.protocol;
    try {
      const message = this.protocol.decode(bytes);
      const from = this.state;
      const to = agency[from] === this.side ? undefined : moves[from][message.type as M["type"]];
      if (to === undefined) throw nodeError("protocol_violation", `${name}: ${message.type} came while ${from}.`);
      if (this.ahead.length === 0) this.at = to;
      else if (agency[to] === "server") this.ahead[0] = to;
      else {
        this.ahead.shift();
        this.at = to;
      }
      return message;
    } catch (error) {
      throw this.fail(asNodeError(error, `${name}: a message cannot be read`));
    }
  }

  /** The next message, waited for. Throws the reason when the connection ends, `aborted` with the signal. */
  async receive(signal?: AbortSignal): Promise<M> {
    for (;;) {
      const message = this.next();
      if (message) return message;
      await this.channel.arrival(signal);
    }
  }
}
