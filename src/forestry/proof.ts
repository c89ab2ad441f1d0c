/**
 * Proofs of the trie: the siblings on the path from the root to one element. The form is that of the Merkle Patricia
 * Forestry libraries, which on-chain validators read as Plutus data.
 */
import { Constr, constr, type Data, encodeData } from "#src/cardano/data.ts";

/** One branch on the path. `skip` is the number of nibbles that all paths below it share, before the branching nibble. */
export type Step =
  /** Two or more other sub-tries: the four sibling hashes in the binary tree over 16 slots, 128 bytes. */
  | { readonly type: "branch"; readonly skip: number; readonly neighbors: Uint8Array }
  /** One other sub-trie, a branch: its slot, its own shared nibbles (one per byte), the root of its binary tree. */
  | {
    readonly type: "fork";
    readonly skip: number;
    readonly nibble: number;
    readonly prefix: Uint8Array;
    readonly root: Uint8Array;
  }
  /** One other sub-trie, a leaf: its whole path and the digest of its value. */
  | { readonly type: "leaf"; readonly skip: number; readonly key: Uint8Array; readonly value: Uint8Array };

/** Steps from the root down. */
export type Proof = readonly Step[];

function stepData(step: Step): Constr {
  const skip = BigInt(step.skip);
  switch (step.type) {
    case "branch":
      return constr(0, skip, step.neighbors);
    case "fork":
      return constr(1, skip, constr(0, BigInt(step.nibble), step.prefix, step.root));
    case "leaf":
      return constr(2, skip, step.key, step.value);
  }
}

/**
 * A proof as Plutus data.
 *
 * @example
 * ```ts
 * import { proofData } from "./src/forestry/proof.ts";
 *
 * console.log(proofData([{ type: "branch", skip: 0, neighbors: new Uint8Array(128) }]));
 * ```
 */
export function proofData(proof: Proof): Data {
  return proof.map(stepData);
}

/**
 * A proof as CBOR of Plutus data.
 *
 * @example
 * ```ts
 * import { toHex } from "./src/base/bytes.ts";
 * import { encodeProof } from "./src/forestry/proof.ts";
 *
 * console.log(toHex(encodeProof([]))); // 80
 * ```
 */
export function encodeProof(proof: Proof): Uint8Array {
  return encodeData(proofData(proof));
}

function size(data: Data | undefined, most: number): number | undefined {
  return typeof data === "bigint" && data >= 0n && data <= BigInt(most) ? Number(data) : undefined;
}

function bytes(data: Data | undefined, length?: number): Uint8Array | undefined {
  return data instanceof Uint8Array && (length === undefined || data.length === length) ? data : undefined;
}

function readFork(skip: number, data: Data | undefined): Step | undefined {
  if (!(data instanceof Constr) || data.tag !== 0 || data.fields.length !== 3) return undefined;
  const slot = size(data.fields[0], 15);
  const prefix = bytes(data.fields[1]);
  const root = bytes(data.fields[2], 32);
  if (slot === undefined || !prefix || prefix.length > 63 || prefix.some((n) => n > 15) || !root) return undefined;
  return { type: "fork", skip, nibble: slot, prefix, root };
}

function readStep(data: Data): Step | undefined {
  if (!(data instanceof Constr)) return undefined;
  const skip = size(data.fields[0], 63);
  if (skip === undefined) return undefined;
  if (data.tag === 0 && data.fields.length === 2) {
    const neighbors = bytes(data.fields[1], 128);
    return neighbors && { type: "branch", skip, neighbors };
  }
  if (data.tag === 1 && data.fields.length === 2) return readFork(skip, data.fields[1]);
  if (data.tag === 2 && data.fields.length === 3) {
    const key = bytes(data.fields[1], 32);
    const value = bytes(data.fields[2], 32);
    return key && value && { type: "leaf", skip, key, value };
  }
  return undefined;
}

/**
 * Reads a proof from Plutus data; undefined if its form is not exactly right.
 *
 * @example
 * ```ts
 * import { proofData, readProof } from "./src/forestry/proof.ts";
 *
 * console.log(readProof(proofData([]))); // []
 * ```
 */
export function readProof(data: Data): Proof | undefined {
  if (!Array.isArray(data)) return undefined;
  const steps = data.map((element: Data) => readStep(element));
  return steps.every((step) => step !== undefined) ? steps : undefined;
}
