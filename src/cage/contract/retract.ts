/** Retracting a request: its deposit goes wherever the holder of the refund address says. */
import { check, unit } from "#src/cage/uplc/expression.ts";
import type { Expr, Unit } from "#src/cage/uplc/term.ts";
import { Credential, Request, type RequestFields, type TransactionFields } from "#src/cage/contract/context.ts";
import { type Library, paymentOf, signed } from "#src/cage/contract/library.ts";

/**
 * Whether the transaction may retract the request: always when the payment key of the refund address signed. Neither the
 * token nor the rest of the request matters, so a request can be taken back whatever became of its token, and also one that
 * no update could apply.
 */
export function retract(library: Library, tx: TransactionFields, request: RequestFields): Expr<Unit> {
  return check(signedByRequester(library, tx, request), "retract: not signed by the refund address's key", unit);
}

/** Whether the payment key of the refund address signed. */
export function signedByRequester(library: Library, tx: TransactionFields, request: RequestFields) {
  const credential = paymentOf(Request.raw.refund(request));
  return signed(library, tx, Credential.raw.hash(Credential.open(credential)));
}
