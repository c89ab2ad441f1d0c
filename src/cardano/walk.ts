/**
 * A cursor over CBOR that decodes only the items that the caller reads.
 *
 * There are two CBOR readers because blocks need another one than single items do. `decode` (cbor.ts) builds an object for
 * every item; but most of a block is signatures, scripts and metadata that no projection reads. A walk holds a position in
 * the bytes, reads the items that the caller needs, and skips the others without allocating.
 *
 * Every method throws `CborError` if the bytes are truncated or not the expected item, and takes time proportional to the
 * bytes it passes.
 */
import { fromUtf8, joined, toHex } from "#src/base/bytes.ts";
import { bigNumber, CborError } from "#src/cardano/cbor.ts";

/** Number of elements of an array or map that ends with a break. */
const INDEFINITE = -1;
/** What `skip` expects inside an open container of indefinite length: any element, a map's key, a map's value. */
const ELEMENT = -1;
const KEY = -2;
const VALUE = -3;

const BREAK = 0xff;
const NULL = 0xf6;

/** Major types of CBOR (RFC 8949 §3.1). */
export const major = { uint: 0, nint: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

const NAMES = Object.keys(major);

export class Walk {
  /** Where the next item begins. */
  at: number;

  constructor(readonly source: Uint8Array, start = 0) {
    this.at = start;
  }

  /** Major type of the next item. */
  get major(): number {
    return this.peek() >> 5;
  }

  /** Throws unless the walk has come to the end of its bytes. */
  end(): void {
    if (this.at !== this.source.length) throw new CborError(`${this.source.length - this.at} bytes after the item`);
  }

  /** Opens an array: the number of its elements, or -1 when a break ends it; `more` says when it is over. */
  array(): number {
    return this.open(major.array, "array");
  }

  /** Opens a map: the number of its entries, or -1 when a break ends it. */
  map(): number {
    return this.open(major.map, "map");
  }

  /** Opens an array, or a set under tag 258. */
  set(): number {
    if (this.major === major.tag && this.tag() !== 258) throw new CborError("expected array, found tag");
    return this.array();
  }

  /** Whether an open array or map, of `count` as it was opened, continues after `read` elements or entries; steps over its break. */
  more(read: number, count: number): boolean {
    if (count !== INDEFINITE) return read < count;
    if (this.peek() !== BREAK) return true;
    this.at++;
    return false;
  }

  /** Opens an array of `least` to `most` elements and says how many it has, whether it ends with a break or not. */
  tuple(what: string, least: number, most = least): number {
    const count = this.array();
    const length = count === INDEFINITE ? this.ahead() : count;
    if (length < least || length > most) throw new CborError(`${what} has ${length} elements`);
    return length;
  }

  /** Reads an array of `least` to `most` elements with `read`, which takes all of them; `length` says how many there are. */
  within<T>(what: string, least: number, most: number, read: (length: number) => T): T {
    const start = this.at;
    const value = read(this.tuple(what, least, most));
    this.close(start);
    return value;
  }

  /** Reads each of the elements or entries of what `array`, `map` or `set` opened with this count. */
  each<T>(count: number, read: (walk: this) => T): T[] {
    const found: T[] = [];
    for (let i = 0; this.more(i, count); i++) found.push(read(this));
    return found;
  }

  /** Closes an array that `tuple` opened at `start`, after its last element was read. */
  close(start: number): void {
    if (this.source[start] !== 0x9f) return;
    if (this.peek() !== BREAK) throw new CborError("expected the end of an array");
    this.at++;
  }

  /** Steps over a tag and says which it was. */
  tag(): number {
    if (this.major !== major.tag) throw this.wrong("tag");
    return this.head();
  }

  /** Steps over `null` where it comes next, and says whether it did. */
  nil(): boolean {
    if (this.peek() !== NULL) return false;
    this.at++;
    return true;
  }

  /** A boolean. */
  bool(): boolean {
    const initial = this.peek();
    if (initial !== 0xf4 && initial !== 0xf5) throw this.wrong("bool");
    this.at++;
    return initial === 0xf5;
  }

  /** An integer of 0 or more as a number; one past 2^53 - 1 comes out as 2^53 - 1. */
  uint(): number {
    if (this.major !== major.uint) throw this.wrong("unsigned int");
    return Math.min(this.head(), Number.MAX_SAFE_INTEGER);
  }

  /** Any integer, exactly; big numbers (tags 2 and 3) included. */
  int(): bigint {
    const initial = this.peek();
    const type = initial >> 5;
    if (type === major.tag) return this.big();
    if (type > major.nint) throw this.wrong("int");
    const start = this.at;
    const argument = this.head();
    const value = argument <= Number.MAX_SAFE_INTEGER
      ? BigInt(argument)
      : (BigInt(this.word(start + 1)) << 32n) | BigInt(this.word(start + 5));
    return type === major.uint ? value : -1n - value;
  }

  /** Bytes, as a view of the source where they stand in one piece. */
  bytes(): Uint8Array {
    return this.string(major.bytes, "bytes");
  }

  /** Bytes in hexadecimal. */
  hex(): string {
    return toHex(this.bytes());
  }

  /** A text. */
  text(): string {
    const text = fromUtf8(this.string(major.text, "text"));
    if (text === undefined) throw new CborError("text is not UTF-8");
    return text;
  }

  /** CBOR within CBOR: tag 24 around bytes. */
  embedded(): Uint8Array {
    if (this.tag() !== 24) throw new CborError("no embedded CBOR");
    return this.bytes();
  }

  /** Steps over the next item and gives its own bytes. */
  raw(): Uint8Array {
    const start = this.at;
    this.skip();
    return this.source.subarray(start, this.at);
  }

  /**
   * Steps over the next item, however deeply it is nested. What is inside must be well-formed, texts are not checked for UTF-8.
   * Without `chunks` its strings must be of definite length.
   */
  skip(chunks = true): void {
    const { length } = this.source;
    // what the containers around are still to have, from the outside in; `left` is that of the innermost
    const open: number[] = [];
    let left = 1;
    for (;;) {
      const start = this.at;
      const initial = this.byte(start);
      if (initial === BREAK) {
        if (left !== ELEMENT && left !== KEY) throw new CborError("unexpected break");
        this.at = start + 1;
        left = 0;
      } else {
        if (left > 0) left--;
        else if (left === KEY) left = VALUE;
        else if (left === VALUE) left = KEY;
        const type = initial >> 5;
        if (initial < 0x18) this.at = start + 1;
        else if (type === major.simple) this.simple();
        else if ((initial & 31) === 31) {
          if (type === major.bytes || type === major.text) {
            if (!chunks) throw new CborError("a string of indefinite length");
            this.string(type, "string");
          } else if (type === major.array || type === major.map) {
            this.at = start + 1;
            open.push(left);
            left = type === major.array ? ELEMENT : KEY;
            continue;
          } else throw new CborError("reserved additional information");
        } else {
          const argument = this.head();
          if (type === major.bytes || type === major.text) this.advance(argument);
          else if (type >= major.array) {
            const inside = type === major.array ? argument : type === major.map ? 2 * argument : 1;
            if (inside > length - this.at) throw truncated();
            open.push(left);
            left = inside;
          }
        }
      }
      while (left === 0) {
        const outer = open.pop();
        if (outer === undefined) return;
        left = outer;
      }
    }
  }

  private peek(): number {
    return this.byte(this.at);
  }

  private byte(at: number): number {
    const byte = this.source[at];
    if (byte === undefined) throw truncated();
    return byte;
  }

  private wrong(expected: string): CborError {
    return new CborError(`expected ${expected}, found ${NAMES[this.major]}`);
  }

  private open(type: number, name: string): number {
    const initial = this.peek();
    if (initial >> 5 !== type) throw this.wrong(name);
    if ((initial & 31) === 31) {
      this.at++;
      return INDEFINITE;
    }
    const count = this.head();
    if (count > this.source.length - this.at) throw truncated();
    return count;
  }

  /** Elements until the break of the array just opened; the walk stays where it is. */
  private ahead(): number {
    const start = this.at;
    let count = 0;
    for (; this.peek() !== BREAK; count++) this.skip();
    this.at = start;
    return count;
  }

  /** Steps over an initial byte and its argument, which it gives: exact up to 2^53. */
  private head(): number {
    const { at } = this;
    const info = this.byte(at) & 31;
    if (info < 24) {
      this.at = at + 1;
      return info;
    }
    if (info > 27) throw new CborError("reserved additional information");
    const end = at + 1 + (1 << (info - 24));
    if (end > this.source.length) throw truncated();
    this.at = end;
    if (info === 24) return this.byte(at + 1);
    if (info === 25) return (this.byte(at + 1) << 8) | this.byte(at + 2);
    return info === 26 ? this.word(at + 1) : this.word(at + 1) * 2 ** 32 + this.word(at + 5);
  }

  private word(at: number): number {
    const upper = (this.byte(at) << 24) | (this.byte(at + 1) << 16);
    return (upper | (this.byte(at + 2) << 8) | this.byte(at + 3)) >>> 0;
  }

  private big(): bigint {
    const tag = this.tag();
    if (tag !== 2 && tag !== 3) throw new CborError("expected int, found tag");
    return bigNumber(tag === 3, this.bytes());
  }

  private advance(length: number): void {
    if (length > this.source.length - this.at) throw truncated();
    this.at += length;
  }

  private string(type: number, name: string): Uint8Array {
    const initial = this.peek();
    if (initial >> 5 !== type) throw this.wrong(name);
    if ((initial & 31) === 31) return this.chunks(type);
    const length = this.head();
    const start = this.at;
    this.advance(length);
    return this.source.subarray(start, this.at);
  }

  private chunks(type: number): Uint8Array {
    this.at++;
    const parts: Uint8Array[] = [];
    while (this.peek() !== BREAK) {
      const initial = this.peek();
      if (initial >> 5 !== type || (initial & 31) === 31) throw new CborError("chunk of another type");
      parts.push(this.string(type, "chunk"));
    }
    this.at++;
    return joined(parts);
  }

  private simple(): void {
    const info = this.peek() & 31;
    if (info > 27) throw new CborError("reserved additional information");
    this.at++;
    if (info > 23) this.advance(1 << (info - 24));
  }
}

function truncated(): CborError {
  return new CborError("truncated");
}
