/**
 * Decides whether a transaction does what the signer intends, and nothing else.
 *
 * Only the transaction's bytes and the ledger's rules are trusted. An instance gains nothing by lying about the outputs
 * that are spent: the ledger balances the transaction by their true values, every output that it makes is checked here,
 * and collateral is bounded by the total that the transaction states, which the ledger checks too.
 *
 * There is one exception. Refunds and a token's state may pay large amounts to others. There, a lie about the requester's
 * inputs and a lie about the contract's inputs could cancel out. So an independent source must vouch for one of the two;
 * the balance then fixes the sum of the other.
 *
 * An instance can still choose which of the owner's requests an update applies. A client that cares checks those outputs
 * against the transactions that made them.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Summary } from "#src/contract/summary/schema.ts";
import { commonRules, vouchingRules } from "#src/contract/summary/commonRules.ts";
import type { Intent, IntentOf, NotIntended, Reason, Vouched } from "#src/contract/summary/intent.ts";
import { INTENT_RULES } from "#src/contract/summary/intentRules.ts";

/**
 * Checks a summary against an intent. The summary must have been made for `intent.address`. `vouched` must know either all
 * outputs of the requester, or all outputs of the contract, that the transaction spends.
 */
export function judgeSummary(
  summary: Summary,
  intent: Intent,
  vouched: Vouched = () => true,
): Result<Summary, NotIntended> {
  const reasons = [
    ...commonRules(summary, intent),
    ...vouchingRules(summary, intent, vouched),
    ...rulesOf(intent.type, summary, intent),
  ];
  if (reasons.length === 0) return ok(summary);
  const message = `The transaction does not match the intent: ${reasons.map((one) => one.message).join(" ")}`;
  return { ok: false, error: { ...fail("not_as_intended", message).error, details: { reasons } } };
}

/** The reasons of the rules for one type of intent. */
function rulesOf<T extends Intent["type"]>(type: T, summary: Summary, intent: IntentOf<T>): Iterable<Reason> {
  return INTENT_RULES[type](summary, intent);
}
