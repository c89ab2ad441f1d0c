/**
 * Outgoing data of a client: what is sent at one moment becomes one write, and what waits is bounded.
 *
 * Assumption: a guest is only sent events that it has room for (`hasRoom`), so what else waits for it are answers.
 */
import type { Socket } from "node:net";
import { Confirmations } from "#src/embedded/nats/confirmations.ts";
import type { EndpointStats, PublishedMessage } from "#src/embedded/nats/hub.ts";
import type { EndpointLimits } from "#src/embedded/nats/limits.ts";
import { OutputBuffer } from "#src/embedded/nats/outputBuffer.ts";

interface OutgoingOptions {
  readonly socket: Socket;
  readonly limits: EndpointLimits;
  readonly stats: EndpointStats;
  /** Whether the client is a guest now. */
  readonly isGuest: () => boolean;
  /** Called when more waits than may. */
  readonly tooSlow: () => void;
}

export class Outgoing {
  private readonly output = new OutputBuffer();
  private flushing = false;
  /** What a guest has read of the events that it was sent. */
  private readonly confirmations = new Confirmations();
  /** Called when there may be room for more messages of the service. */
  private readonly waiting = new Set<() => void>();
  private stalled: number | undefined;

  constructor(private readonly options: OutgoingOptions) {
    options.socket.on("drain", () => {
      this.stalled = undefined;
      this.roomAgain();
    });
  }

  /** Since when data waits that the client does not read; undefined while it reads. */
  get stalledSince(): number | undefined {
    return this.stalled;
  }

  /** Bytes that wait for the client to read. */
  get pending(): number {
    return this.output.length + this.options.socket.writableLength;
  }

  /** The number of PINGs without an answer. */
  get unanswered(): number {
    return this.confirmations.unanswered;
  }

  /** Sends text, one byte per character. */
  text(text: string): void {
    this.output.text(text);
    this.gathered();
  }

  /** Sends text, such as an error, before the connection ends. */
  last(text: string): void {
    this.output.text(text);
    this.flush();
  }

  /** Sends a message to a subscription; `withHeaders`: whether the client takes headers. */
  message(sid: string, { subject, reply, headerLength, body }: PublishedMessage, withHeaders: boolean): void {
    const before = this.output.length;
    const to = reply ? `${subject} ${sid} ${reply}` : `${subject} ${sid}`;
    const sent = withHeaders ? body : body.subarray(headerLength);
    this.output.text(
      headerLength > 0 && withHeaders
        ? `HMSG ${to} ${headerLength} ${sent.length}\r\n`
        : `MSG ${to} ${sent.length}\r\n`,
    );
    this.output.raw(sent);
    this.output.text("\r\n");
    if (this.options.isGuest()) this.confirmations.add(this.output.length - before);
  }

  /** Has what was sent written, once the current work is done. */
  gathered(): void {
    const { limits: { pending, guestWindow }, isGuest, tooSlow } = this.options;
    const over = isGuest() ? this.pending - this.confirmations.open > guestWindow : this.pending > pending;
    if (over) return tooSlow();
    if (this.flushing) return;
    this.flushing = true;
    queueMicrotask(() => this.flush());
  }

  /** Writes what was sent to the socket. */
  flush(): void {
    const { socket, stats, isGuest } = this.options;
    this.flushing = false;
    if (this.output.length === 0 || socket.destroyed || socket.writableEnded) return;
    stats.bytesOut += this.output.length;
    if (!socket.write(this.output.take())) this.stalled ??= performance.now();
    else if (!isGuest()) this.roomAgain();
  }

  /** Drops what was not written. */
  drop(): void {
    this.output.take();
  }

  ping(): void {
    this.confirmations.pinged();
    this.text("PING\r\n");
  }

  /** Takes a PONG; whether a guest has room again that had none. */
  pong(): boolean {
    if (!this.confirmations.answered()) return false;
    this.stalled = undefined;
    return true;
  }

  /** Whether a guest may be sent an event; if not, it may be once it has answered a PING after earlier ones. */
  hasRoom(): boolean {
    const { guestWindow } = this.options.limits;
    if (this.confirmations.sincePing >= guestWindow / 2) this.ping();
    if (this.confirmations.open < guestWindow) return true;
    this.stalled ??= performance.now();
    return false;
  }

  /** Whether the endpoint's service may send another message; if not, `whenRoom` is called when that may have changed. */
  takes(whenRoom: () => void): boolean {
    const { limits, isGuest } = this.options;
    if (isGuest() ? this.hasRoom() : this.pending < limits.serviceWindow) return true;
    this.waiting.add(whenRoom);
    return false;
  }

  /** Has those look again that wait for room. */
  roomAgain(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const whenRoom of waiting) whenRoom();
  }
}
