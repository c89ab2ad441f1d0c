/** CBOR of Plutus data as the ledger reads and writes it, without recursion and with constructors of any 64-bit number. */
import { joined } from "#src/base/bytes.ts";
import { bigNumber, head } from "#src/cardano/cbor.ts";
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";
import { Built, DataKind, kindOf, type MachineData, partsArray, tagOf } from "#src/plutus/machine/data.ts";
import { Failure } from "#src/plutus/machine/failure.ts";
import { toInt } from "#src/plutus/machine/integer.ts";
import { listOf } from "#src/plutus/machine/list.ts";

/** Most bytes of a piece of a byte string. */
const PIECE = 64;
const BREAK = 0xff;
const WORD64 = 1n << 64n;

function malformed(message: string): never {
  throw new Failure("decoding", `data: ${message}`);
}

interface Frame {
  readonly kind: 0 | 1 | 2;
  readonly tag: bigint;
  readonly parts: MachineData[];
  /** Parts still to come; undefined until a break. */
  readonly count: number | undefined;
  /** Whether the array around a constructor's number and fields ends with a break. */
  readonly outerBreak: boolean;
}

/**
 * Data out of the CBOR item that some bytes begin with; bytes after it are ignored, as the ledger's decoder of constants does.
 *
 * @throws Failure of kind `decoding`.
 */
export function decodeMachineData(bytes: Uint8Array): MachineData {
  return new Decoder(bytes).data();
}

class Decoder {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  data(): MachineData {
    const open: Frame[] = [];
    for (;;) {
      const top = open.at(-1);
      let value: MachineData | undefined;
      if (top !== undefined && this.ends(top)) {
        open.pop();
        value = built(top);
      } else value = this.item(open);
      if (value === undefined) continue;
      const parent = open.at(-1);
      if (parent === undefined) return value;
      parent.parts.push(value);
    }
  }

  private ends(frame: Frame): boolean {
    if (frame.count === undefined) {
      if (this.bytes[this.at] !== BREAK) return false;
      if (frame.kind === DataKind.MAP && frame.parts.length % 2 === 1) malformed("a key without a value");
      this.at++;
    } else if (frame.parts.length < frame.count) return false;
    if (frame.outerBreak && this.byte() !== BREAK) malformed("no break after a constructor");
    return true;
  }

  /** Reads an item; one with parts is put onto `open` and has no value yet. */
  private item(open: Frame[]): MachineData | undefined {
    const initial = this.byte();
    const [major, info] = [initial >> 5, initial & 31];
    switch (major) {
      case 0:
        return this.argument(info);
      case 1:
        return -1n - this.argument(info);
      case 2:
        return this.pieces(info);
      case 4:
        open.push({ kind: DataKind.LIST, tag: 0n, parts: [], count: this.count(info), outerBreak: false });
        return undefined;
      case 5: {
        const count = this.count(info);
        open.push({
          kind: DataKind.MAP,
          tag: 0n,
          parts: [],
          count: count === undefined ? undefined : 2 * count,
          outerBreak: false,
        });
        return undefined;
      }
      case 6:
        if (initial === 0xc2 || initial === 0xc3) {
          const next = this.byte();
          if (next >> 5 !== 2) malformed("a big number without bytes");
          return bigNumber(initial === 0xc3, this.pieces(next & 31));
        }
        open.push(this.constructor_(this.argument(info)));
        return undefined;
      default:
        return malformed(`a ${major === 3 ? "text" : "simple value"}`);
    }
  }

  private constructor_(tag: bigint): Frame {
    if (tag === 102n) {
      const outer = this.byte();
      const count = outer >> 5 === 4 ? this.count(outer & 31) : -1;
      if (count !== undefined && count !== 2) malformed("a constructor that is no pair");
      const number = this.byte();
      if (number >> 5 !== 0) malformed("a constructor's number that is no unsigned integer");
      return this.fields(this.argument(number & 31), count === undefined);
    }
    if (tag >= 121n && tag <= 127n) return this.fields(tag - 121n, false);
    if (tag >= 1280n && tag <= 1400n) return this.fields(tag - 1280n + 7n, false);
    return malformed(`tag ${tag} is no constructor`);
  }

  private fields(tag: bigint, outerBreak: boolean): Frame {
    const initial = this.byte();
    if (initial >> 5 !== 4) malformed("a constructor without a list of fields");
    return { kind: DataKind.CONSTR, tag, parts: [], count: this.count(initial & 31), outerBreak };
  }

  private byte(): number {
    const byte = this.bytes[this.at++];
    return byte ?? malformed("truncated");
  }

  private argument(info: number): bigint {
    if (info < 24) return BigInt(info);
    if (info > 27) malformed("reserved additional information");
    let value = 0n;
    for (let left = 1 << (info - 24); left > 0; left--) value = (value << 8n) | BigInt(this.byte());
    return value;
  }

  /** Number of parts; undefined for an item that ends with a break. */
  private count(info: number): number | undefined {
    if (info === 31) return undefined;
    const count = this.argument(info);
    if (count > BigInt(this.bytes.length - this.at)) malformed("truncated");
    return Number(count);
  }

  private pieces(info: number): Uint8Array {
    if (info !== 31) return this.piece(info);
    const parts: Uint8Array[] = [];
    for (let initial = this.byte(); initial !== BREAK; initial = this.byte()) {
      if (initial >> 5 !== 2) malformed("a piece of another type");
      parts.push(this.piece(initial & 31));
    }
    return joined(parts);
  }

  private piece(info: number): Uint8Array {
    const length = Number(this.argument(info));
    if (length > PIECE) malformed("a piece of more than 64 bytes");
    const end = this.at + length;
    if (end > this.bytes.length) malformed("truncated");
    const piece = this.bytes.subarray(this.at, end);
    this.at = end;
    return piece;
  }
}

function built({ kind, tag, parts }: Frame): MachineData {
  // what is read has no parts that a script built, except constructors with great numbers
  if (kind === DataKind.LIST) return parts as readonly Data[];
  if (kind === DataKind.MAP) {
    const entries: (readonly [Data, Data])[] = [];
    for (let i = 0; i < parts.length; i += 2) entries.push([parts[i] as Data, parts[i + 1] as Data]);
    return new DataMap(entries);
  }
  const number = toInt(tag);
  return typeof number === "number"
    ? new Constr(number, parts as readonly Data[])
    : new Built(DataKind.CONSTR, number, listOf(parts));
}

/** Bytes that grow. */
class Writer {
  private buffer = new Uint8Array(256);
  private length = 0;

  byte(byte: number): void {
    this.room(1);
    this.buffer[this.length++] = byte;
  }

  bytes(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  head(major: number, argument: number | bigint): void {
    if (argument < 24) this.byte((major << 5) | Number(argument));
    else this.bytes(head(major, argument));
  }

  whole(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }

  private room(count: number): void {
    if (this.length + count <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(2 * this.buffer.length, this.length + count));
    grown.set(this.buffer);
    this.buffer = grown;
  }
}

/** CBOR of data, byte for byte as the ledger's `serialiseData` writes it. */
export function encodeMachineData(data: MachineData): Uint8Array {
  const out = new Writer();
  const todo: (MachineData | typeof END)[] = [data];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (next === END) out.byte(BREAK);
    else write(out, next, todo);
  }
  return out.whole();
}

/** Stands for a break among what is still to be written. */
const END: unique symbol = Symbol("end of a list");

function write(out: Writer, data: MachineData, todo: (MachineData | typeof END)[]): void {
  switch (kindOf(data)) {
    case DataKind.INTEGER:
      return writeInteger(out, BigInt(data as number | bigint));
    case DataKind.BYTES:
      return writeBytes(out, data as Uint8Array);
    case DataKind.LIST:
      return writeList(out, partsArray(data), todo);
    case DataKind.MAP: {
      const entries = partsArray(data) as readonly (readonly [MachineData, MachineData])[];
      out.head(5, entries.length);
      for (let i = entries.length - 1; i >= 0; i--) todo.push(entries[i]![1], entries[i]![0]);
      return;
    }
    case DataKind.CONSTR: {
      const tag = BigInt(tagOf(data));
      if (tag >= 0n && tag < 7n) out.head(6, 121n + tag);
      else if (tag >= 7n && tag < 128n) out.head(6, 1280n + tag - 7n);
      else {
        out.head(6, 102);
        out.head(4, 2);
        writeInteger(out, tag);
      }
      return writeList(out, partsArray(data), todo);
    }
  }
}

function writeList(out: Writer, parts: readonly unknown[], todo: (MachineData | typeof END)[]): void {
  if (parts.length === 0) return out.byte(0x80);
  out.byte(0x9f);
  todo.push(END);
  for (let i = parts.length - 1; i >= 0; i--) todo.push(parts[i] as MachineData);
}

function writeInteger(out: Writer, value: bigint): void {
  const magnitude = value < 0n ? -1n - value : value;
  if (magnitude < WORD64) return out.head(value < 0n ? 1 : 0, magnitude);
  const digits = magnitude.toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  const bytes = new Uint8Array(even.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(even.slice(2 * i, 2 * i + 2), 16);
  out.byte(value < 0n ? 0xc3 : 0xc2);
  writeBytes(out, bytes);
}

function writeBytes(out: Writer, bytes: Uint8Array): void {
  if (bytes.length <= PIECE) {
    out.head(2, bytes.length);
    return out.bytes(bytes);
  }
  out.byte(0x5f);
  for (let i = 0; i < bytes.length; i += PIECE) {
    const piece = bytes.subarray(i, i + PIECE);
    out.head(2, piece.length);
    out.bytes(piece);
  }
  out.byte(BREAK);
}
