/**
 * A mini-protocol, described once for both sides: its messages, whose turn it is in which state, and the transitions. A
 * speaker enforces it for one side.
 */
import { asNodeError, type NodeError, nodeError } from "#src/node/errors.ts";
import type { Channel, ChannelLimits } from "#src/node/transport/channel.ts";
import type { ConnectionSide } from "#src/node/transport/mux.ts";

/** Every message has a type. */
export interface Message {
  readonly type: string;
}

/** A mini-protocol. */
export interface Protocol<S extends string, M extends Message> {
  /** Name in messages: "chain-sync". */
  readonly name: string;
  /** Its number in the mux. */
  readonly id: number;
  readonly initial: S;
  /** Whose turn it is in a state; neither side's in the last one. */
  readonly agency: Readonly<Record<S, ConnectionSide | "none">>;
  /** The transitions: the state after a message; a message that is not listed must not be sent in that state. */
  readonly transitions: Readonly<Record<S, { readonly [type in M["type"]]?: S }>>;
  /**
   * States of the server from which every path leads to the same client state: there the client may pipeline requests.
   */
  readonly pipelinesTo?: { readonly [state in S]?: S };
  /** Limits for what a client receives from a server, and a server from a client. */
  readonly limits: Readonly<Record<ConnectionSide, ChannelLimits>>;
  /** Encodes a message, as parts to be sent one after another. */
  encode(message: M): readonly Uint8Array[];
  /** Decodes a complete message. Throws `CborError` or `NodeError` for anything else. */
  decode(bytes: Uint8Array): M;
}

/** One side of a protocol on one connection. */
export class Speaker<S extends string, M extends Message> {
  /** The state after the messages received; on a pipelining client, the states that await answers. */
  private at: S;
  private readonly pipelined: S[] = [];

  constructor(
    private readonly protocol: Protocol<S, M>,
    readonly channel: Channel,
    private readonly side: ConnectionSide,
    private readonly fail: (reason: NodeError) => NodeError,
  ) {
    this.at = protocol.initial;
  }

  /** The state; with outstanding answers, that of the oldest. */
  get state(): S {
    return this.pipelined[0] ?? this.at;
  }

  /** Number of requests without answers so far. */
  get outstanding(): number {
    return this.pipelined.length;
  }

  /**
   * Sends a message. Throws `protocol_violation` and sends nothing if the state does not allow it, which is an error of
   * this side.
   */
  send(message: M): void {
    const { agency, pipelinesTo, name } = this.protocol;
    const last = this.pipelined.at(-1);
    const from = last === undefined ? this.at : pipelinesTo?.[last];
    const to = from && agency[from] === this.side ? this.after(from, message) : undefined;
    if (to === undefined) {
      throw nodeError("protocol_violation", `${name}: ${message.type} must not be sent while ${this.state}.`);
    }
    if (this.side === "client" && agency[to] === "server") this.pipelined.push(to);
    else this.at = to;
    this.channel.send(this.protocol.encode(message));
  }

  /** The next message that was received, if any. Ends the connection and throws if the state does not allow it. */
  next(): M | undefined {
    const bytes = this.channel.next();
    if (bytes === undefined) return undefined;
    const { agency, name } = this.protocol;
    try {
      const message = this.protocol.decode(bytes);
      const from = this.state;
      const to = agency[from] === this.side ? undefined : this.after(from, message);
      if (to === undefined) throw nodeError("protocol_violation", `${name}: ${message.type} came while ${from}.`);
      if (this.pipelined.length === 0) this.at = to;
      else if (agency[to] === "server") this.pipelined[0] = to;
      else {
        this.pipelined.shift();
        this.at = to;
      }
      return message;
    } catch (error) {
      throw this.fail(asNodeError(error, `${name}: a message cannot be read`));
    }
  }

  /** The state after a message; undefined if the state does not allow it. */
  private after(from: S, message: M): S | undefined {
    const type: M["type"] = message.type;
    return this.protocol.transitions[from][type];
  }

  /** Waits for the next message. Throws the reason when the connection ends, and `aborted` with the signal. */
  async receive(signal?: AbortSignal): Promise<M> {
    for (;;) {
      const message = this.next();
      if (message) return message;
      await this.channel.arrival(signal);
    }
  }
}
