/**
 * Proofs, and their deterministic CBOR. Keys and parts of paths are arrays of the integers 0 and 1; here they are byte
 * strings with one bit in each byte.
 */
import { joined } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { head } from "#src/cardano/cbor.ts";

/** A key or a part of one, one bit in each byte. */
export type Bits = Uint8Array;

/** A branch on the way from a node up to the root. */
export interface ProofStep {
  /** One more than the bits of the node's own part of the path. */
  readonly consumed: number;
  /** The branch's other child: its part of the path and its value. */
  readonly sibling: { readonly jump: Bits; readonly value: Uint8Array };
}

/** A key has a value. */
export interface InclusionProof {
  readonly key: Bits;
  readonly value: Uint8Array;
  /** From the leaf to the root. */
  readonly steps: readonly ProofStep[];
  readonly rootJump: Bits;
}

/** No key is, or begins with, a target: the path of a witness leaves it where there is no branch. Null: the tree is empty. */
export type ExclusionProof = { readonly target: Bits; readonly witness: InclusionProof } | null;

/** The elements whose keys begin with a prefix are all there are. */
export type CompletenessProof =
  /** Pairs of nodes to merge, at first the elements; and the steps from the sub-tree to the root. */
  | { readonly merges: readonly (readonly [left: number, right: number])[]; readonly steps: readonly ProofStep[] }
  /** There are none. */
  | { readonly empty: ExclusionProof };

export type MalformedProof = Failure<"malformed_proof">;

/** Bits of a key at most: those of the longest reference to an output. */
const MOST_BITS = 1_024;
/** Bytes of a proof at most: a completeness proof of a million outputs has about ten million. */
const MOST_BYTES = 16_000_000;

export function encodeInclusion(proof: InclusionProof): Uint8Array {
  return joined(inclusionParts(proof));
}

export function encodeExclusion(proof: ExclusionProof): Uint8Array {
  return joined(exclusionParts(proof));
}

export function encodeCompleteness(proof: CompletenessProof): Uint8Array {
  if ("empty" in proof) return joined([head(4, 2), head(0, 1), ...exclusionParts(proof.empty)]);
  const { merges, steps } = proof;
  return joined([
    head(4, 3),
    head(0, 0),
    head(4, merges.length),
    mergesBytes(merges),
    ...stepsParts(steps),
  ]);
}

/** Merges are many, and small. */
function mergesBytes(merges: readonly (readonly [left: number, right: number])[]): Uint8Array {
  const bytes: number[] = [];
  const add = (index: number) => {
    if (index < 24) bytes.push(index);
    else if (index < 0x100) bytes.push(0x18, index);
    else if (index < 0x10000) bytes.push(0x19, index >> 8, index & 0xff);
    else bytes.push(...head(0, index));
  };
  for (const [left, right] of merges) {
    bytes.push(0x82);
    add(left);
    add(right);
  }
  return Uint8Array.from(bytes);
}

function inclusionParts({ key, value, steps, rootJump }: InclusionProof): Uint8Array[] {
  return [head(4, 4), ...bitsParts(key), ...bytesParts(value), ...stepsParts(steps), ...bitsParts(rootJump)];
}

function exclusionParts(proof: ExclusionProof): Uint8Array[] {
  if (!proof) return [head(4, 1), head(0, 0)];
  return [head(4, 3), head(0, 1), ...bitsParts(proof.target), ...inclusionParts(proof.witness)];
}

function stepsParts(steps: readonly ProofStep[]): Uint8Array[] {
  const parts = steps.flatMap(({ consumed, sibling: { jump, value } }) => [
    head(4, 2),
    head(0, consumed),
    head(4, 2),
    ...bitsParts(jump),
    ...bytesParts(value),
  ]);
  return [head(4, steps.length), ...parts];
}

/** Bits are CBOR as they are: an integer of one bit is one byte. */
function bitsParts(bits: Bits): Uint8Array[] {
  return [head(4, bits.length), bits];
}

function bytesParts(bytes: Uint8Array): Uint8Array[] {
  return [head(2, bytes.length), bytes];
}

export function decodeInclusion(bytes: Uint8Array): Result<InclusionProof, MalformedProof> {
  return decodeWhole(bytes, (reader) => reader.inclusion());
}

export function decodeExclusion(bytes: Uint8Array): Result<ExclusionProof, MalformedProof> {
  return decodeWhole(bytes, (reader) => reader.exclusion());
}

export function decodeCompleteness(bytes: Uint8Array): Result<CompletenessProof, MalformedProof> {
  return decodeWhole(bytes, (reader) => reader.completeness());
}

function decodeWhole<T>(bytes: Uint8Array, read: (reader: ProofReader) => T): Result<T, MalformedProof> {
  if (bytes.length > MOST_BYTES) return malformed(`it has ${bytes.length} bytes`);
  try {
    const reader = new ProofReader(bytes);
    const value = read(reader);
    reader.end();
    return ok(value);
  } catch (error) {
    if (error instanceof Malformed) return malformed(error.message);
    throw error;
  }
}

function malformed(why: string) {
  return fail("malformed_proof", `The proof cannot be read: ${why}.`);
}

class Malformed extends Error {}

/** Reads deterministic CBOR: heads in their shortest form, no item of indefinite length. */
class ProofReader {
  #at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  end(): void {
    if (this.#at !== this.bytes.length) throw new Malformed(`${this.bytes.length - this.#at} bytes follow it`);
  }

  inclusion(): InclusionProof {
    this.#tuple(4);
    return { key: this.#bits(), value: this.#digest(), steps: this.#steps(), rootJump: this.#bits() };
  }

  exclusion(): ExclusionProof {
    const length = this.#head(4);
    const kind = this.#head(0);
    if (kind === 0 && length === 1) return null;
    if (kind !== 1 || length !== 3) throw new Malformed("an exclusion of no known kind");
    return { target: this.#bits(), witness: this.inclusion() };
  }

  completeness(): CompletenessProof {
    const length = this.#head(4);
    const kind = this.#head(0);
    if (kind === 1 && length === 2) return { empty: this.exclusion() };
    if (kind !== 0 || length !== 3) throw new Malformed("a completeness proof of no known kind");
    const merges = this.#list(() => {
      this.#tuple(2);
      return [this.#head(0), this.#head(0)] as const;
    });
    return { merges, steps: this.#steps() };
  }

  #steps(): ProofStep[] {
    return this.#list(() => {
      this.#tuple(2);
      const consumed = this.#head(0);
      this.#tuple(2);
      return { consumed, sibling: { jump: this.#bits(), value: this.#digest() } };
    });
  }

  #list<T>(read: () => T): T[] {
    const length = this.#head(4);
    // each element has a byte at least
    if (length > this.bytes.length - this.#at) throw truncated();
    return Array.from({ length }, read);
  }

  #tuple(length: number): void {
    if (this.#head(4) !== length) throw new Malformed(`an array that has not ${length} elements`);
  }

  #bits(): Bits {
    const length = this.#head(4);
    if (length > MOST_BITS) throw new Malformed(`a path of ${length} bits`);
    const bits = this.#take(length);
    if (bits.some((bit) => bit > 1)) throw new Malformed("a bit that is neither 0 nor 1");
    return bits;
  }

  #digest(): Uint8Array {
    if (this.#head(2) !== 32) throw new Malformed("a digest that has not 32 bytes");
    return this.#take(32);
  }

  /** Steps over a head of a major type and gives its argument. */
  #head(major: number): number {
    const initial = this.#byte();
    const info = initial & 31;
    if (initial >> 5 !== major || info > 26) throw new Malformed("an item of another type or size");
    if (info < 24) return info;
    let argument = 0;
    for (let i = 0; i < 1 << (info - 24); i++) argument = argument * 256 + this.#byte();
    const least = info === 24 ? 24 : 2 ** (8 << (info - 25));
    if (argument < least) throw new Malformed("a head that is not the shortest");
    return argument;
  }

  #byte(): number {
    const byte = this.bytes[this.#at++];
    if (byte === undefined) throw truncated();
    return byte;
  }

  #take(length: number): Uint8Array {
    if (length > this.bytes.length - this.#at) throw truncated();
    return this.bytes.subarray(this.#at, this.#at += length);
  }
}

function truncated(): Malformed {
  return new Malformed("it ends too early");
}
