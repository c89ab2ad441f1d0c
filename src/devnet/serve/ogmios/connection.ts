/**
 * A WebSocket connection.
 *
 * A client that does not read its answers, or that sends faster than it is answered, is not read from either until that
 * has changed: what the server holds for a connection is bounded. Frames are text or binary; no ping is sent.
 */
import type { RawData, WebSocket } from "ws";
import { LOST_REASON } from "#src/devnet/serve/ogmios/envelope.ts";
import type { Session, Transport } from "#src/devnet/serve/ogmios/session.ts";

/** Bytes of answers that a client has not received, above which it gets no further ones. */
const MOST_UNSENT = 1_048_576;
/** Bytes of requests without an answer, above which no further ones are read. */
const MOST_WAITING = 8_388_608;

/** A client. */
export class Connection implements Transport {
  readonly #session: Session;
  /** Resolves the waits for room. */
  #wake: (() => void) | undefined;
  #room: Promise<void> | undefined;

  constructor(private readonly socket: WebSocket, open: (transport: Transport) => Session) {
    this.#session = open(this);
    socket.on("message", (data) => {
      this.#session.receive(textOf(data));
      this.#balance();
    });
    socket.on("close", () => this.#ended());
    // reported as a close as well: the peer broke the protocol, or is gone
    socket.on("error", () => {});
  }

  send(text: string): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(text, this.#sent);
  }

  room(): Promise<void> | undefined {
    if (this.socket.bufferedAmount <= MOST_UNSENT || this.socket.readyState !== this.socket.OPEN) return undefined;
    return this.#room ??= new Promise((resolve) => this.#wake = resolve);
  }

  answered(): void {
    this.#balance();
  }

  end(reason: string): void {
    this.#session.close();
    this.#release();
    // what a paused socket has received would hold up the peer's answer
    this.socket.resume();
    this.socket.close(1_000, reason);
  }

  /** Ends the connection because the devnet stops. */
  lose(): void {
    this.end(LOST_REASON);
  }

  /** Drops the connection. */
  drop(): void {
    this.socket.terminate();
  }

  readonly #sent = () => this.#balance();

  /** Reads on or stops reading, and lets answers wait or go. */
  #balance(): void {
    const { socket } = this;
    const isFull = socket.bufferedAmount > MOST_UNSENT;
    if (!isFull) this.#release();
    const pause = isFull || this.#session.waiting > MOST_WAITING;
    if (pause !== socket.isPaused) pause ? socket.pause() : socket.resume();
  }

  #release(): void {
    this.#wake?.();
    this.#wake = this.#room = undefined;
  }

  #ended(): void {
    this.#session.close();
    this.#release();
  }
}

/** The text of a message, which `ws` gives as one buffer. */
function textOf(data: RawData): string {
  return data instanceof Buffer ? data.toString() : "";
}
