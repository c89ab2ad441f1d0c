/** Proofs as JSON, in the form of the published off-chain libraries: bytes in hexadecimal; prefixes have one nibble per byte. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { constr, type Data } from "#src/cardano/data.ts";
import { type Proof, readProof } from "#src/forestry/proof.ts";

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

/**
 * A proof as JSON.
 *
 * @example
 * ```ts
 * import { proofJson } from "./src/forestry/json.ts";
 *
 * const step = { type: "branch", skip: 0, neighbors: new Uint8Array(128) } as const;
 * console.log(JSON.stringify(proofJson([step])));
 * ```
 */
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

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}

function members(value: unknown): Members {
  return isObject(value) ? value : {};
}

/** Stands for an invalid member: no step contains an empty list, so `readProof` gives undefined. */
const NONE: Data = [];

/** An integer, as a bigint (exact JSON) or a number (plain JSON). */
function integer(value: unknown): Data {
  return typeof value === "bigint" ? value : Number.isInteger(value) ? BigInt(Number(value)) : NONE;
}

function bytes(value: unknown): Data {
  return typeof value === "string" && /^([0-9a-f]{2})*$/.test(value) ? fromHex(value) : NONE;
}

/** A step as `proofData` has it. */
function stepData(step: unknown): Data {
  const { type, skip, neighbors, neighbor } = members(step);
  const { nibble, prefix, root, key, value } = members(neighbor);
  switch (type) {
    case "branch":
      return constr(0, integer(skip), bytes(neighbors));
    case "fork":
      return constr(1, integer(skip), constr(0, integer(nibble), bytes(prefix), bytes(root)));
    case "leaf":
      return constr(2, integer(skip), bytes(key), bytes(value));
    default:
      return NONE;
  }
}

/**
 * Reads a proof from parsed JSON; undefined unless each step has the members of `StepJson`. Ignores other members.
 *
 * @example
 * ```ts
 * import { readProofJson } from "./src/forestry/json.ts";
 *
 * console.log(readProofJson(JSON.parse("[]"))); // []
 * console.log(readProofJson({})); // undefined
 * ```
 */
export function readProofJson(value: unknown): Proof | undefined {
  return Array.isArray(value) ? readProof(value.map(stepData)) : undefined;
}
