/** What a transaction spends, as the contract sees it. */
import { compareRefs, type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { SummaryHolding } from "#src/api/summary.ts";
import type { Request } from "#src/cage/datum.ts";
import { readSpend, type SpendRedeemer } from "#src/cage/redeemer.ts";
import { holdingOf, type KnownOutputs, requestIn } from "#src/cage/summary/outputs.ts";
import type { ReadRedeemer, ReadTransaction } from "#src/cage/summary/read.ts";

/** A token's state, as it is told. */
export type State = Extract<NonNullable<SummaryHolding>, { type: "state" }>;

/** An input with its output, where known, and what the contract is told of it. */
export interface Spent {
  readonly ref: OutRef;
  readonly output: Output | undefined;
  readonly state: State | undefined;
  readonly request: Request | undefined;
  readonly redeemer: SpendRedeemer | undefined;
}

/** The argument for one run of a script. */
export function argument(redeemers: readonly ReadRedeemer[], purpose: string, index: number): ReadRedeemer | undefined {
  return redeemers.find((one) => one.purpose === purpose && one.index === BigInt(index));
}

/** The inputs of a transaction in the ledger's order. */
export function spentBy(read: ReadTransaction, known: KnownOutputs): readonly Spent[] {
  return [...read.inputs].sort(compareRefs).map((ref, index) => {
    const output = known.get(refKey(ref));
    const holding = output && holdingOf(output);
    const redeemer = argument(read.redeemers, "spend", index)?.data;
    return {
      ref,
      output,
      state: holding?.type === "state" ? holding : undefined,
      request: output && requestIn(output),
      redeemer: redeemer === undefined ? undefined : readSpend(redeemer),
    };
  });
}
