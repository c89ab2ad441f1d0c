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
 * because a skipped request must have the redeemer `retract`, and this one has `contribute`. In version 3 it may also refuse
 * it, and then refunds the whole deposit.
 *
 * The own script's policy is known only from the address of the own input. Version 2 searches for this input; version 3 finds
 * it at a constant cost, by an index.
 */
import * as u from "#src/contract/uplc/builtin.ts";
import {
  and,
  bind,
  bool,
  call,
  check,
  checkAll,
  choose,
  fn,
  forms,
  ifEmpty,
  int,
  recursive,
  unit,
} from "#src/contract/uplc/expression.ts";
import type { Bool, Data, Expr, Int, List, Pair, Unit } from "#src/contract/uplc/term.ts";
import {
  Credential,
  Input,
  Output,
  Request,
  type RequestFields,
  Token,
  Transaction,
  type TransactionFields,
} from "#src/contract/validator/context.ts";
import { construct, oneToken, paymentOf, sameBytes, type Spent } from "#src/contract/validator/library.ts";

/** Fails the script unless the transaction may spend the request at `reference` to apply it. Its own input is searched for. */
export function contribute(
  spent: Spent,
  tx: TransactionFields,
  reference: Expr<Data>,
  request: RequestFields,
): Expr<Unit> {
  return contributeTo(tx, call(spent, reference, Transaction.get.inputs(tx)), request);
}

/**
 * `contribute` at a constant cost: the redeemer is a number that gives the index of the own input. The index is only a hint:
 * the input there must have the own reference, and no other input has it. A request that is applied has its index i, one that
 * is refused -1 - i: the update tells them apart by the sign. (As an index, a negative number is 0. So any serves for a
 * request that is refused and is the first input; for all others exactly one does.)
 */
export function contributeAt(
  tx: TransactionFields,
  reference: Expr<Data>,
  redeemer: Expr<Data>,
  request: RequestFields,
): Expr<Unit> {
  const number = u.unInt(redeemer);
  const inputAt = (index: Expr<Int>) => Input.open(u.head(u.drop(index, Transaction.get.inputs(tx))));
  const isOwn = (input: ReturnType<typeof inputAt>) => u.equalData(Input.raw.reference(input), reference);
  const output = bind([inputAt(number)], (own) =>
    choose(
      isOwn(own),
      Input.raw.output(own),
      check(
        u.less(number, int(0)),
        NOT_THE_INDEX,
        bind(
          [inputAt(u.subtract(int(-1), number))],
          (own) => check(isOwn(own), NOT_THE_INDEX, Input.raw.output(own)),
        ),
      ),
    ));
  return contributeTo(tx, output, request);
}

const NOT_THE_INDEX = "contribute: the redeemer is not the index of the request";

/** The three conditions, for a request in this output. */
function contributeTo(tx: TransactionFields, output: Expr<Data>, request: RequestFields): Expr<Unit> {
  const own = Output.open(output);
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
            [lacksPolicy(policy, Transaction.get.mint(tx)), "contribute: the policy mints or burns"],
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

/** Whether nothing is minted or burnt under a policy; mostly nothing is under any. */
function lacksPolicy(policy: Expr<Data>, mint: Expr<List<Pair<Data, Data>>>): Expr<Bool> {
  return forms(() => call(lacks, policy, mint), () => ifEmpty(mint, bool(true), call(lacks, policy, mint)));
}

/** Whether a map does not have a key. */
const lacks = recursive<[Data, List<Pair<Data, Data>>], Bool>((self) =>
  fn((key, map) =>
    ifEmpty(map, bool(true), choose(u.equalData(u.first(u.head(map)), key), bool(false), self(key, u.tail(map))))
  )
);
