/** Retracting a request: the holder of the refund address decides where its deposit goes. */
import { check, unit } from "#src/contract/uplc/expression.ts";
import type { Expr, Unit } from "#src/contract/uplc/term.ts";
import { Credential, Request, type RequestFields, type TransactionFields } from "#src/contract/validator/context.ts";
import { type Library, paymentOf, signed } from "#src/contract/validator/library.ts";

/**
 * Whether the transaction may retract the request: if the payment key of the refund address signed. The token and the rest of
 * the request do not matter, so a request can be retracted after its token ended, and even if no update could apply it.
 */
export function retract(library: Pick<Library, "isAmong">, tx: TransactionFields, request: RequestFields): Expr<Unit> {
  return check(signedByRequester(library, tx, request), "retract: not signed by the refund address's key", unit);
}

/** Whether the payment key of the refund address signed. */
export function signedByRequester(library: Pick<Library, "isAmong">, tx: TransactionFields, request: RequestFields) {
  const credential = paymentOf(Request.raw.refund(request));
  return signed(library, tx, Credential.raw.hash(Credential.open(credential)));
}
