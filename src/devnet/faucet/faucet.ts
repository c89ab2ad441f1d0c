/** What a faucet answers: paid, or why not. */
import type { BalanceFailure } from "#src/transaction/balance.ts";
import type { Log } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Submission } from "#src/chain/provider/port.ts";
import type { NotNow } from "#src/devnet/blocks/submission.ts";

export type FaucetEmpty = Failure<"faucet_empty">;
export type BadAmount = Failure<"amount_too_small" | "amount_too_large">;
export type FaucetFailure = NotNow | FaucetEmpty | BadAmount;

/** The hash of the payment, which stands in the mempool. */
export type Paid = Result<{ txHash: string }, NotNow | FaucetEmpty>;

/** Whether an amount of lovelace is one that a faucet gives at once. */
export function checkAmount(
  lovelace: bigint,
  { least, most }: { least: bigint; most: bigint },
): Result<void, BadAmount> {
  if (lovelace < least) {
    return fail("amount_too_small", `An output at this address holds at least ${least} lovelace.`, { limit: least });
  }
  if (lovelace > most) {
    return fail("amount_too_large", `The faucet gives at most ${most} lovelace at once.`, { limit: most });
  }
  return ok(undefined);
}

/** The outputs of the faucet do not suffice. */
export function cannotPay({ message, details }: BalanceFailure): { ok: false; error: FaucetEmpty } {
  return fail("faucet_empty", `The faucet cannot pay this. ${message}`, details);
}

/** What became of a payment that was handed over. */
export function paidBy(txHash: string, submitted: Result<Submission, NotNow>, log: Log): Paid {
  if (!submitted.ok) return submitted;
  if (submitted.value.outcome === "accepted") return ok({ txHash });
  const { failures } = submitted.value;
  log.error("the ledger refuses a payment of the faucet", { failures });
  return fail("faucet_empty", "The ledger refuses what the faucet would pay.", { failures });
}
