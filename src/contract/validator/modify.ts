/**
 * Updating a token: its owner applies requests, in the ledger's order of inputs, and from version 3 on refuses others.
 *
 * The first output is the next state. Output n refunds the n-th request that is applied or refused. Each refund is compared with
 * one output, so no output refunds two requests, and no request can get the refund of another.
 *
 * No other contract may count such an output as its own payment: no second state of the policy is spent (its requests would
 * count the same outputs), and no other script runs. Each run has a redeemer, so there are as many redeemers as inputs at the
 * script. (Native scripts have no redeemers and see no outputs, so they are allowed.)
 *
 * An applied request is spent with `contribute`, a skipped one with `retract`, so its own redeemer shows readers of the ledger
 * how it ended. In version 3, contributing is a number from 0 on, and no other run of the script accepts a number.
 *
 * In version 3 the owner may also refuse a request: its change is not made, the whole deposit returns, and its redeemer is a
 * negative number. Its own run checks what that of an applied request checks, so both take part in an update of their token.
 *
 * Requests may share a crown (`crown.ts`): proofs then omit the top branch, and each request changes the crown instead of the
 * root.
 */
import { constr } from "#src/cardano/data.ts";
import * as u from "#src/contract/uplc/builtin.ts";
import {
  and,
  bind,
  bool,
  branch,
  call,
  check,
  checkAll,
  choose,
  chooseByTag,
  fail,
  fn,
  forms,
  ifEmpty,
  int,
  or,
  recursive,
  unit,
} from "#src/contract/uplc/expression.ts";
import type { Bool, Bytes, Data, Expr, Int, List, Pair, Unit } from "#src/contract/uplc/term.ts";
import {
  Address,
  Apply,
  Crowned,
  Datum,
  Input,
  Output,
  Request,
  type RequestFields,
  State,
  type StateFields,
  Transaction,
  type TransactionFields,
} from "#src/contract/validator/context.ts";
import {
  construct,
  known,
  type Library,
  lovelace,
  paymentOf,
  signed,
  withNextState,
} from "#src/contract/validator/library.ts";
import { type CrownRoot, placeOf, slotOf, withCrownRoot, withSlot } from "#src/contract/validator/crown.ts";
import { rootAfter } from "#src/contract/validator/operation.ts";
import { type Follow, withFollow } from "#src/contract/validator/proof.ts";
import { signedByRequester } from "#src/contract/validator/retract.ts";
import { type Own, withOwn } from "#src/contract/validator/state.ts";

/** Whether the transaction may update the token: the redeemer is modify 2, or 4 with a crown. (In version 2 the caller checks that.) */
export function modify(
  library: Library,
  tx: TransactionFields,
  redeemer: Expr<Pair<Int, List<Data>>>,
  reference: Expr<Data>,
  state: StateFields,
): Expr<Unit> {
  return withOwn(
    library,
    tx,
    reference,
    state,
    (own) =>
      bind(
        [nextRoot(library, tx, redeemer, reference, state, own)],
        (root) =>
          withNextState(tx, own.address, own, u.bytesData(root), (owner) =>
            check(
              or(u.equalData(owner, State.raw.owner(state)), signed(library, tx, owner)),
              "modify: the next owner did not sign",
              unit,
            )),
      ),
  );
}

/** Redeemers of the transaction: one for each script run. */
type Runs = List<Pair<Data, Data>>;
type DatumFields = ReturnType<typeof Datum.of>;
type OutputFields = ReturnType<typeof Output.open>;

/** Actions on requests: apply with a proof, and without fields skip and, in version 3, refuse (2). */
const APPLY = 0;
const SKIP = 1;

/**
 * Redeemers of requests: constructors without fields. In version 3, contributing is a number from 0 on and being refused a
 * negative one.
 */
const CONTRIBUTE = 1;
const RETRACT = 3;

/** The redeemer of the next run. The ledger lists redeemers of inputs first, in the order of inputs. */
function redeemerOf(runs: Expr<Runs>): Expr<Data> {
  return u.second(u.head(runs));
}

/** Whether the next run is of a request that contributes. (In version 3 its own run checks that the number is its index.) */
function contributes(runs: Expr<Runs>): Expr<Bool> {
  return forms(
    () => u.equalData(redeemerOf(runs), known(CONTRIBUTE)),
    () => u.lessOrEqual(int(0), u.unInt(redeemerOf(runs))),
  );
}

/** Whether the next run is of a request that is refused. Only in version 3. */
function isRefused(runs: Expr<Runs>): Expr<Bool> {
  return u.less(u.unInt(redeemerOf(runs)), int(0));
}

/** Whether the next run is of a request that is retracted. */
function retracts(runs: Expr<Runs>): Expr<Bool> {
  return u.equalData(redeemerOf(runs), known(RETRACT));
}

/** Whether a redeemer is modify with a crown, by its constructor. In version 3 it fails unless the redeemer is modify. */
function isCrowned(constructor: Expr<Int>): Expr<Bool> {
  const no = () => fail<Bool>("modify: no such redeemer");
  return forms(
    () => u.equalInts(constructor, int(4)),
    () => branch(constructor, no(), no(), bool(false), no(), bool(true)),
  );
}

/** The new root, computed from the crown if there is one. */
function nextRoot(
  library: Library,
  tx: TransactionFields,
  redeemer: Expr<Pair<Int, List<Data>>>,
  reference: Expr<Data>,
  state: StateFields,
  own: Own,
): Expr<Bytes> {
  return bind(
    [isCrowned(u.first(redeemer)), u.second(redeemer)],
    (crowned, fields) =>
      withCrownRoot((crownRoot) =>
        bind([choose(crowned, startOf(crownRoot, fields, state), State.get.root(state))], (start) => {
          const actions = u.unList(u.head(choose(crowned, u.tail(fields), fields)));
          return bind(
            [afterAll(library, tx, { crowned, actions, start }, reference, own)],
            (end) => choose(crowned, call(crownRoot, end), end),
          );
        })
      ),
  );
}

/** The crown of a redeemer; fails unless it hashes to the current root. */
function startOf(crownRoot: CrownRoot, fields: Expr<List<Data>>, state: StateFields): Expr<Bytes> {
  return bind([Crowned.get.crown(Crowned.of(fields))], (crown) =>
    check(
      u.equalBytes(call(crownRoot, crown), State.get.root(state)),
      "modify: the crown does not lead to the root",
      crown,
    ));
}

/** The value that requests change: the trie's root, or its crown. */
interface Applying {
  readonly crowned: Expr<Bool>;
  readonly actions: Expr<List<Data>>;
  readonly start: Expr<Bytes>;
}

/**
 * Processes the inputs; each consumes its redeemer, action and refund. Gives the new root or crown. It is one function of over
 * 80 lines because it is one expression: its parts share the names that it binds.
 */
function afterAll(
  library: Library,
  tx: TransactionFields,
  { crowned, actions, start }: Applying,
  reference: Expr<Data>,
  own: Own,
): Expr<Bytes> {
  return bind([construct(0, own.policy, own.name)], (token) =>
    withFollow((follow) => {
      const go = recursive<[List<Data>, Runs, List<Data>, List<Data>, Bytes], Bytes>((self) =>
        fn((inputs, runs, actions, refunds, root) => {
          const finished = checkAll([
            [u.isEmpty(actions), "modify: an action without a request"],
            [u.isEmpty(runs), "modify: another script runs"],
          ], root);
          const input = (input: ReturnType<typeof Input.open>, rest: Expr<List<Data>>, output: OutputFields) =>
            choose(
              u.equalData(paymentOf(Output.raw.address(output)), own.credential),
              bind([datumOf(output), u.tail(runs)], (datum, others) => {
                const pass = self(rest, others, actions, refunds, root);
                const request = (datum: DatumFields, request: RequestFields) =>
                  choose(
                    u.equalData(Request.raw.token(request), token),
                    bind([u.unConstr(u.head(actions)), u.tail(actions)], (action, more) => {
                      const kind = u.first(action);
                      const refunded = (root: Expr<Bytes>) => self(rest, others, more, u.tail(refunds), root);
                      const apply = check(
                        contributes(runs),
                        "modify: a request is applied that does not contribute",
                        checkApplicable(
                          datum,
                          request,
                          output,
                          u.head(refunds),
                          refunded(applied(follow, crowned, root, request, u.second(action))),
                        ),
                      );
                      const skip = checkAll([
                        [signedByRequester(library, tx, request), "modify: a request is passed over"],
                        [retracts(runs), "modify: a request is passed over that is not retracted"],
                      ], self(rest, others, more, refunds, root));
                      const refuse = () =>
                        checkAll([
                          [isRefused(runs), "modify: a request is refused that contributes"],
                          [isReturned(request, output, u.head(refunds)), "modify: a deposit that does not return"],
                        ], refunded(root));
                      return forms(
                        () =>
                          choose(
                            u.equalInts(kind, int(APPLY)),
                            apply,
                            check(u.equalInts(kind, int(SKIP)), "modify: no such action", skip),
                          ),
                        () => branch(kind, apply, skip, refuse()),
                      );
                    }),
                    pass,
                  );
                // the constructor of the own state was already checked to be 1
                return chooseByTag(
                  u.first(datum),
                  0,
                  bind(
                    [Datum.of(u.second(datum))],
                    (datum) => bind([Request.open(Datum.raw.content(datum))], (fields) => request(datum, fields)),
                  ),
                  check(
                    u.equalData(Input.raw.reference(input), reference),
                    "modify: a second state is spent",
                    pass,
                  ),
                );
              }),
              self(rest, runs, actions, refunds, root),
            );
          return ifEmpty(
            inputs,
            finished,
            bind(
              [Input.open(u.head(inputs)), u.tail(inputs)],
              (fields, rest) => bind([Output.open(Input.raw.output(fields))], (output) => input(fields, rest, output)),
            ),
          );
        })
      );
      return call(
        go,
        Transaction.get.inputs(tx),
        Transaction.get.redeemers(tx),
        actions,
        u.tail(Transaction.get.outputs(tx)),
        start,
      );
    }));
}

/**
 * Constructor and fields of the datum of an output at the script. It fails unless the datum is inline: a missing datum has no
 * field, and a hash is no constructor.
 */
function datumOf(output: OutputFields): Expr<Pair<Int, List<Data>>> {
  return u.unConstr(u.head(u.second(Output.get.datum(output))));
}

function isKey(credential: Expr<Data>): Expr<Bool> {
  return u.equalInts(u.first(u.unConstr(credential)), int(0));
}

/** The root, or the crown, after a request. */
function applied(
  follow: Follow,
  crowned: Expr<Bool>,
  before: Expr<Bytes>,
  request: RequestFields,
  action: Expr<List<Data>>,
): Expr<Bytes> {
  const proof = Apply.get.proof(Apply.of(action));
  return bind([u.blake2b(Request.get.key(request))], (path) =>
    bind([placeOf(path)], (at) => {
      const root = choose(crowned, slotOf(before, at), before);
      const above = choose(crowned, int(1), int(0));
      return bind(
        [rootAfter(follow, root, path, above, Request.get.operation(request), proof)],
        (after) => choose(crowned, withSlot(before, at, after), after),
      );
    }));
}

/**
 * Continues if a request has exactly the required form, holds only lovelace and at least the fee that it offers, and is
 * refunded by that output. The form is checked because strict readers of the ledger would ignore a request of another form.
 */
function checkApplicable<R>(
  datum: DatumFields,
  request: RequestFields,
  output: OutputFields,
  refund: Expr<Data>,
  then: Expr<R>,
): Expr<R> {
  return bind(
    [Request.raw.refund(request), Request.get.fee(request), Output.get.value(output)],
    (address, fee, value) =>
      bind(
        [lovelace(value), Output.open(refund)],
        (locked, back) =>
          bind([Output.get.value(back)], (returned) =>
            checkAll([
              [Datum.ends(datum), "modify: a datum with more than a request"],
              [u.equalInts(u.first(Datum.get.content(datum)), int(0)), "modify: a request under another constructor"],
              [Request.ends(request), "modify: a request with more fields"],
              [u.isEmpty(u.tail(value)), "modify: a request holds assets"],
              [u.lessOrEqual(int(0), fee), "modify: a negative fee"],
              [u.lessOrEqual(fee, locked), "modify: a fee that the request does not hold"],
              [u.equalData(Output.raw.address(back), address), "modify: a refund to another address"],
              [isKeyAddress(address), "modify: a refund address that is not a key's"],
              [u.isEmpty(u.tail(returned)), "modify: a refund with assets"],
              [u.lessOrEqual(u.subtract(locked, fee), lovelace(returned)), "modify: a refund that is too small"],
              [
                u.equalData(u.constrData(int(0), Output.from.datum(back)), plain),
                "modify: a refund with a datum or a script",
              ],
            ], then)),
      ),
  );
}

/**
 * Whether an output is at a refused request's refund address and holds exactly what the request does, without datum and script.
 * It is compared as a whole, so the form of the request does not matter: all that it holds goes where it says.
 */
function isReturned(request: RequestFields, output: OutputFields, refund: Expr<Data>): Expr<Bool> {
  const rest = u.second(u.unConstr(plain));
  const returned = u.cons(Request.raw.refund(request), u.cons(Output.raw.value(output), rest));
  return u.equalData(refund, u.constrData(int(0), returned));
}

/** An output's datum and reference script when it has neither. */
const plain = known(0, constr(0), constr(1));

/**
 * Whether an address has a key as its payment part, and no pointer as its stake part. The rest is well formed, because an
 * output of the transaction has this address.
 */
function isKeyAddress(data: Expr<Data>): Expr<Bool> {
  return bind([Address.open(data)], (address) =>
    bind([Address.get.stake(address)], (stake) =>
      and(
        isKey(Address.raw.payment(address)),
        chooseByTag(u.first(stake), 1, bool(true), isKey(u.head(u.second(stake)))),
      )));
}
