/** A transaction's inputs as the contract sees them. */
import { compareRefs, type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { SummaryHolding } from "#src/contract/summary/schema.ts";
import type { Request } from "#src/contract/datum.ts";
import { readSpend, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { holdingOf, type KnownOutputs, requestIn } from "#src/contract/summary/outputs.ts";
import type { ReadRedeemer, ReadTransaction } from "#src/contract/summary/readTransaction.ts";

/** A token's state in a summary. */
export type State = Extract<NonNullable<SummaryHolding>, { type: "state" }>;

/** An input with its output (if resolved), its state or request, and its redeemer. */
export interface ContractInput {
  readonly ref: OutRef;
  readonly output: Output | undefined;
  readonly state: State | undefined;
  readonly request: Request | undefined;
  readonly redeemer: SpendRedeemer | undefined;
}

/** The redeemer of one script run. */
export function redeemerOf(
  redeemers: readonly ReadRedeemer[],
  purpose: string,
  index: number,
): ReadRedeemer | undefined {
  return redeemers.find((one) => one.purpose === purpose && one.index === BigInt(index));
}

/** A transaction's inputs in the ledger's order (by reference). */
export function contractInputs(read: ReadTransaction, known: KnownOutputs): readonly ContractInput[] {
  return [...read.inputs].sort(compareRefs).map((ref, index) => {
    const output = known.get(refKey(ref));
    const holding = output && holdingOf(output);
    const redeemer = redeemerOf(read.redeemers, "spend", index)?.data;
    return {
      ref,
      output,
      state: holding?.type === "state" ? holding : undefined,
      request: output && requestIn(output),
      redeemer: redeemer === undefined ? undefined : readSpend(redeemer),
    };
  });
}
