/** Constants, functions, bindings and choices: the language without its built-in functions. */
import type { Data as PlutusData } from "#src/cardano/data.ts";
import {
  applied,
  type Bool,
  type Bytes,
  type Constant,
  type Data,
  type Expr,
  type Exprs,
  type Fn,
  type Int,
  type List,
  type Term,
  type Tuple,
  typed,
  type Unit,
  Variable,
} from "#src/contract/uplc/term.ts";

function constant<A>(value: Constant): Expr<A> {
  return typed({ kind: "constant", constant: value });
}

export function int(value: number | bigint): Expr<Int> {
  return constant({ type: "integer", value: BigInt(value) });
}
export function bytes(value: Uint8Array): Expr<Bytes> {
  return constant({ type: "bytestring", value });
}
export function bool(value: boolean): Expr<Bool> {
  return constant({ type: "bool", value });
}
/** Data that is known when the script is built. */
export function data(value: PlutusData): Expr<Data> {
  return constant({ type: "data", value });
}
export const unit: Expr<Unit> = constant({ type: "unit" });

/** A function, written as a TypeScript function over expressions. */
export function fn<A extends readonly unknown[], R>(body: (...args: Exprs<A>) => Expr<R>): Expr<Fn<A, R>> {
  const variables = Array.from({ length: body.length }, () => new Variable());
  const args = variables.map((variable): Expr<unknown> => typed({ kind: "variable", variable }));
  const inner = body(...(args as Exprs<A>)).term;
  return typed(variables.reduceRight<Term>((rest, variable) => ({ kind: "lambda", variable, body: rest }), inner));
}

function terms(expressions: readonly Expr<unknown>[]): Term[] {
  return expressions.map((expression) => expression.term);
}

/** A function applied to all of its arguments. */
export function call<A extends readonly unknown[], R>(fun: Expr<Fn<A, R>>, ...args: Exprs<A>): Expr<R> {
  return typed(applied(fun.term, ...terms(args)));
}

/** Evaluates expressions once and gives them names. Three or more go through a constructor, which takes fewer steps. */
export function bind<A extends readonly unknown[], R>(
  values: readonly [...Exprs<A>],
  body: (...args: Exprs<A>) => Expr<R>,
): Expr<R> {
  if (body.length !== values.length) throw new TypeError(`${values.length} values for ${body.length} names`);
  const fun = fn<A, R>(body).term;
  return typed(values.length < 3 ? applied(fun, ...terms(values)) : unpack(packed(terms(values)), fun));
}

function packed(fields: readonly Term[]): Term {
  return { kind: "constr", tag: 0, fields };
}
function unpack(scrutinee: Term, branch: Term): Term {
  return { kind: "case", scrutinee, branches: [branch] };
}

/** Packs several values into one. */
export function tuple<A extends readonly unknown[]>(...values: Exprs<A>): Expr<Tuple<A>> {
  return typed(packed(terms(values)));
}

/** Binds the parts of a tuple. */
export function untuple<A extends readonly unknown[], R>(
  from: Expr<Tuple<A>>,
  body: (...args: Exprs<A>) => Expr<R>,
): Expr<R> {
  return typed(unpack(from.term, fn<A, R>(body).term));
}

/** A function that may call itself. */
export function recursive<A extends readonly unknown[], R>(
  body: (self: (...args: Exprs<A>) => Expr<R>) => Expr<Fn<A, R>>,
): Expr<Fn<A, R>> {
  const self = new Variable();
  const again: Term = { kind: "variable", variable: self };
  const knot = applied(again, again);
  const step = body((...args) => typed(applied(knot, ...terms(args)))).term;
  const twice = new Variable();
  const f: Term = { kind: "variable", variable: twice };
  return typed(
    applied({ kind: "lambda", variable: twice, body: applied(f, f) }, { kind: "lambda", variable: self, body: step }),
  );
}

const delayed = (term: Term): Term => ({ kind: "delay", body: term });
const forced = (term: Term): Term => ({ kind: "force", body: term });

/** One of two expressions; the other is not evaluated. */
export function choose<A>(condition: Expr<Bool>, yes: Expr<A>, no: Expr<A>): Expr<A> {
  const ifThenElse: Term = { kind: "builtin", name: "ifThenElse" };
  return typed(forced(applied(ifThenElse, condition.term, delayed(yes.term), delayed(no.term))));
}

/** One of two expressions by whether a list is empty; the other is not evaluated. */
export function ifEmpty<A, R>(list: Expr<List<A>>, empty: Expr<R>, more: Expr<R>): Expr<R> {
  const chooseList: Term = { kind: "builtin", name: "chooseList" };
  return typed(forced(applied(chooseList, list.term, delayed(empty.term), delayed(more.term))));
}

/**
 * A part with two implementations: `plain` for every protocol version, `cased` for versions whose `case` accepts constants
 * (see `BuildOptions`). Both give the same result for every valid script context, except for redeemers that only one version has.
 */
export function forms<A>(plain: () => Expr<A>, cased: () => Expr<A>): Expr<A> {
  return typed({ kind: "forms", plain: () => plain().term, cased: () => cased().term });
}

/** The branch of a small number, from 0 on; fails for any other number. Only in builds whose `case` takes constants. */
export function branch<A>(number: Expr<Int>, ...branches: readonly Expr<A>[]): Expr<A> {
  return typed({ kind: "case", on: "integer", scrutinee: number.term, branches: terms(branches) });
}

/** `yes` if a constructor's number is `tag` (0 or 1), otherwise `no`. For other numbers the script may fail instead. */
export function chooseByTag<A>(number: Expr<Int>, tag: 0 | 1, yes: Expr<A>, no: Expr<A>): Expr<A> {
  return forms(
    () => choose({ term: applied({ kind: "builtin", name: "equalsInteger" }, number.term, int(tag).term) }, yes, no),
    () => branch(number, ...(tag === 0 ? [yes, no] : [no, yes])),
  );
}

/** Both; the second is not evaluated when the first is false. */
export function and(a: Expr<Bool>, b: Expr<Bool>): Expr<Bool> {
  return choose(a, b, bool(false));
}

/** Either; the second is not evaluated when the first is true. */
export function or(a: Expr<Bool>, b: Expr<Bool>): Expr<Bool> {
  return choose(a, bool(true), b);
}

/** Fails the script; the message is traced in builds that have traces. */
export function fail<A>(message: string): Expr<A> {
  return typed({ kind: "error", message });
}

/** Continues with `then` if the condition holds; otherwise fails the script. */
export function check<A>(condition: Expr<Bool>, message: string, then: Expr<A>): Expr<A> {
  return choose(condition, then, fail(message));
}

/** Continues with `then` if the condition does not hold; otherwise fails the script. */
export function refuse<A>(condition: Expr<Bool>, message: string, then: Expr<A>): Expr<A> {
  return choose(condition, fail(message), then);
}

/** Continues with `then` if all conditions hold; otherwise fails with the message of the first one that does not. */
export function checkAll<A>(conditions: readonly (readonly [Expr<Bool>, string])[], then: Expr<A>): Expr<A> {
  return conditions.reduceRight((rest, [condition, message]) => check(condition, message, rest), then);
}
