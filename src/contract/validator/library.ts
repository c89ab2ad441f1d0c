/** Functions shared by several handlers, and data constructed at run time. */
import { constr, type Data as PlutusData } from "#src/cardano/data.ts";
import * as u from "#src/contract/uplc/builtin.ts";
import {
  bind,
  bool,
  call,
  check,
  choose,
  data,
  fn,
  forms,
  ifEmpty,
  int,
  recursive,
  unit,
} from "#src/contract/uplc/expression.ts";
import type { Bool, Data, Expr, Fn, Int, List, Pair } from "#src/contract/uplc/term.ts";
import {
  Address,
  Datum,
  Input,
  nothing,
  Output,
  State,
  Transaction,
  type TransactionFields,
} from "#src/contract/validator/context.ts";

/** The output that the input with a reference spends; fails if there is no such input. */
export type Spent = Expr<Fn<[Data, List<Data>], Data>>;

/**
 * Binds `Spent` around a part of the script. Contributing in version 2 spends most of its time here, so it takes few steps for
 * each input. `start` gives the inputs to search in version 3; `fromFirst` is less code and takes more steps.
 */
export function withSpent<R>(body: (spent: Spent) => Expr<R>, start: typeof near = near): Expr<R> {
  const search = fn<[Data, List<Data>], Data>((reference, inputs) => {
    const from = recursive<[List<Data>], Data>((self) =>
      fn((rest) => {
        const input = Input.open(u.head(rest));
        return choose(
          u.equalData(Input.raw.reference(input), reference),
          Input.raw.output(input),
          self(u.tail(rest)),
        );
      })
    );
    return forms(() => call(from, inputs), () => call(from, start(reference, inputs)));
  });
  return bind([search], (spent) => body(spent));
}

/** All inputs. */
export function fromFirst(_reference: Expr<Data>, inputs: Expr<List<Data>>): Expr<List<Data>> {
  return inputs;
}

/** Number of inputs that one step skips. */
const STRIDE = 8;

/**
 * The inputs from a place shortly before the one with a reference. It uses that the ledger sorts inputs by transaction hash.
 * (In another order the input might not be found, and the script would fail.)
 */
function near(reference: Expr<Data>, inputs: Expr<List<Data>>): Expr<List<Data>> {
  const hashIn = (reference: Expr<Data>) => u.unBytes(u.head(u.second(u.unConstr(reference))));
  const further = recursive<[List<Data>, List<Data>], List<Data>>((self) =>
    fn((list, next) =>
      ifEmpty(
        next,
        list,
        choose(
          u.lessBytes(hashIn(Input.raw.reference(Input.open(u.head(next)))), hashIn(reference)),
          self(next, u.drop(int(STRIDE), next)),
          list,
        ),
      )
    )
  );
  return bind([u.drop(int(STRIDE), inputs)], (next) => ifEmpty(next, inputs, call(further, inputs, next)));
}

/** Whether two hashes or names are equal; the ledger has both as bytes. */
export function sameBytes(a: Expr<Data>, b: Expr<Data>): Expr<Bool> {
  return forms(() => u.equalData(a, b), () => u.equalBytes(u.unBytes(a), u.unBytes(b)));
}

/** Functions shared by minting, ending, updating and retracting. */
export interface Library {
  readonly spent: Spent;
  /** The value under a key of a map; fails when there is none. */
  readonly lookup: Expr<Fn<[Data, List<Pair<Data, Data>>], Data>>;
  /** Whether the signatories contain a key's hash. */
  readonly isAmong: IsAmong;
}

/** Whether a list contains some data. */
export type IsAmong = Expr<Fn<[Data, List<Data>], Bool>>;

function isAmong(): IsAmong {
  return recursive<[Data, List<Data>], Bool>((self) =>
    fn((wanted, list) =>
      ifEmpty(list, bool(false), choose(sameBytes(u.head(list), wanted), bool(true), self(wanted, u.tail(list))))
    )
  );
}

/** Binds `IsAmong` alone around a part of the script. */
export function withAmong<R>(body: (isAmong: IsAmong) => Expr<R>): Expr<R> {
  return bind([isAmong()], (isAmong) => body(isAmong));
}

/** Binds the shared functions around a part of the script. */
export function withLibrary<R>(spent: Spent, body: (library: Library) => Expr<R>): Expr<R> {
  const lookup = recursive<[Data, List<Pair<Data, Data>>], Data>((self) =>
    fn((key, map) =>
      bind(
        [u.head(map)],
        (entry) => choose(sameBytes(u.first(entry), key), u.second(entry), self(key, u.tail(map))),
      )
    )
  );
  return bind([lookup, isAmong()], (lookup, isAmong) => body({ spent, lookup, isAmong }));
}

/** Whether a key signed the transaction. */
export function signed(library: Pick<Library, "isAmong">, tx: TransactionFields, key: Expr<Data>): Expr<Bool> {
  return call(library.isAmong, key, Transaction.get.signatories(tx));
}

/** A constructor as data, from fields that are known only at run time. */
export function construct(tag: number, ...fields: Expr<Data>[]): Expr<Data> {
  const list = fields.reduceRight<Expr<List<Data>>>((rest, field) => u.cons(field, rest), u.noData(unit));
  return u.constrData(int(tag), list);
}

/** A constructor as data, known at build time. */
export function known(tag: number, ...fields: PlutusData[]): Expr<Data> {
  return data(constr(tag, ...fields));
}

/** A map of one entry. */
function entry(key: Expr<Data>, value: Expr<Data>): Expr<List<Pair<Data, Data>>> {
  return u.cons(u.pairData(key, value), u.noPairs(unit));
}

/** An amount of one asset name, as the entry of a policy in a value. */
export function quantity(name: Expr<Data>, amount: bigint): Expr<Data> {
  return u.mapData(entry(name, data(amount)));
}

/** One unit of a token, as the part of a value after the lovelace. */
export function oneToken(policy: Expr<Data>, name: Expr<Data>): Expr<List<Pair<Data, Data>>> {
  return entry(policy, quantity(name, 1n));
}

/** Lovelace of a value, which is the first entry in the value of every output. */
export function lovelace(value: Expr<List<Pair<Data, Data>>>): Expr<Int> {
  return u.unInt(u.second(u.head(u.unMap(u.second(u.head(value))))));
}

/** The payment credential of an address. */
export function paymentOf(address: Expr<Data>): Expr<Data> {
  return Address.raw.payment(Address.open(address));
}

/**
 * An output that is exactly a token's state: at that address, with lovelace (the first entry of its value) and one unit of the
 * token, the state as inline datum in its only form, and no reference script.
 */
function stateOutput(
  address: Expr<Data>,
  lovelace: Expr<Pair<Data, Data>>,
  token: { readonly policy: Expr<Data>; readonly name: Expr<Data> },
  state: { readonly owner: Expr<Data>; readonly root: Expr<Data> },
): Expr<Data> {
  const value = u.mapData(u.cons(lovelace, oneToken(token.policy, token.name)));
  const datum = construct(2, construct(1, construct(0, state.owner, state.root)));
  return construct(0, address, value, datum, nothing);
}

/**
 * Checks that the first output is exactly the token's state with a root, and continues with the owner in it.
 */
export function withNextState<R>(
  tx: TransactionFields,
  address: Expr<Data>,
  token: { readonly policy: Expr<Data>; readonly name: Expr<Data> },
  root: Expr<Data>,
  then: (owner: Expr<Data>) => Expr<R>,
): Expr<R> {
  return bind(
    [u.head(Transaction.get.outputs(tx))],
    (output) =>
      bind([Output.open(output)], (fields) =>
        bind([ownerIn(Output.get.datum(fields))], (owner) =>
          check(
            u.equalData(output, stateOutput(address, u.head(Output.get.value(fields)), token, { owner, root })),
            "the first output is not the next state",
            then(owner),
          ))),
  );
}

/** The owner in an output's datum. Assumes that it is an inline state: the caller compares the whole output. */
function ownerIn(datum: Expr<Pair<Int, List<Data>>>): Expr<Data> {
  return State.raw.owner(State.open(Datum.raw.content(Datum.open(u.head(u.second(datum))))));
}
