/**
 * Contributing a request to an update of its token.
 *
 * The update checks that the change is applied and the deposit refunded; the request only checks that an update happens:
 *
 * 1. it names a token of its own script's policy,
 * 2. one unit of that token is in the first output,
 * 3. nothing is minted or burnt under the policy.
 *
 * A token of the policy exists once, in its state output at the script. By 2 and 3 this transaction spends that output, either
 * to end the token or to update it. Ending burns the token, which 3 excludes. So the token is updated, and the update processes
 * every input at the script that names its token: it requires an action for this request. The action applies and refunds it,
 * because a skipped request must have the redeemer `retract`, and this one has `contribute`.
 */
import * as u from "#src/cage/uplc/builtin.ts";
import {
  and,
  bind,
  bool,
  call,
  checkAll,
  choose,
  fn,
  forms,
  ifEmpty,
  int,
  recursive,
  unit,
} from "#src/cage/uplc/expression.ts";
import type { Bool, Data, Expr, List, Pair, Unit } from "#src/cage/uplc/term.ts";
import {
  Credential,
  Output,
  Request,
  type RequestFields,
  Token,
  Transaction,
  type TransactionFields,
} from "#src/cage/contract/context.ts";
import { construct, oneToken, paymentOf, sameBytes, type Spent } from "#src/cage/contract/library.ts";

/** Fails the script unless the transaction may spend the request at `reference` to apply it. */
export function contribute(
  spent: Spent,
  tx: TransactionFields,
  reference: Expr<Data>,
  request: RequestFields,
): Expr<Unit> {
  const own = Output.open(call(spent, reference, Transaction.get.inputs(tx)));
  return bind(
    [Credential.raw.hash(Credential.open(paymentOf(Output.raw.address(own))))],
    (policy) =>
      bind([Request.raw.token(request)], (token) =>
        bind([Token.raw.name(Token.open(token))], (name) =>
          checkAll([
            [isToken(token, policy, name), "contribute: a token of another policy"],
            [
              u.equalData(assetsOfFirstOutput(tx), u.mapData(oneToken(policy, name))),
              "contribute: the token is not updated",
            ],
            [call(lacks, policy, Transaction.get.mint(tx)), "contribute: the policy mints or burns"],
          ], unit))),
  );
}

/** Whether a token (whose name is known) has this policy and no further fields. */
function isToken(token: Expr<Data>, policy: Expr<Data>, name: Expr<Data>): Expr<Bool> {
  return forms(
    () => u.equalData(token, construct(0, policy, name)),
    () =>
      bind([u.unConstr(token)], (constr) =>
        bind([Token.of(u.second(constr))], (fields) =>
          and(
            u.equalInts(u.first(constr), int(0)),
            and(Token.ends(fields), sameBytes(Token.raw.policy(fields), policy)),
          ))),
  );
}

/** Assets of the first output, without the lovelace. */
function assetsOfFirstOutput(tx: TransactionFields): Expr<Data> {
  const first = Output.open(u.head(Transaction.get.outputs(tx)));
  return u.mapData(u.tail(Output.get.value(first)));
}

/** Whether a map does not have a key. */
const lacks = recursive<[Data, List<Pair<Data, Data>>], Bool>((self) =>
  fn((key, map) =>
    ifEmpty(map, bool(true), choose(u.equalData(u.first(u.head(map)), key), bool(false), self(key, u.tail(map))))
  )
);
