/**
 * Messages out of a stream: cuts CBOR items where they end, however the stream was cut, without looking at a byte twice.
 *
 * Hypotheses: a message is one well-formed item; strings are most of the bytes and are stepped over, not read; whether an item makes
 * sense is for its decoder to say.
 */
import { concat } from "#src/base/bytes.ts";
import { nodeError } from "#src/node/errors.ts";

/** Deepest nesting of a message: as deep as the decoder goes. */
const MAX_DEPTH = 256;
/** In place of a count: the container ends with a break. */
const UNTIL_BREAK = -1;

const NOTHING = new Uint8Array(0);

/** Cuts one protocol's messages. */
export class Framer {
  /** The current message as far as it came in earlier chunks: the first `held` bytes. Copied, since a chunk of one byte keeps what it was cut from. */
  private buffer = NOTHING;
  private held = 0;
  /** Items still to come in each open container, outermost first. */
  private readonly open: number[] = [];
  /** Bytes of a string still to be stepped over. */
  private skip = 0;
  /** Bytes of a head's argument still to be read, the head's first byte, and what was read of the argument. */
  private argumentLeft = 0;
  private initial = 0;
  private argument = 0;

  /** `limit`: bytes of the longest message taken. */
  constructor(private readonly limit: number) {}

  /** Bytes held of a message that is not whole yet. */
  get pending(): number {
    return this.held;
  }

  /**
   * Takes a piece of the stream and hands each message that ends in it to `take`: a slice of the piece where the message lies in it
   * whole, else a copy. Throws a `NodeError`: on a message over the limit (as soon as its size is announced), nesting over 256,
   * or bytes that begin no item.
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
        this.argument = this.argument * 256 + chunk[at++]!;
        if (--this.argumentLeft > 0) continue;
        if (!this.begun()) continue;
      } else {
        const initial = chunk[at++]!;
        if (!this.head(initial)) continue;
      }
      // an item has ended; so may have what holds it
      if (this.skip > 0) {
        if (this.held + (at - from) + this.skip > this.limit) this.tooLarge();
        continue;
      }
      if (!this.close()) continue;
      const rest = chunk.subarray(from, at);
      if (this.held + rest.length > this.limit) this.tooLarge();
      const message = this.held === 0 ? rest : this.whole(rest);
      from = at;
      take(message);
    }
    if (from < end) {
      if (this.held + (end - from) > this.limit) this.tooLarge();
      this.keep(from === 0 ? chunk : chunk.subarray(from));
    }
  }

  /** Keeps a part of the current message; the buffer doubles, so that a byte is copied twice or thrice however small the parts are. */
  private keep(part: Uint8Array): void {
    const length = this.held + part.length;
    if (length > this.buffer.length) {
      const larger = new Uint8Array(Math.min(this.limit, Math.max(length, 2 * this.buffer.length)));
      larger.set(this.buffer.subarray(0, this.held));
      this.buffer = larger;
    }
    this.buffer.set(part, this.held);
    this.held = length;
  }

  /** The message that ends with a part. */
  private whole(rest: Uint8Array): Uint8Array {
    const message = concat(this.buffer.subarray(0, this.held), rest);
    this.buffer = NOTHING;
    this.held = 0;
    return message;
  }

  /** Reads a head's first byte. True when its item may have ended, or is a string to be stepped over. */
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
      return this.begun();
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

  /** The head is whole. True when the item has ended or only its string is left; false when items must follow. */
  private begun(): boolean {
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
    // an item for each is a byte at least
    if (count > this.limit * 2) this.tooLarge();
    this.open.push(count);
  }

  /** Counts the ended item off what holds it. True when that was the outermost. */
  private close(): boolean {
    const { open } = this;
    for (let last = open.length - 1; last >= 0; last--) {
      const left = open[last]!;
      if (left === UNTIL_BREAK) return false;
      if (left > 1) {
        open[last] = left - 1;
        return false;
      }
      open.pop();
    }
    return true;
  }

  private tooLarge(): never {
    throw nodeError("too_large", `A message is longer than the ${this.limit} bytes that are taken.`);
  }
}
