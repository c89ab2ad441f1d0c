/**
 * The multiplexer: the mini-protocols of a connection share its byte stream in segments (SDUs) of
 *
 *     4 bytes time in µs | 2 bytes protocol, highest bit set by the responder | 2 bytes length | payload (big-endian)
 *
 * Assumptions: the time is not read. Segment boundaries mean nothing to a protocol. A slow reader only stops its own
 * writers: each protocol has its own queue, and segments of different protocols alternate. An error of one protocol
 * ends the connection with one reason for all callers.
 */
import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import { Channel, type ChannelLimits } from "#src/node/transport/channel.ts";
import { asNodeError, type NodeError, nodeError } from "#src/node/errors.ts";

/** Payload bytes of a sent segment, as with a node; up to 65,535 are accepted. */
const SENT_SDU = 12_288;
const HEADER_BYTES = 8;
/** Bytes of one write to the socket. */
const WRITE_BYTES = 65_536;

/** The side of the connection: the client is the initiator. */
export type ConnectionSide = "client" | "server";

/** One connection's mux. */
export class Mux {
  private readonly channels = new Map<number, Channel>();
  private readonly turns: Channel[] = [];
  private readonly header = new Uint8Array(HEADER_BYTES);
  private headerHeld = 0;
  private payloadLeft = 0;
  private current: Channel | undefined;
  private scheduled = false;
  private blocked = false;
  private ending: NodeError | undefined;
  private finished = false;
  private reason: NodeError | undefined;
  private readonly controller = new AbortController();

  constructor(private readonly socket: Socket, readonly side: ConnectionSide) {
    // any number of callers may wait for the end
    setMaxListeners(0, this.controller.signal);
    // plain arrays: slices of a Buffer are Buffers, whose own `slice` does not copy
    socket.on(
      "data",
      (chunk: Uint8Array) => this.take(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
    );
    socket.on("drain", () => {
      this.blocked = false;
      this.flush();
    });
    socket.on(
      "error",
      (error: Error) => this.fail(nodeError("connection_lost", `The connection broke: ${error.message}.`)),
    );
    socket.on("end", () => this.fail(nodeError("connection_lost", "The peer closed the connection.")));
    socket.on("close", () => this.fail(nodeError("connection_lost", "The connection was closed.")));
  }

  /** Why the connection has ended; undefined while it is open. */
  get failure(): NodeError | undefined {
    return this.reason;
  }

  /** Aborts when the connection has ended. */
  get ended(): AbortSignal {
    return this.controller.signal;
  }

  /** Opens a protocol's channel. Data of a protocol without a channel ends the connection. */
  channel(protocol: number, limits: ChannelLimits): Channel {
    const channel = new Channel(this, protocol, limits);
    this.channels.set(protocol, channel);
    this.turns.push(channel);
    return channel;
  }

  /** Ends the connection with a reason for all waiting callers. The first reason counts, and is returned. */
  fail(reason: NodeError): NodeError {
    if (this.reason) return this.reason;
    this.reason = reason;
    this.socket.destroy();
    for (const channel of this.turns) channel.wake();
    this.controller.abort(reason);
    return reason;
  }

  /** Ends the connection once everything sent was passed to the operating system. */
  end(reason: NodeError): void {
    if (this.reason || this.ending) return;
    this.ending = reason;
    this.flush();
    // a peer that does not read must not keep the connection open for long
    const late = setTimeout(() => this.fail(reason), 1_000);
    this.ended.addEventListener("abort", () => clearTimeout(late));
  }

  private take(chunk: Uint8Array): void {
    if (this.reason) return;
    try {
      this.cut(chunk);
    } catch (error) {
      this.fail(asNodeError(error, "The received data cannot be decoded"));
    }
  }

  private cut(chunk: Uint8Array): void {
    const end = chunk.length;
    let at = 0;
    while (at < end) {
      if (this.current && this.payloadLeft > 0) {
        const step = Math.min(this.payloadLeft, end - at);
        this.current.receive(at === 0 && step === end ? chunk : chunk.subarray(at, at + step));
        if (this.reason) return;
        at += step;
        this.payloadLeft -= step;
      } else if (this.headerHeld === 0 && end - at >= HEADER_BYTES) {
        this.begin(chunk, at);
        at += HEADER_BYTES;
      } else {
        const part = chunk.subarray(at, at + HEADER_BYTES - this.headerHeld);
        this.header.set(part, this.headerHeld);
        this.headerHeld += part.length;
        at += part.length;
        if (this.headerHeld === HEADER_BYTES) {
          this.headerHeld = 0;
          this.begin(this.header, 0);
        }
      }
    }
  }

  private begin(bytes: Uint8Array, at: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES);
    const protocol = view.getUint16(4);
    const length = view.getUint16(6);
    const ours = protocol & 0x7fff;
    if ((protocol & 0x8000 ? "server" : "client") === this.side) {
      throw nodeError("protocol_violation", `A piece of protocol ${ours} came with the wrong direction.`);
    }
    if (length === 0) throw nodeError("protocol_violation", "A piece has no payload.");
    this.current = this.channels.get(ours);
    if (!this.current) throw nodeError("protocol_violation", `Nothing here speaks protocol ${ours}.`);
    this.payloadLeft = length;
  }

  /** Schedules sending at the end of this turn of the event loop: what is sent in one turn goes in one write. */
  schedule(): void {
    if (this.scheduled || this.blocked || this.reason) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  private finish(): void {
    const reason = this.ending;
    if (!reason || this.finished) return;
    this.finished = true;
    this.socket.end(() => this.fail(reason));
  }

  private flush(): void {
    while (!this.blocked && !this.reason && !this.finished) {
      const pieces: [Channel, number][] = [];
      let size = 0;
      for (let more = true; more && size < WRITE_BYTES;) {
        more = false;
        for (const channel of this.turns) {
          const length = channel.reserve(SENT_SDU);
          if (length === 0) continue;
          pieces.push([channel, length]);
          size += HEADER_BYTES + length;
          more = true;
        }
      }
      if (size === 0) return this.finish();
      const buffer = new Uint8Array(size);
      const time = Math.floor(performance.now() * 1000) >>> 0;
      const view = new DataView(buffer.buffer);
      let at = 0;
      for (const [channel, length] of pieces) {
        view.setUint32(at, time);
        view.setUint16(at + 4, channel.protocol | (this.side === "server" ? 0x8000 : 0));
        view.setUint16(at + 6, length);
        at += HEADER_BYTES;
        channel.copy(buffer, at, length);
        at += length;
      }
      if (!this.socket.write(buffer)) this.blocked = true;
    }
  }
}
