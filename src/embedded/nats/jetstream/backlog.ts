/**
 * The messages that a consumer is still to deliver for the first time: those that pass its filters, counted and read
 * ahead.
 *
 * Assumption: numbers only grow, so what is counted up to a number stays counted. In a stream with gaps the messages are
 * counted whatever the filters are.
 */
import { type ConsumerConfig, filtersOf } from "#src/embedded/nats/jetstream/config.ts";
import type { StreamReader } from "#src/embedded/nats/jetstream/reader.ts";
import type { StoredMessage } from "#src/embedded/nats/jetstream/source.ts";
import type { Gate } from "#src/embedded/nats/jetstream/turns.ts";
import { overlap } from "#src/embedded/nats/subjects.ts";

/** Messages found at a time for a consumer with filters. */
const FOUND = 256;
/** A consumer with filters reads the shared pages when it is so near to the end of the stream. */
const NEAR = 2_048;

export class Backlog {
  private subjects: readonly string[] = [];
  private filters: readonly (readonly string[])[] = [];
  /** Messages read ahead: those of `ahead` from `aheadAt` on, complete up to the number `aheadTo`. */
  private ahead: readonly StoredMessage[] = [];
  private aheadAt = 0;
  private aheadTo = 0;
  /** With filters: how many messages from the next one up to `countedTo` pass. */
  private matching = 0;
  private countedTo = 0;
  private beforeAt = 0;

  /** `before`: numbers of messages to deliver before all others. */
  constructor(
    private readonly reader: StreamReader,
    private readonly gate: Gate,
    private readonly before: readonly number[],
  ) {}

  /** Takes a configuration's filters; the consumer has delivered what is below `next`. */
  filter(config: ConsumerConfig, next: number): void {
    const { stream } = this.reader;
    const filters = filtersOf(config);
    const all = filters.length === 0 || filters.some((filter) => filter === stream.subject || filter === ">");
    this.subjects = all ? stream.hasGaps ? [stream.subject] : [] : filters;
    this.filters = this.subjects.map((filter) => filter.split("."));
    this.hold([], this.aheadAt, 0);
    this.matching = 0;
    this.beginAt(next);
  }

  /** Counts from a number on. */
  beginAt(next: number): void {
    this.countedTo = next - 1;
  }

  /** The number of a message to deliver before those from some number on, if one is left. */
  get first(): number | undefined {
    return this.before[this.beforeAt];
  }

  /** The message of the number `first` is delivered, or deleted. */
  skipFirst(): void {
    this.beforeAt++;
  }

  /** The number of messages; of those behind the first ones, the ones from `next` on. */
  size(next: number): number {
    const { first, last } = this.reader.state;
    const rest = this.filters.length > 0 ? this.matching : Math.max(0, last - Math.max(next, first) + 1);
    return rest + Math.max(0, this.before.length - this.beforeAt);
  }

  /** The number of messages after one that `next` gave. */
  after(seq: number): number {
    return Math.max(0, this.filters.length > 0 ? this.matching - 1 : this.reader.state.last - seq);
  }

  /** With filters: counts messages that were added since the last count. */
  async count(): Promise<void> {
    const { first, last } = this.reader.state;
    const before = this.countedTo;
    if (this.filters.length === 0 || before >= last) return;
    const from = Math.max(before + 1, first);
    await this.gate.run(async () => {
      const more = last - from < NEAR
        ? await this.countNear(from, last)
        : await this.reader.source.count(from, last, this.subjects);
      // Another count may have ended meanwhile.
      if (this.countedTo !== before) return;
      this.matching += more;
      this.countedTo = last;
    });
  }

  private async countNear(from: number, last: number): Promise<number> {
    let count = 0;
    for (let at = from; at <= last;) {
      await this.reader.load(at);
      const part = this.reader.part(at);
      if (part === undefined) continue;
      for (let i = part.at; i < part.messages.length; i++) {
        const message = part.messages[i];
        if (message !== undefined && message.seq <= last && this.passes(message)) count++;
      }
      at = part.to + 1;
    }
    return count;
  }

  private passes({ subject }: StoredMessage): boolean {
    if (this.filters.length === 0) return true;
    const tokens = subject.split(".");
    return this.filters.some((filter) => overlap(filter, tokens));
  }

  /** Reads messages from a number on. */
  async load(seq: number): Promise<void> {
    const { reader, gate } = this;
    await this.count();
    const last = this.limit;
    if (seq > last) return;
    const part = reader.part(seq);
    if (part !== undefined) {
      this.hold(part.messages, part.at, part.to);
      return this.loadNext(part.to + 1, last);
    }
    await gate.run(async () => {
      if (this.filters.length === 0 || last - seq < NEAR) return await reader.load(seq);
      const { found, to } = await reader.source.find(seq, last, this.subjects, FOUND);
      this.hold(found, 0, to);
    });
    const loaded = reader.part(seq);
    if (this.aheadTo >= seq || loaded === undefined) return;
    this.hold(loaded.messages, loaded.at, loaded.to);
    this.loadNext(loaded.to + 1, last);
  }

  /** Has the next page read while one is sent. */
  private loadNext(from: number, last: number): void {
    const { reader, gate } = this;
    // A failure shows when the page is needed.
    if (from <= last && reader.part(from) === undefined) void gate.run(() => reader.load(from)).catch(() => {});
  }

  private hold(messages: readonly StoredMessage[], at: number, to: number): void {
    this.ahead = messages;
    this.aheadAt = at;
    this.aheadTo = to;
  }

  /** The number up to which messages may be delivered. */
  private get limit(): number {
    const { last } = this.reader.state;
    return this.filters.length === 0 ? last : Math.min(last, this.countedTo);
  }

  /**
   * The next message from a number on that was read; otherwise the number from which to read, or none at the end of
   * the stream. `next` is the number from which it goes on.
   */
  next(from: number): { readonly message?: StoredMessage; readonly load?: number; readonly next: number } {
    const { first, last } = this.reader.state;
    let next = from;
    if (next < first) {
      // Messages were deleted that it has not delivered.
      next = first;
      this.matching = 0;
      this.beginAt(first);
    }
    const { limit } = this;
    for (let message = this.ahead[this.aheadAt]; message !== undefined; message = this.ahead[++this.aheadAt]) {
      if (message.seq > limit) break;
      if (message.seq < next || !this.passes(message)) continue;
      if (message.seq > this.aheadTo) this.aheadTo = message.seq;
      return { message, next };
    }
    const load = Math.max(next, Math.min(this.aheadTo, limit) + 1);
    next = Math.max(next, Math.min(load, limit + 1));
    if (load <= last) return { load, next };
    // Something that was counted can be unreadable.
    this.matching = 0;
    return { next };
  }

  /** The message that `next` gave last is delivered. */
  delivered(): void {
    this.aheadAt++;
    this.matching = Math.max(0, this.matching - 1);
  }
}
