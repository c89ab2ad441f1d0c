/** Ending a token: its owner burns it and takes the contents of its state. */
import * as u from "#src/contract/uplc/builtin.ts";
import { call, check, unit } from "#src/contract/uplc/expression.ts";
import type { Data, Expr, Unit } from "#src/contract/uplc/term.ts";
import { type StateFields, Transaction, type TransactionFields } from "#src/contract/validator/context.ts";
import { type Library, quantity } from "#src/contract/validator/library.ts";
import { withOwn } from "#src/contract/validator/state.ts";

/**
 * Whether the transaction may end the token. It must burn exactly this token and mint or burn nothing else of the policy. So
 * no other token ends or is booted with it, and no request contributes (contributing excludes minting and burning).
 */
export function end(library: Library, tx: TransactionFields, reference: Expr<Data>, state: StateFields): Expr<Unit> {
  return withOwn(library, tx, reference, state, ({ policy, name }) =>
    check(
      u.equalData(call(library.lookup, policy, Transaction.get.mint(tx)), quantity(name, -1n)),
      "end: not exactly this token is burnt",
      unit,
    ));
}
