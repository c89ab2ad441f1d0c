/**
 * One protocol's share of a connection: received messages, bytes to be sent, and the callers that wait for either. Both
 * are bounded: too many received bytes end the connection, too many bytes to send make writers wait.
 */
import { type NodeError, nodeError } from "#src/node/errors.ts";
import { Framer } from "#src/node/transport/framing.ts";

/** Bytes to be sent of one protocol above which its writers wait. */
const MAX_OUTGOING = 65_536;
/** Bytes that a queued message counts in addition to its own. */
const MESSAGE_OVERHEAD = 64;

/** Messages up to this many bytes are copied out of the received chunk. */
const SMALL_MESSAGE = 256;

/** Limits of one protocol. */
export interface ChannelLimits {
  /** Bytes of one message. */
  readonly message: number;
  /** Bytes of received messages that wait, each counted with 64 bytes more. */
  readonly ingress: number;
}

/** The connection, as seen by a channel. */
interface ChannelConnection {
  /** Why it has ended; undefined while it is open. */
  readonly failure: NodeError | undefined;
  /** Schedules sending of the channels' bytes. */
  schedule(): void;
}

/** One protocol's share of a connection. */
export class Channel {
  private readonly framer: Framer;
  private inbox: Uint8Array[] = [];
  private taken = 0;
  private held = 0;
  private readers: (() => void)[] = [];
  private outbox: Uint8Array[] = [];
  /** Bytes of `outbox[0]` already sent; bytes to be sent; bytes reserved for the batch that is being written. */
  private sent = 0;
  private waiting = 0;
  private reserved = 0;
  private writers: (() => void)[] = [];

  constructor(
    private readonly mux: ChannelConnection,
    readonly protocol: number,
    private readonly limits: ChannelLimits,
  ) {
    this.framer = new Framer(limits.message);
  }

  /** Bytes of complete messages that wait. */
  get buffered(): number {
    return this.held;
  }

  /** Takes a payload (called by the mux). */
  receive(payload: Uint8Array): void {
    this.framer.push(payload, (message) => {
      // a small message that waits long must not keep a chunk of 64 kB in memory
      this.inbox.push(message.length < SMALL_MESSAGE ? message.slice() : message);
      this.held += message.length + MESSAGE_OVERHEAD;
    });
    if (this.held > this.limits.ingress) {
      throw nodeError("too_large", `The peer sends more on protocol ${this.protocol} than was asked for.`);
    }
    if (this.taken < this.inbox.length) wakeAll(this.readers);
  }

  /** The next received message, if any. Messages received before the connection ended are still given. */
  next(): Uint8Array | undefined {
    const message = this.inbox[this.taken];
    if (message === undefined) return undefined;
    this.inbox[this.taken++] = EMPTY;
    this.held -= message.length + MESSAGE_OVERHEAD;
    if (this.taken === this.inbox.length) {
      this.inbox = [];
      this.taken = 0;
    }
    return message;
  }

  /** Waits for a message. Throws the reason when the connection ends, and `aborted` with the signal. */
  async arrival(signal?: AbortSignal): Promise<void> {
    while (this.taken >= this.inbox.length) await this.wait(this.readers, signal);
  }

  /** Sends bytes, given as parts. */
  send(parts: readonly Uint8Array[]): void {
    for (const part of parts) {
      if (part.length === 0) continue;
      this.outbox.push(part);
      this.waiting += part.length;
    }
    this.mux.schedule();
  }

  /** Whether so much waits to be sent that writers should wait for `room`. */
  get full(): boolean {
    return this.waiting >= MAX_OUTGOING;
  }

  /** Waits until there is room for more bytes. Throws as `arrival` does. */
  async room(signal?: AbortSignal): Promise<void> {
    while (this.full) await this.wait(this.writers, signal);
  }

  /** Reserves up to `most` bytes for the batch that is being written; gives how many. */
  reserve(most: number): number {
    const length = Math.min(most, this.waiting - this.reserved);
    this.reserved += length;
    return length;
  }

  /** Copies reserved bytes into a batch. */
  copy(target: Uint8Array, at: number, length: number): void {
    let done = 0;
    let first = 0;
    for (let part = this.outbox[0]; part && done < length; part = this.outbox[first]) {
      const step = Math.min(part.length - this.sent, length - done);
      target.set(
        this.sent === 0 && step === part.length ? part : part.subarray(this.sent, this.sent + step),
        at + done,
      );
      done += step;
      this.sent += step;
      if (this.sent === part.length) {
        first++;
        this.sent = 0;
      }
    }
    if (first > 0) this.outbox.splice(0, first);
    this.waiting -= length;
    this.reserved -= length;
    if (!this.full && this.writers.length > 0) wakeAll(this.writers);
  }

  /** Wakes all waiting callers. */
  wake(): void {
    this.outbox = [];
    this.waiting = 0;
    this.reserved = 0;
    wakeAll(this.readers);
    wakeAll(this.writers);
  }

  private wait(list: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
    if (this.mux.failure) throw this.mux.failure;
    if (signal?.aborted) throw aborted();
    return new Promise((resolve, reject) => {
      const wake = () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const abort = () => {
        const index = list.indexOf(wake);
        if (index >= 0) list.splice(index, 1);
        signal?.removeEventListener("abort", abort);
        reject(aborted());
      };
      list.push(wake);
      signal?.addEventListener("abort", abort);
    });
  }
}

const EMPTY = new Uint8Array(0);

/** The error of a wait whose signal aborted. */
export function aborted(): NodeError {
  return nodeError("aborted", "The caller gave up waiting.");
}

function wakeAll(list: (() => void)[]): void {
  for (const wake of list.splice(0)) wake();
}
