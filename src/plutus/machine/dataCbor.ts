/**
 * CBOR of Plutus data as the ledger reads and writes it, without recursion. Reading is `walkData`. Writing is separate: data
 * that scripts build has the machine's lists as parts, and constructor numbers that may exceed 64 bits.
 */
import { fromHex } from "#src/base/bytes.ts";
import { CborError, head } from "#src/cardano/cbor.ts";
import { walkData } from "#src/cardano/data.ts";
import { Walk } from "#src/cardano/walk.ts";
import { DataKind, entriesOf, itemsOf, kindOf, type MachineData, tagOf } from "#src/plutus/machine/data.ts";
import { Failure } from "#src/plutus/machine/failure.ts";

/** Most bytes of a chunk of a byte string. */
const PIECE = 64;
const BREAK = 0xff;
const WORD64 = 1n << 64n;

/**
 * Reads data from the first CBOR item; bytes after it are ignored, as in the ledger's decoder of constants.
 *
 * @throws {Failure} of kind `decoding`.
 */
export function decodeMachineData(bytes: Uint8Array): MachineData {
  try {
    return walkData(new Walk(bytes));
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw new Failure("decoding", `data: ${error.message}`);
  }
}

/** A growing byte buffer. */
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

/** Marks, in the list of remaining work, where a list's break byte is written. */
const END: unique symbol = Symbol("end of a list");

function write(out: Writer, data: MachineData, todo: (MachineData | typeof END)[]): void {
  if (typeof data === "number" || typeof data === "bigint") return writeInteger(out, BigInt(data));
  if (data instanceof Uint8Array) return writeBytes(out, data);
  switch (kindOf(data)) {
    case DataKind.LIST:
      return writeList(out, itemsOf(data), todo);
    case DataKind.MAP: {
      const entries = entriesOf(data);
      out.head(5, entries.length);
      for (const [key, value] of entries.toReversed()) todo.push(value, key);
      return;
    }
    case DataKind.CONSTR: {
      const tag = BigInt(tagOf(data));
      if (tag >= 0n && tag < 7n) out.head(6, 121n + tag);
      else if (tag >= 7n && tag < 128n) out.head(6, 1280n + tag - 7n);
      else {
        out.head(6, 102);
        out.head(4, 2);
        // before protocol version 11 scripts could make numbers beyond 64 bits, which cannot be read back
        writeInteger(out, tag, writePiece);
      }
      return writeList(out, itemsOf(data), todo);
    }
  }
}

function writeList(out: Writer, items: readonly MachineData[], todo: (MachineData | typeof END)[]): void {
  if (items.length === 0) return out.byte(0x80);
  out.byte(0x9f);
  todo.push(END);
  for (const item of items.toReversed()) todo.push(item);
}

function writeInteger(out: Writer, value: bigint, write = writeBytes): void {
  const magnitude = value < 0n ? -1n - value : value;
  if (magnitude < WORD64) return out.head(value < 0n ? 1 : 0, magnitude);
  const digits = magnitude.toString(16);
  out.byte(value < 0n ? 0xc3 : 0xc2);
  write(out, fromHex(digits.padStart(digits.length + digits.length % 2, "0")));
}

function writePiece(out: Writer, bytes: Uint8Array): void {
  out.head(2, bytes.length);
  out.bytes(bytes);
}

function writeBytes(out: Writer, bytes: Uint8Array): void {
  if (bytes.length <= PIECE) return writePiece(out, bytes);
  out.byte(0x5f);
  for (let i = 0; i < bytes.length; i += PIECE) writePiece(out, bytes.subarray(i, i + PIECE));
  out.byte(BREAK);
}
