/** What transactions do, told in the threads: proofs of updates are checked, which is thousands of hashes. */
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { ok, type Result } from "#src/base/result.ts";
import type { Summary } from "#src/api/summary.ts";
import { explained, readable, type Undecodable } from "#src/cage/summary/explain.ts";
import { initHash } from "#src/forestry/hash.ts";

export interface ExplainInput {
  /** CBOR. */
  readonly transaction: Uint8Array;
  /** Outputs that are known, by `refKey`, as CBOR. */
  readonly outputs: readonly (readonly [ref: string, cbor: Uint8Array])[];
  /** Whose view to take: the bytes of an address in hexadecimal. */
  readonly address?: string | undefined;
  readonly slots?: SlotConfig | undefined;
}

/** Tells what a transaction does. */
export async function explain({ transaction, outputs, ...view }: ExplainInput): Promise<Result<Summary, Undecodable>> {
  await initHash();
  const read = readable(transaction);
  if (!read.ok) return read;
  const known = new Map(outputs.map(([ref, cbor]) => [ref, readOutput(decode(cbor))]));
  return ok(explained(read.value, known, view));
}
