/** A part of a transaction as a review describes it. */

/** A certificate or a vote, and what it does in the words of `Requested` (`review.ts`). */
export interface Described {
  readonly text: readonly string[];
  readonly does: readonly string[];
  readonly deposit?: bigint | undefined;
  readonly refund?: bigint | undefined;
  readonly problem?: string;
}
