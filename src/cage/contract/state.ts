/** What ending and updating a token have in common: the owner's word, and the state that is being spent. */
import * as u from "#src/cage/uplc/builtin.ts";
import { bind, call, check } from "#src/cage/uplc/expression.ts";
import type { Data, Expr } from "#src/cage/uplc/term.ts";
import {
  Credential,
  Output,
  State,
  type StateFields,
  Transaction,
  type TransactionFields,
} from "#src/cage/contract/context.ts";
import { type Library, paymentOf, signed } from "#src/cage/contract/library.ts";

/** The state that is being spent. */
export interface Own {
  readonly address: Expr<Data>;
  /** Payment credential of the address: the script. */
  readonly credential: Expr<Data>;
  readonly policy: Expr<Data>;
  readonly name: Expr<Data>;
}

/**
 * Goes on with the own state, after checks that its owner signed and that it holds a token of this policy. What else it
 * holds does not matter: nothing can be put there, and if it could, it would not brick the token.
 */
export function withOwn<R>(
  library: Library,
  tx: TransactionFields,
  reference: Expr<Data>,
  state: StateFields,
  then: (own: Own) => Expr<R>,
): Expr<R> {
  return check(
    signed(library, tx, State.raw.owner(state)),
    "not signed by the token's owner",
    bind(
      [Output.open(call(library.spent, reference, Transaction.get.inputs(tx)))],
      (output) =>
        bind(
          [Output.raw.address(output)],
          (address) =>
            bind([paymentOf(address)], (credential) =>
              bind([Credential.raw.hash(Credential.open(credential))], (policy) =>
                bind([u.unMap(call(library.lookup, policy, Output.get.value(output)))], (held) =>
                  check(
                    u.isEmpty(u.tail(held)),
                    "the state holds two tokens",
                    bind([u.first(u.head(held))], (name) =>
                      then({ address, credential, policy, name })),
                  )))),
        ),
    ),
  );
}
