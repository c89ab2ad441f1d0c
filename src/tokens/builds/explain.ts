/**
 * Summaries of transactions, computed in the builder threads: checking the proofs of updates takes thousands of hashes.
 */
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { ok, type Result } from "#src/base/result.ts";
import type { Summary } from "#src/contract/summary/schema.ts";
import { parseTransaction, summarizeTransaction, type Undecodable } from "#src/contract/summary/summarize.ts";
import { initHash } from "#src/forestry/hash.ts";

export interface ExplainInput {
  /** CBOR. */
  readonly transaction: Uint8Array;
  /** Known outputs, by `refKey`, as CBOR. */
  readonly outputs: readonly (readonly [ref: string, cbor: Uint8Array])[];
  /** The address from whose view the summary is, as bytes in hexadecimal. */
  readonly address?: string | undefined;
  readonly slots?: SlotConfig | undefined;
}

/** Summarises a transaction. */
export async function summarise(
  { transaction, outputs, ...view }: ExplainInput,
): Promise<Result<Summary, Undecodable>> {
  await initHash();
  const read = parseTransaction(transaction);
  if (!read.ok) return read;
  const known = new Map(outputs.map(([ref, cbor]) => [ref, readOutput(decode(cbor))]));
  return ok(summarizeTransaction(read.value, known, view));
}
