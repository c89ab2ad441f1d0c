/** Results of the faucet. */
import { adaText } from "#src/cardano/ada.ts";
import type { BalanceFailure } from "#src/transaction/balance.ts";
import type { Log } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Submission } from "#src/chain/provider/port.ts";
import type { SubmissionUnavailable } from "#src/devnet/blocks/submission.ts";

type FaucetEmpty = Failure<"faucet_empty">;
type BadAmount = Failure<"amount_too_small" | "amount_too_large">;
export type FaucetFailure = SubmissionUnavailable | FaucetEmpty | BadAmount;

/** The hash of the payment, which is in the mempool. */
export type FaucetPayment = Result<{ txHash: string }, SubmissionUnavailable | FaucetEmpty>;

/** Checks that an amount is one that the faucet pays at once. */
export function checkAmount(
  lovelace: bigint,
  { min: min, max: max }: { min: bigint; max: bigint },
): Result<void, BadAmount> {
  if (lovelace < min) {
    return fail("amount_too_small", `An output at this address must have at least ${adaText(min)} (${min} lovelace).`, {
      limit: min,
    });
  }
  if (lovelace > max) {
    return fail("amount_too_large", `The faucet pays at most ${adaText(max)} (${max} lovelace) per request.`, {
      limit: max,
    });
  }
  return ok(undefined);
}

/** The failure that the faucet's outputs do not suffice. */
export function faucetEmpty({ message, details }: BalanceFailure): { ok: false; error: FaucetEmpty } {
  return fail("faucet_empty", `The faucet cannot pay this amount. ${message}`, details);
}

/** The result of a submitted payment. */
export function paymentResult(
  { txHash, submission }: { readonly txHash: string; readonly submission: Submission },
  log: Log,
): FaucetPayment {
  if (submission.outcome === "accepted") return ok({ txHash });
  const { failures } = submission;
  log.error("the ledger rejects a payment of the faucet", { failures });
  return fail("faucet_empty", "The ledger rejects the payment of the faucet.", { failures });
}
