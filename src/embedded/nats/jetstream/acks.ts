/** Acknowledgements of a consumer's messages: which are open, since when, and which must be delivered again. */
import type { ConsumerConfig } from "#src/embedded/nats/jetstream/config.ts";

/** Nanoseconds, of which a configuration's durations are. */
const MILLISECOND = 1e6;

/** An open message. */
export interface OpenMessage {
  /** Its number in the consumer, at its first delivery. */
  readonly dseq: number;
  /** When it was delivered, in milliseconds since 1970; later than that after progress or a delay. */
  at: number;
}

/** Numbers of a consumer's progress, which a durable one stores. */
export interface AckState {
  readonly sseq: number;
  readonly dseq: number;
  readonly ackedStream: number;
  readonly ackedConsumer: number;
  /** Number in the stream, number in the consumer, time and deliveries of each open message. */
  readonly open: readonly (readonly [number, number, number, number])[];
}

/** Policies of a consumer, in milliseconds. */
export interface AckPolicy {
  readonly policy: "none" | "all" | "explicit";
  readonly waitMs: number;
  readonly backoffMs: readonly number[];
  /** At most so many deliveries; -1 for any number. */
  readonly maxDeliver: number;
}

/** The policies that a consumer's configuration sets. */
export function ackPolicyOf(
  { ack_policy: policy, ack_wait = 0, backoff = [], max_deliver = -1 }: ConsumerConfig,
): AckPolicy {
  return {
    policy,
    waitMs: ack_wait / MILLISECOND,
    backoffMs: backoff.map((wait) => wait / MILLISECOND),
    maxDeliver: max_deliver,
  };
}

export class Acks {
  /** The next number in the stream, and in the consumer. */
  sseq: number;
  dseq = 1;
  ackedStream: number;
  ackedConsumer = 0;
  readonly open = new Map<number, OpenMessage>();
  /** Deliveries after the first one, by number in the stream. */
  private readonly repeats = new Map<number, number>();
  private again: number[] = [];
  private readonly queued = new Set<number>();
  /** When open messages must be checked, by the clock of `OpenMessage.at`. */
  checkAt = Infinity;

  constructor(public rules: AckPolicy, first: number) {
    this.sseq = first;
    this.ackedStream = first - 1;
  }

  get redelivered(): number {
    return this.repeats.size;
  }

  get toRepeat(): number {
    return this.again.length;
  }

  /** As a durable consumer stores it. */
  state(): AckState {
    const { sseq, dseq, ackedStream, ackedConsumer } = this;
    const open = [...this.open].map(([seq, { dseq, at }]) => [seq, dseq, at, this.repeats.get(seq) ?? 0] as const);
    return { sseq, dseq, ackedStream, ackedConsumer, open };
  }

  restore(state: AckState): void {
    this.sseq = state.sseq;
    this.dseq = state.dseq;
    this.ackedStream = state.ackedStream;
    this.ackedConsumer = state.ackedConsumer;
    for (const [seq, dseq, at, repeats] of state.open) {
      this.open.set(seq, { dseq, at });
      if (repeats > 0) this.repeats.set(seq, repeats);
    }
    if (this.open.size > 0) this.checkAt = 0;
  }

  /** The next message to deliver again, with the number of that delivery. */
  nextRepeat(): { readonly seq: number; readonly delivery: number } | undefined {
    for (let seq = this.again[0]; seq !== undefined; seq = this.again[0]) {
      const delivery = (this.repeats.get(seq) ?? 0) + 2;
      const { maxDeliver } = this.rules;
      if (this.open.has(seq) && (maxDeliver <= 0 || delivery <= maxDeliver)) return { seq, delivery };
      if (this.open.has(seq)) this.close(seq);
      this.unqueue(seq);
    }
    return undefined;
  }

  /** Records a delivery. */
  delivered(seq: number, delivery: number, now: number): void {
    const dseq = this.dseq++;
    if (delivery > 1) {
      this.repeats.set(seq, delivery - 1);
      this.unqueue(seq);
    }
    if (this.rules.policy === "none") {
      this.ackedConsumer = dseq;
      this.ackedStream = seq;
      return;
    }
    const open = this.open.get(seq);
    if (open === undefined) this.open.set(seq, { dseq, at: now });
    else open.at = now;
    this.checkAt = Math.min(this.checkAt, now + this.deadline(delivery - 1));
  }

  /** Milliseconds until a message that was repeated so many times is delivered again. */
  private deadline(repeats: number): number {
    const { backoffMs, waitMs } = this.rules;
    return backoffMs.length === 0 ? waitMs : backoffMs[Math.min(repeats, backoffMs.length - 1)] ?? waitMs;
  }

  /** Acknowledges a message, or with the policy `all` also those before it. */
  ack(seq: number, dseq: number): void {
    if (this.rules.policy === "explicit") this.ackOne(seq);
    else if (this.rules.policy === "all" && dseq > this.ackedConsumer && seq > this.ackedStream) {
      if (dseq >= this.dseq || seq >= this.sseq) return;
      this.ackedConsumer = dseq;
      this.ackedStream = seq;
      for (const one of [...this.open.keys()]) if (one <= seq) this.settle(one);
    }
  }

  private ackOne(seq: number): void {
    const open = this.open.get(seq);
    this.settle(seq);
    if (open === undefined) return;
    if (this.open.size === 0) this.raiseFloor();
    else if (open.dseq === this.ackedConsumer + 1) {
      this.ackedConsumer = open.dseq;
      this.ackedStream = seq;
      let lowest: number | undefined;
      for (const other of this.open.keys()) if (other > seq && (lowest === undefined || other < lowest)) lowest = other;
      const next = lowest === undefined ? undefined : this.open.get(lowest);
      if (lowest !== undefined && next !== undefined) {
        this.ackedConsumer = next.dseq - 1;
        this.ackedStream = lowest - 1;
      }
    }
  }

  private raiseFloor(): void {
    this.ackedConsumer = this.dseq - 1;
    this.ackedStream = this.sseq - 1;
  }

  private settle(seq: number): void {
    this.close(seq);
    this.repeats.delete(seq);
  }

  private close(seq: number): void {
    this.open.delete(seq);
    this.unqueue(seq);
  }

  private unqueue(seq: number): void {
    if (!this.queued.delete(seq)) return;
    if (this.again[0] === seq) this.again.shift();
    else this.again = this.again.filter((other) => other !== seq);
  }

  /** Has a message delivered again, now or after a delay. */
  nak(seq: number, dseq: number, delayMs: number | undefined, now: number): void {
    const open = this.open.get(seq);
    if (open === undefined || dseq <= this.ackedConsumer || dseq >= this.dseq) return;
    if (delayMs === undefined) return this.queue(seq);
    this.unqueue(seq);
    open.at = now - this.rules.waitMs + delayMs;
    this.checkAt = now;
  }

  private queue(seq: number): void {
    if (this.queued.has(seq)) return;
    this.queued.add(seq);
    this.again.push(seq);
  }

  /** Extends the time for the acknowledgement of a message. */
  progress(seq: number, now: number): void {
    const open = this.open.get(seq);
    if (open !== undefined) open.at = now;
  }

  /** Queues the open messages whose time is over, and forgets those that the stream, from `first` on, has no more. */
  check(now: number, first: number): void {
    if (now < this.checkAt) return;
    let next = Infinity;
    const late: number[] = [];
    for (const [seq, open] of this.open) {
      if (seq < first || seq <= this.ackedStream) {
        this.settle(seq);
        this.ackedStream = Math.max(this.ackedStream, seq);
        this.ackedConsumer = Math.max(this.ackedConsumer, open.dseq);
        continue;
      }
      if (this.queued.has(seq)) continue;
      const repeats = this.repeats.get(seq) ?? 0;
      const due = open.at + this.deadline(repeats);
      if (due > now) next = Math.min(next, due);
      else if (this.rules.maxDeliver > 0 && repeats + 1 >= this.rules.maxDeliver) {
        this.close(seq);
        this.repeats.set(seq, Math.max(1, repeats));
      } else late.push(seq);
    }
    for (const seq of late.sort((a, b) => a - b)) this.queue(seq);
    this.checkAt = next;
    if (this.open.size === 0) this.raiseFloor();
  }
}
