/**
 * Whether a transaction does what somebody means to sign, and nothing else.
 *
 * Nothing is trusted but the transaction's bytes and what the ledger enforces. That an instance lies about the outputs that are spent does
 * not help it: all that is spent must come out again (the ledger balances it by the true values), and every output is looked at here;
 * collateral is bounded by the total that the transaction itself states, which the ledger holds against the true one. Only where much may go to
 * others (refunds, and the state of a token) could a lie about what the requester puts in and one about what the contract puts in make up for one
 * another: there either must be vouched for, and then the other is right in sum. What an instance can still choose is which of the owner's
 * requests an update takes; whoever minds checks those outputs by the transactions that made them.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Summary } from "#src/api/summary.ts";
import { frame, vouching } from "#src/cage/summary/frame.ts";
import type { Intent, NotIntended, Vouched } from "#src/cage/summary/intent.ts";
import { STEPS } from "#src/cage/summary/steps.ts";

/**
 * Judges a summary, which must be one that was told from `intent.address`. Whoever vouches knows all outputs of the requester, or all of the
 * contract, that the transaction spends.
 */
export function judged(summary: Summary, intent: Intent, vouched: Vouched = () => true): Result<Summary, NotIntended> {
  const reasons = [
    ...frame(summary, intent),
    ...vouching(summary, intent, vouched),
    ...STEPS[intent.type](summary, intent as never),
  ];
  if (reasons.length === 0) return ok(summary);
  const message = `This is not the transaction that is meant: ${reasons.map((one) => one.message).join(" ")}`;
  return { ok: false, error: { ...fail("not_as_intended", message).error, details: { reasons } } };
}
