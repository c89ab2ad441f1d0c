/**
 * Parser of the client's half of the core NATS protocol, for a stream that may be cut anywhere.
 *
 * Assumptions: the bytes are hostile. Between two reads at most one control line and one payload are stored, each
 * within its limit, in buffers that grow with the data received and not with the announced size; bytes of the stream
 * are never retained, but for those that arrive during a `hold`. Subjects are latin1 text, one character per byte, so
 * that any bytes are passed on unchanged.
 */
import { Buffer } from "node:buffer";

/** Operations of a client. */
export interface ParserOperations {
  connect(json: string): void;
  ping(): void;
  pong(): void;
  subscribe(subject: string, queue: string, sid: string): void;
  /** `max` 0 means "at once". */
  unsubscribe(sid: string, max: number): void;
  /** Whether a payload of some length is needed; called before it is read. */
  accepts(subject: string, length: number): boolean;
  /** `body` (first `headerLength` bytes of headers) is valid only during the call, and empty if it was not accepted. */
  publish(subject: string, reply: string, headerLength: number, body: Buffer): void;
  /** The stream cannot be parsed further; nothing is read after this. */
  broken(reason: ProtocolError): void;
}

/** A NATS server's message for a stream that it gives up on. */
type ProtocolError =
  | "Unknown Protocol Operation"
  | "Parser Error"
  | "Maximum Control Line Exceeded"
  | "Maximum Payload Violation";

export interface ParserLimits {
  /** Longest control line in bytes, including its end. */
  readonly maxControlLine: number;
  /** Longest payload in bytes, including headers. */
  readonly maxPayload: number;
}

interface AnnouncedPayload {
  readonly subject: string;
  readonly reply: string;
  readonly headerLength: number;
  readonly length: number;
  readonly accepted: boolean;
}

const LF = 10;
const CR = 13;
const EMPTY = Buffer.alloc(0);
const BLANKS = /[ \t]+/;

/** A count in ASCII digits; undefined for anything else, and for numbers beyond any limit. */
function count(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** Parses one client's stream. */
export class NatsParser {
  /** The start of an incomplete line or payload: the first `held` bytes. */
  private kept: Buffer = EMPTY;
  private held = 0;
  /** The announced payload. */
  private announced: AnnouncedPayload | undefined;
  /** Remaining bytes of a payload that is skipped. */
  private skipping = 0;
  private stopped = false;
  /** The bytes after a `hold`. */
  private later: Buffer | undefined;

  constructor(private readonly limits: ParserLimits, private readonly operations: ParserOperations) {}

  /** Parses more bytes; the caller may reuse them afterwards. */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.stopped) {
      if (this.later) {
        this.later = Buffer.concat([this.later, chunk.subarray(at)]);
        return;
      }
      at = this.announced ? this.payload(this.announced, chunk, at) : this.line(chunk, at);
    }
  }

  /** Bytes that it has for what is incomplete. */
  get stored(): number {
    return this.kept.length;
  }

  /** Parses nothing more until `resume`; the caller sees to it that not many bytes arrive in the meantime. */
  hold(): void {
    this.later ??= EMPTY;
  }

  /** Parses what has arrived since `hold`, and continues. */
  resume(): void {
    const { later } = this;
    this.later = undefined;
    if (later) this.read(later);
  }

  /** Stops parsing permanently. */
  stop(): void {
    this.stopped = true;
    this.later = undefined;
    this.kept = EMPTY;
    this.announced = undefined;
  }

  private fail(reason: ProtocolError): void {
    this.stop();
    this.operations.broken(reason);
  }

  private keep(bytes: Buffer, limit: number): void {
    const needed = this.held + bytes.length;
    if (this.kept.length < needed) {
      const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(needed, 2 * this.kept.length, 64)));
      this.kept.copy(larger, 0, 0, this.held);
      this.kept = larger;
    }
    bytes.copy(this.kept, this.held);
    this.held = needed;
  }

  /** The stored bytes joined with the rest; nothing is stored afterwards. */
  private take(rest: Buffer, limit: number): Buffer {
    if (this.held === 0) return rest;
    this.keep(rest, limit);
    const whole = this.kept.subarray(0, this.held);
    this.held = 0;
    // the buffer of a long payload is not kept for the next control line
    if (this.kept.length > this.limits.maxControlLine) this.kept = EMPTY;
    return whole;
  }

  private line(chunk: Buffer, from: number): number {
    const { maxControlLine } = this.limits;
    const end = chunk.indexOf(LF, from);
    const until = end < 0 ? chunk.length : end + 1;
    if (this.held + until - from > maxControlLine) {
      this.fail("Maximum Control Line Exceeded");
      return until;
    }
    if (end < 0) {
      this.keep(chunk.subarray(from), maxControlLine);
      return until;
    }
    const bytes = this.take(chunk.subarray(from, until), maxControlLine);
    const text = bytes.toString("latin1", 0, bytes.length - (bytes[bytes.length - 2] === CR ? 2 : 1));
    this.control(text, bytes);
    return until;
  }

  private payload(announced: AnnouncedPayload, chunk: Buffer, from: number): number {
    // the payload and its line end
    const size = announced.length + 2;
    const missing = announced.accepted ? size - this.held : this.skipping;
    const until = Math.min(chunk.length, from + missing);
    if (!announced.accepted) {
      this.skipping -= until - from;
      if (this.skipping === 0) this.deliver(announced, EMPTY);
    } else if (until - from < missing) this.keep(chunk.subarray(from, until), size);
    else {
      const whole = this.take(chunk.subarray(from, until), size);
      if (whole[size - 2] !== CR || whole[size - 1] !== LF) this.fail("Parser Error");
      else this.deliver(announced, whole.subarray(0, announced.length));
    }
    return until;
  }

  private deliver(announced: AnnouncedPayload, body: Buffer): void {
    this.announced = undefined;
    this.operations.publish(announced.subject, announced.reply, body.length ? announced.headerLength : 0, body);
  }

  private announce(words: string[], withHeaders: boolean): void {
    // PUB subject [reply] size; HPUB subject [reply] header-size total-size
    const sizes = withHeaders ? 2 : 1;
    const subject = words[1];
    const length = count(words.at(-1));
    const headerLength = withHeaders ? count(words.at(-2)) : 0;
    const named = words.length - 1 - sizes;
    if (
      !subject || named < 1 || named > 2 || length === undefined || headerLength === undefined || headerLength > length
    ) {
      return this.fail("Parser Error");
    }
    if (length > this.limits.maxPayload) return this.fail("Maximum Payload Violation");
    const accepted = this.operations.accepts(subject, length);
    if (this.stopped) return;
    this.announced = { subject, reply: named === 2 ? words[2] ?? "" : "", headerLength, length, accepted };
    this.skipping = accepted ? 0 : length + 2;
  }

  private control(text: string, bytes: Buffer): void {
    const words = text.split(BLANKS);
    if (words.at(-1) === "") words.pop();
    const { operations } = this;
    const [operation, first = "", second = "", third = ""] = words;
    switch (operation?.toUpperCase()) {
      case undefined:
        return;
      case "PUB":
        return this.announce(words, false);
      case "HPUB":
        return this.announce(words, true);
      case "SUB":
        if (words.length === 3) return operations.subscribe(first, "", second);
        if (words.length === 4) return operations.subscribe(first, second, third);
        return this.fail("Parser Error");
      case "UNSUB": {
        const max = words.length === 2 ? 0 : count(second);
        if (words.length < 2 || words.length > 3 || max === undefined) return this.fail("Parser Error");
        return operations.unsubscribe(first, max);
      }
      case "PING":
        return operations.ping();
      case "PONG":
        return operations.pong();
      case "CONNECT":
        // JSON is UTF-8, unlike the rest of the line.
        return operations.connect(bytes.toString("utf8", "CONNECT".length));
      // "+OK" and "-ERR" are a server's messages, which a relay may echo
      case "+OK":
        return;
      default:
        return this.fail("Unknown Protocol Operation");
    }
  }
}
