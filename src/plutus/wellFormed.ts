/**
 * Whether bytes are a Plutus program: the check that the ledger makes of scripts before they may enter the chain (`MalformedScriptWitnesses`,
 * `MalformedReferenceScripts`). It reads the flat encoding through and judges version, builtins and constants; it neither builds
 * the term nor looks whether variables are bound, which `isClosed` does: the ledger checks that in phase 2. No machine is loaded.
 */
import { fromUtf8 } from "#src/base/bytes.ts";
import { as, CborError, decodeAt } from "#src/cardano/cbor.ts";
import { decodeData } from "#src/cardano/data.ts";

/** Builtins (by their tag in the encoding) that a language has from a major protocol version on; later languages have them too. */
const BUILTINS: readonly {
  readonly language: number;
  readonly major: number;
  readonly first: number;
  readonly last: number;
}[] = [
  { language: 1, major: 5, first: 0, last: 50 },
  { language: 2, major: 7, first: 51, last: 51 },
  { language: 2, major: 8, first: 52, last: 53 },
  { language: 3, major: 9, first: 54, last: 74 },
  { language: 2, major: 10, first: 73, last: 74 },
  { language: 3, major: 10, first: 75, last: 86 },
  { language: 1, major: 11, first: 0, last: 100 },
];

/** `script` is what a witness set's byte string holds: flat inside CBOR. `language` is 1 to 3 for Plutus V1 to V3. */
export function isWellFormed(script: Uint8Array, language: 1 | 2 | 3, protocolMajor: number): boolean {
  try {
    if (script[0] === 0x5f) return false;
    const item = decodeAt(script, 0);
    if (item.type !== "bytes" || (language >= 3 && item.end !== script.length)) return false;
    return new Flat(item.value, language, protocolMajor).program();
  } catch (error) {
    if (error instanceof Malformed || error instanceof CborError) return false;
    throw error;
  }
}

/**
 * Whether a script can begin to run: it is well-formed, and every variable is bound (ledger: `mkTermToEvaluate`, whose failures are the
 * script's, in phase 2). Outputs of older protocol versions hold scripts that are not.
 */
export function isClosed(script: Uint8Array): boolean {
  try {
    const flat = new Flat(as(decodeAt(script, 0), "bytes").value, 3, Infinity);
    flat.program();
    return flat.closed;
  } catch (error) {
    if (error instanceof Malformed || error instanceof CborError) return false;
    throw error;
  }
}

class Malformed extends Error {}

/** A type of constants, as far as reading needs it. */
type Type = "integer" | "bytes" | "text" | "unit" | "bool" | "data" | { readonly list: Type } | {
  readonly pair: readonly [Type, Type];
};

/** What is still to be read: one term, or a list of them; and how many lambdas are around it. */
interface Open {
  readonly list: boolean;
  readonly lambdas: number;
}

class Flat {
  private at = 0; // in bits
  /** Whether all variables read so far are bound. */
  closed = true;
  constructor(private readonly bytes: Uint8Array, private readonly language: number, private readonly major: number) {}

  program(): boolean {
    const [major, minor, patch] = [this.natural(), this.natural(), this.natural()];
    const newer = major === 1n && minor === 1n && patch === 0n && (this.language >= 3 || this.major >= 11);
    if (!newer && !(major === 1n && minor === 0n && patch === 0n)) return false;
    this.term(newer);
    this.filler();
    return this.at === this.bytes.length * 8;
  }

  /** Reads a term without recursion: programs nest deeper than a call stack does. */
  private term(newer: boolean): void {
    const open: Open[] = [{ list: false, lambdas: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { list, lambdas } = next;
      const [one, more] = [{ list: false, lambdas }, { list: true, lambdas }];
      if (list) {
        if (this.bits(1) === 1) open.push(more, one);
        continue;
      }
      const tag = this.bits(4);
      if (tag === 0) this.variable(lambdas);
      else if (tag === 1 || tag === 5) open.push(one);
      else if (tag === 2) open.push({ list: false, lambdas: lambdas + 1 });
      else if (tag === 3) open.push(one, one);
      else if (tag === 4) this.constant(this.type());
      else if (tag === 7) this.builtin(this.bits(7));
      else if (tag === 8 && newer) {
        if (this.natural() >= 1n << 64n) throw new Malformed();
        open.push(more);
      } else if (tag === 9 && newer) open.push(more, one);
      else if (tag !== 6) throw new Malformed();
    }
  }

  /** A variable is the number of lambdas from it to the one that binds it, from 1 on. */
  private variable(lambdas: number): void {
    const index = this.natural();
    if (index === 0n || index > BigInt(lambdas)) this.closed = false;
  }

  private builtin(tag: number): void {
    const known = BUILTINS.some(({ language, major, first, last }) =>
      language <= this.language && major <= this.major && first <= tag && tag <= last
    );
    if (!known) throw new Malformed();
  }

  private type(): Type {
    const tags: number[] = [];
    while (this.bits(1) === 1) tags.push(this.bits(4));
    const type = this.typeOf(tags);
    if (tags.length > 0) throw new Malformed();
    return type;
  }

  /** Takes a type off the front of its tags: 7 applies, 5 is the list, 6 the pair. */
  private typeOf(tags: number[]): Type {
    const simple = (["integer", "bytes", "text", "unit", "bool"] as const)[tags[0] ?? -1] ??
      (tags[0] === 8 ? "data" : undefined);
    if (simple) {
      tags.shift();
      return simple;
    }
    if (tags[0] === 7 && tags[1] === 5) {
      tags.splice(0, 2);
      return { list: this.typeOf(tags) };
    }
    if (tags[0] === 7 && tags[1] === 7 && tags[2] === 6) {
      tags.splice(0, 3);
      return { pair: [this.typeOf(tags), this.typeOf(tags)] };
    }
    throw new Malformed();
  }

  private constant(type: Type): void {
    if (typeof type === "object") {
      if ("pair" in type) type.pair.forEach((part) => this.constant(part));
      else while (this.bits(1) === 1) this.constant(type.list);
    } else if (type === "integer") this.pastNatural();
    else if (type === "bool") this.bits(1);
    else if (type === "bytes") this.chunks();
    else if (type === "text") {
      if (fromUtf8(this.chunks()) === undefined) throw new Malformed();
    } else if (type === "data") decodeData(this.chunks());
  }

  /** Bytes in chunks of up to 255, from the next byte on. */
  private chunks(): Uint8Array {
    this.filler();
    const parts: number[] = [];
    for (let length = this.bits(8); length > 0; length = this.bits(8)) {
      for (let i = 0; i < length; i++) parts.push(this.bits(8));
    }
    return Uint8Array.from(parts);
  }

  /** Zeros up to a one that ends a byte. */
  private filler(): void {
    while (this.bits(1) === 0);
    if (this.at % 8 !== 0) throw new Malformed();
  }

  /** Steps over a number of any size, whose value does not matter. */
  private pastNatural(): void {
    while (this.bits(8) >= 128);
  }

  private natural(): bigint {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const group = this.bits(8);
      value |= BigInt(group & 127) << shift;
      if (group < 128) return value;
    }
  }

  private bits(count: number): number {
    if (this.at + count > this.bytes.length * 8) throw new Malformed();
    let value = 0;
    for (let i = 0; i < count; i++, this.at++) {
      value = (value << 1) | ((this.bytes[this.at >> 3]! >> (7 - (this.at & 7))) & 1);
    }
    return value;
  }
}
