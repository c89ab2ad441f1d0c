/** Shared by ending and updating a token: the owner's signature, and the state that is spent. */
import * as u from "#src/contract/uplc/builtin.ts";
import { bind, call, check } from "#src/contract/uplc/expression.ts";
import type { Data, Expr } from "#src/contract/uplc/term.ts";
import {
  Credential,
  Output,
  State,
  type StateFields,
  Transaction,
  type TransactionFields,
} from "#src/contract/validator/context.ts";
import { type Library, paymentOf, signed } from "#src/contract/validator/library.ts";

/** The state that is spent. */
export interface Own {
  readonly address: Expr<Data>;
  /** Payment credential of the address: the script. */
  readonly credential: Expr<Data>;
  readonly policy: Expr<Data>;
  readonly name: Expr<Data>;
}

/**
 * Checks that the state's owner signed and that it holds a token of this policy, and continues with the state. Its other
 * contents do not matter: nothing else can be put there, and if it could, the token could still be spent.
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
