/** Reads a stream for all its consumers: its state, and pages of messages that they share. */
import { type Log, reason } from "#src/base/log.ts";
import type { ServedStream, SourceState, StoredMessage, StreamSource } from "#src/embedded/nats/jetstream/source.ts";

/** Numbers of a page. */
const PAGE = 1_024;
/** Bytes of messages that stay in memory, with an allowance for each message. */
const MOST_BYTES = 32 * 1024 * 1024;
const OVERHEAD = 256;
/** How long a state that was read is current while nothing watches the stream, in milliseconds. */
const FRESH_MS = 20;

interface Page {
  /** The number up to which it was read. */
  to: number;
  bytes: number;
  readonly messages: StoredMessage[];
}

/** A part of a page: its messages from `at` on, complete up to the number `to`. */
export interface PagePart {
  readonly messages: readonly StoredMessage[];
  readonly at: number;
  readonly to: number;
}

export class StreamReader {
  readonly name: string;
  readonly source: StreamSource;
  state: SourceState = { first: 1, last: 0 };
  /** By its number; the one used last is last. */
  private readonly pages = new Map<number, Page>();
  private bytes = 0;
  private readonly loading = new Map<number, Promise<void>>();
  private refreshing: Promise<SourceState> | undefined;
  private refreshedAt = -Infinity;
  private watched: AbortController | undefined;

  /** `news` is called when the state changed while the stream is watched. */
  constructor(readonly stream: ServedStream, private readonly log: Log, private readonly news: () => void) {
    this.name = stream.name;
    this.source = stream.source;
  }

  /** Watches the stream while it has consumers. */
  watch(wanted: boolean): void {
    if (!wanted) {
      this.watched?.abort();
      this.watched = undefined;
    } else if (this.watched === undefined) {
      this.watched = new AbortController();
      this.source.watch(() => void this.follow(), this.watched.signal);
    }
  }

  private async follow(): Promise<void> {
    try {
      const { first, last } = this.state;
      const state = await this.refresh();
      if (state.last !== last || state.first !== first) this.news();
    } catch (error) {
      this.log.warn("a stream of events could not be read", { stream: this.name, reason: reason(error) });
    }
  }

  /** Reads the state, at or after the time of the call. */
  async refresh(): Promise<SourceState> {
    // A read that runs may have begun before the newest message.
    await this.refreshing?.catch(() => {});
    return await (this.refreshing ??= this.read().finally(() => this.refreshing = undefined));
  }

  /** The state, read shortly before or now. */
  async current(): Promise<SourceState> {
    return performance.now() - this.refreshedAt < FRESH_MS ? this.state : await this.refresh();
  }

  private async read(): Promise<SourceState> {
    const state = await this.source.state();
    this.refreshedAt = performance.now();
    return this.state = state;
  }

  /** Messages from a number on, where they are in memory. */
  part(from: number): PagePart | undefined {
    const number = Math.floor((from - 1) / PAGE);
    const page = this.pages.get(number);
    if (page === undefined || page.to < from) return undefined;
    this.pages.delete(number);
    this.pages.set(number, page);
    let low = 0;
    let high = page.messages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const message = page.messages[middle];
      if (message !== undefined && message.seq < from) low = middle + 1;
      else high = middle;
    }
    return { messages: page.messages, at: low, to: page.to };
  }

  /** Reads the page of a number, up to the state's last one. */
  async load(from: number): Promise<void> {
    const number = Math.floor((from - 1) / PAGE);
    const other = this.loading.get(number);
    if (other !== undefined) return await other;
    const load = this.loadPage(number).finally(() => this.loading.delete(number));
    this.loading.set(number, load);
    await load;
  }

  private async loadPage(number: number): Promise<void> {
    const last = Math.min(this.state.last, (number + 1) * PAGE);
    const known = this.pages.get(number);
    const after = known?.to ?? number * PAGE;
    const messages = last > after ? await this.source.read(after + 1, last, PAGE) : [];
    // It was dropped meanwhile: what was read would have a gap before it.
    if (this.pages.get(number) !== known) return;
    const page = known ?? { to: after, bytes: 0, messages: [] };
    page.to = Math.max(after, last);
    this.pages.set(number, page);
    for (const message of messages) {
      page.messages.push(message);
      const size = message.body.length + OVERHEAD;
      page.bytes += size;
      this.bytes += size;
    }
    for (const [oldest, { bytes }] of this.pages) {
      if (this.bytes <= MOST_BYTES || oldest === number) break;
      this.pages.delete(oldest);
      this.bytes -= bytes;
    }
  }

  /** One message; `undefined` when it is deleted or does not exist yet. */
  async message(seq: number): Promise<StoredMessage | undefined> {
    const part = this.part(seq);
    const held = part?.messages[part.at];
    if (part !== undefined) return held?.seq === seq ? held : undefined;
    const [message] = await this.source.read(seq, Math.min(seq, this.state.last), 1);
    return message?.seq === seq ? message : undefined;
  }
}
