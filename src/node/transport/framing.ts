/**
 * Splits a stream into messages: finds the ends of CBOR items, however the stream was cut, reading no byte twice.
 *
 * Assumptions: a message is one well-formed item. Most bytes are in strings, which are skipped. The decoder checks what
 * an item means.
 */
import { concat } from "#src/base/bytes.ts";
import { nodeError } from "#src/node/errors.ts";

/** Deepest nesting of a message, as in the decoder. */
const MAX_DEPTH = 256;
/** As a count: the container ends with a break. */
const UNTIL_BREAK = -1;

const EMPTY = new Uint8Array(0);

/** Splits one protocol's stream. */
export class Framer {
  /**
   * The first `held` bytes: the current message as far as it was received. Copied, because a slice keeps its whole
   * chunk in memory.
   */
  private buffer = EMPTY;
  private held = 0;
  /** Items still missing in each open container, outermost first. */
  private readonly open: number[] = [];
  /** Bytes of a string still to skip. */
  private skip = 0;
  /** Bytes of a head's argument still missing, the head's first byte, and the argument so far. */
  private argumentLeft = 0;
  private initial = 0;
  private argument = 0;

  /** `limit`: bytes of a message at most. */
  constructor(private readonly limit: number) {}

  /** Bytes of an incomplete message. */
  get pending(): number {
    return this.held;
  }

  /**
   * Takes a chunk of the stream and passes each message that ends in it to `take`: as a slice if the chunk holds it
   * completely, else as a copy.
   *
   * @throws NodeError for a message over the limit (as soon as its size is announced), nesting over 256, or bytes that
   *   are not CBOR
   */
  push(chunk: Uint8Array, take: (message: Uint8Array) => void): void {
    const end = chunk.length;
    let from = 0;
    let at = 0;
    while (at < end) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, end - at);
        at += step;
        this.skip -= step;
        if (this.skip > 0) break;
      } else if (this.argumentLeft > 0) {
        // `at < end`; a check of each head's bytes would slow down every message
        this.argument = this.argument * 256 + chunk[at++]!;
        if (--this.argumentLeft > 0) continue;
        if (!this.onHead()) continue;
      } else {
        const initial = chunk[at++]!;
        if (!this.head(initial)) continue;
      }
      // an item has ended; its container may have ended with it
      if (this.skip > 0) {
        if (this.held + (at - from) + this.skip > this.limit) this.tooLarge();
        continue;
      }
      if (!this.close()) continue;
      const rest = chunk.subarray(from, at);
      if (this.held + rest.length > this.limit) this.tooLarge();
      const message = this.held === 0 ? rest : this.complete(rest);
      from = at;
      take(message);
    }
    if (from < end) {
      if (this.held + (end - from) > this.limit) this.tooLarge();
      this.append(from === 0 ? chunk : chunk.subarray(from));
    }
  }

  /**
   * Appends to the current message; the buffer doubles, so a byte is copied two or three times however small the parts
   * are.
   */
  private append(part: Uint8Array): void {
    const length = this.held + part.length;
    if (length > this.buffer.length) {
      const larger = new Uint8Array(Math.min(this.limit, Math.max(length, 2 * this.buffer.length)));
      larger.set(this.buffer.subarray(0, this.held));
      this.buffer = larger;
    }
    this.buffer.set(part, this.held);
    this.held = length;
  }

  /** The message that ends with this part. */
  private complete(rest: Uint8Array): Uint8Array {
    const message = concat(this.buffer.subarray(0, this.held), rest);
    this.buffer = EMPTY;
    this.held = 0;
    return message;
  }

  /** Reads a head's first byte. True if the item may have ended, or is a string to skip. */
  private head(initial: number): boolean {
    const info = initial & 31;
    if (initial === 0xff) {
      if (this.open.pop() !== UNTIL_BREAK) {
        throw nodeError("protocol_violation", "A break stands where no item is open.");
      }
      return true;
    }
    this.initial = initial;
    if (info < 24) {
      this.argument = info;
      return this.onHead();
    }
    if (info < 28) {
      this.argument = 0;
      this.argumentLeft = 1 << (info - 24);
      return false;
    }
    const major = initial >> 5;
    if (info !== 31 || major < 2 || major > 5) {
      throw nodeError("protocol_violation", `The byte ${initial} begins no CBOR item.`);
    }
    this.enter(UNTIL_BREAK);
    return false;
  }

  /** Handles a complete head. True if the item has ended or only its string is left; false if items follow. */
  private onHead(): boolean {
    const major = this.initial >> 5;
    switch (major) {
      case 2:
      case 3:
        if (this.argument > this.limit) this.tooLarge();
        this.skip = this.argument;
        return true;
      case 4:
      case 5:
        if (this.argument === 0) return true;
        this.enter(major === 4 ? this.argument : 2 * this.argument);
        return false;
      case 6:
        this.enter(1);
        return false;
      default:
        return true;
    }
  }

  private enter(count: number): void {
    if (this.open.length >= MAX_DEPTH) throw nodeError("protocol_violation", "A message is nested too deeply.");
    // each item takes at least one byte
    if (count > this.limit * 2) this.tooLarge();
    this.open.push(count);
  }

  /** Counts an ended item in its container. True if it was the outermost. */
  private close(): boolean {
    for (let left = this.open.pop(); left !== undefined; left = this.open.pop()) {
      if (left !== UNTIL_BREAK && left <= 1) continue;
      this.open.push(left === UNTIL_BREAK ? left : left - 1);
      return false;
    }
    return true;
  }

  private tooLarge(): never {
    throw nodeError("too_large", `A message is longer than the limit of ${this.limit} bytes.`);
  }
}
