/** Proofs as JSON, in the form of the published off-chain libraries: bytes in hexadecimal; prefixes have one nibble per byte. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Proof, Step } from "#src/forestry/proof.ts";

/** A step as JSON. */
export type StepJson =
  | { readonly type: "branch"; readonly skip: number; readonly neighbors: string }
  | {
    readonly type: "fork";
    readonly skip: number;
    readonly neighbor: { readonly nibble: number; readonly prefix: string; readonly root: string };
  }
  | {
    readonly type: "leaf";
    readonly skip: number;
    readonly neighbor: { readonly key: string; readonly value: string };
  };

/** A proof as JSON. */
export function proofJson(proof: Proof): StepJson[] {
  return proof.map((step) => {
    const { skip } = step;
    switch (step.type) {
      case "branch":
        return { type: "branch", skip, neighbors: toHex(step.neighbors) };
      case "fork": {
        const { nibble, prefix, root } = step;
        return { type: "fork", skip, neighbor: { nibble, prefix: toHex(prefix), root: toHex(root) } };
      }
      case "leaf":
        return { type: "leaf", skip, neighbor: { key: toHex(step.key), value: toHex(step.value) } };
    }
  });
}

type Members = Readonly<Record<string, unknown>>;

function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? value as Members : {};
}

/** An integer from 0 to `most`, as a bigint (exact JSON) or a number (plain JSON). */
function size(value: unknown, most: number): number | undefined {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= most ? number : undefined;
}

function bytes(value: unknown, length?: number): Uint8Array | undefined {
  if (typeof value !== "string" || !/^([0-9a-f]{2})*$/.test(value)) return undefined;
  return length === undefined || value.length === 2 * length ? fromHex(value) : undefined;
}

function readStep(value: unknown): Step | undefined {
  const { type, skip: skipped, neighbors: beside, neighbor } = members(value);
  const skip = size(skipped, 63);
  if (skip === undefined) return undefined;
  const next = members(neighbor);
  if (type === "branch") {
    const neighbors = bytes(beside, 128);
    return neighbors && { type, skip, neighbors };
  }
  if (type === "leaf") {
    const [key, digest] = [bytes(next.key, 32), bytes(next.value, 32)];
    return key && digest && { type, skip, key, value: digest };
  }
  if (type !== "fork") return undefined;
  const [nibble, prefix, root] = [size(next.nibble, 15), bytes(next.prefix), bytes(next.root, 32)];
  if (nibble === undefined || !prefix || prefix.length > 63 || prefix.some((n) => n > 15) || !root) return undefined;
  return { type, skip, nibble, prefix, root };
}

/**
 * Reads a proof from parsed JSON; undefined if its form is not exactly right.
 *
 * @example
 * ```ts
 * const proof = readProofJson(JSON.parse(text));
 * const root = proof && rootWith(digest(key), digest(value), proof);
 * ```
 */
export function readProofJson(value: unknown): Proof | undefined {
  if (!Array.isArray(value)) return undefined;
  const steps = value.map(readStep);
  return steps.every((step) => step !== undefined) ? steps : undefined;
}
