/**
 * What a stream is served from: a log of messages with numbers that only grow.
 *
 * Assumptions: a message never changes, and none is added at or below the number `last` of a state that was read.
 * Messages are deleted from the beginning only; numbers between may be missing.
 */
import { Buffer } from "node:buffer";

/** The numbered part of a log. */
export interface SourceState {
  /** Number of the oldest message; `last + 1` when there is none. */
  readonly first: number;
  /** Number of the newest message; 0 before the first. */
  readonly last: number;
}

/** A message of a log; `body` begins with `headerLength` bytes of headers. */
export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly headerLength: number;
  readonly body: Buffer;
  /** When it was stored, in milliseconds since 1970. */
  readonly storedAt: number;
}

/** The message with its size in a header instead of its body. */
export function withoutBody({ body, headerLength }: StoredMessage): { headerLength: number; body: Buffer } {
  const own = headerLength > 0 ? body.toString("latin1", 0, headerLength - 2) : "NATS/1.0\r\n";
  const headers = Buffer.from(`${own}Nats-Msg-Size: ${body.length - headerLength}\r\n\r\n`, "latin1");
  return { headerLength: headers.length, body: headers };
}

/** Messages that a search found, and the number up to which it searched. */
export interface FoundMessages {
  readonly found: readonly StoredMessage[];
  readonly to: number;
}

/** A log of messages. Filters are subjects with wildcards; a message passes when it matches any of them. */
export interface StreamSource {
  state(): Promise<SourceState>;
  /** At most `limit` messages from a number on, up to `last`. */
  read(from: number, last: number, limit: number): Promise<readonly StoredMessage[]>;
  /** Searches a part of the log, from a number on, for at most `limit` messages that pass. */
  find(from: number, last: number, filters: readonly string[], limit: number): Promise<FoundMessages>;
  /** The number of messages that pass. */
  count(from: number, last: number, filters: readonly string[]): Promise<number>;
  /** The newest message from `first` to `last` that passes. */
  last(first: number, last: number, filters: readonly string[]): Promise<StoredMessage | undefined>;
  /** The numbers of the newest message of each subject that passes; `undefined` when there are more than `most`. */
  lastOfEach(first: number, last: number, filters: readonly string[], most: number): Promise<number[] | undefined>;
  /** The lowest number, up to `last`, of a message stored at a time or later; `last + 1` when there is none. */
  numberAt(at: number, last: number): Promise<number>;
  /** Calls a function when there may be more messages, until the signal aborts. */
  watch(changed: () => void, signal: AbortSignal): void;
}

/** A stream that clients may read. */
export interface ServedStream {
  readonly name: string;
  /** The subject of all its messages, with a wildcard at the end. */
  readonly subject: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether guests may read it too. */
  readonly forGuests: boolean;
  /** Whether numbers between the first and the last message may be missing. */
  readonly hasGaps: boolean;
  /** Since when it exists, and how long messages stay in it, in milliseconds. */
  readonly created: number;
  readonly maxAgeMs: number;
  readonly source: StreamSource;
}
