/**
 * One protocol's share of a connection: messages that came in and nobody has taken yet, bytes that are to be sent, and who waits for
 * either. What waits is bounded: incoming messages by a limit that ends the connection, outgoing bytes by having writers wait.
 */
import { type NodeError, nodeError } from "#src/node/errors.ts";
import { Framer } from "#src/node/transport/framing.ts";

/** Bytes of one protocol that wait to be sent before its writers wait too. */
const EGRESS = 65_536;
/** What a queued message counts beside its bytes. */
const OVERHEAD = 64;

/** Bytes of a message that is copied out of what it came in. */
const SMALL = 256;

/** What is taken of one protocol. */
export interface Limits {
  /** Bytes of one message. */
  readonly message: number;
  /** Bytes of messages that have come in and nobody has taken yet, each counted with 64 bytes more. */
  readonly ingress: number;
}

/** The connection, as a channel sees it. */
export interface Carrier {
  /** Why it has ended, or undefined while it stands. */
  readonly failure: NodeError | undefined;
  /** Has what channels hold sent soon. */
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
  /** Bytes of `outbox[0]` that are sent already; bytes to be sent; bytes of those that the batch being written has claimed. */
  private sent = 0;
  private waiting = 0;
  private reserved = 0;
  private writers: (() => void)[] = [];

  constructor(private readonly mux: Carrier, readonly protocol: number, private readonly limits: Limits) {
    this.framer = new Framer(limits.message);
  }

  /** Bytes of whole messages that nobody has taken yet. */
  get buffered(): number {
    return this.held;
  }

  /** Takes a piece's payload (the mux's side). */
  receive(payload: Uint8Array): void {
    this.framer.push(payload, (message) => {
      // a few bytes that wait long are not to keep the 64 kB that they came in
      this.inbox.push(message.length < SMALL ? message.slice() : message);
      this.held += message.length + OVERHEAD;
    });
    if (this.held > this.limits.ingress) {
      throw nodeError("too_large", `The peer sends more on protocol ${this.protocol} than was asked for.`);
    }
    if (this.taken < this.inbox.length) wakeAll(this.readers);
  }

  /** The next message, where one has come in. What came in before the connection ended is still given. */
  next(): Uint8Array | undefined {
    const message = this.inbox[this.taken];
    if (message === undefined) return undefined;
    this.inbox[this.taken++] = EMPTY;
    this.held -= message.length + OVERHEAD;
    if (this.taken === this.inbox.length) {
      this.inbox = [];
      this.taken = 0;
    }
    return message;
  }

  /** Waits until a message has come in. Throws the reason when the connection ends, and `aborted` with the signal. */
  async arrival(signal?: AbortSignal): Promise<void> {
    while (this.taken >= this.inbox.length) await this.wait(this.readers, signal);
  }

  /** Sends bytes, given in parts. */
  send(parts: readonly Uint8Array[]): void {
    for (const part of parts) {
      if (part.length === 0) continue;
      this.outbox.push(part);
      this.waiting += part.length;
    }
    this.mux.schedule();
  }

  /** Whether so much waits to be sent that a writer should wait for `room`. */
  get full(): boolean {
    return this.waiting >= EGRESS;
  }

  /** Waits until less waits to be sent. Throws as `arrival` does. */
  async room(signal?: AbortSignal): Promise<void> {
    while (this.full) await this.wait(this.writers, signal);
  }

  /** Claims up to `most` bytes for the batch being written, and says how many. */
  reserve(most: number): number {
    const length = Math.min(most, this.waiting - this.reserved);
    this.reserved += length;
    return length;
  }

  /** Moves claimed bytes into a batch. */
  copy(target: Uint8Array, at: number, length: number): void {
    let done = 0;
    let first = 0;
    while (done < length) {
      const part = this.outbox[first]!;
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

  /** Has all who wait look again. */
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

/** What a wait throws when its signal aborts. */
export function aborted(): NodeError {
  return nodeError("aborted", "The caller gave up waiting.");
}

function wakeAll(list: (() => void)[]): void {
  for (const wake of list.splice(0)) wake();
}
