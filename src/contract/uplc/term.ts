/** Terms of Untyped Plutus Core 1.1.0 (Plutus V3), and the types of expressions. */
import type { Data as PlutusData } from "#src/cardano/data.ts";
import type { BuiltinName } from "#src/contract/uplc/builtinTable.ts";

/** A variable; its identity is the object. */
export class Variable {
  readonly kind = "name";
}

export type Constant =
  | { readonly type: "integer"; readonly value: bigint }
  | { readonly type: "bytestring"; readonly value: Uint8Array }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "unit" }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "data"; readonly value: PlutusData };

export type Term =
  | { readonly kind: "variable"; readonly variable: Variable }
  | { readonly kind: "lambda"; readonly variable: Variable; readonly body: Term }
  | { readonly kind: "apply"; readonly fun: Term; readonly argument: Term }
  | { readonly kind: "constant"; readonly constant: Constant }
  | { readonly kind: "builtin"; readonly name: BuiltinName }
  | { readonly kind: "force"; readonly body: Term }
  | { readonly kind: "delay"; readonly body: Term }
  | { readonly kind: "error"; readonly message: string }
  | { readonly kind: "constr"; readonly tag: number; readonly fields: readonly Term[] }
  | {
    readonly kind: "case";
    /** The kind of the scrutinee; default: a constructor. */
    readonly on?: "bool" | "integer" | "list" | "pair";
    readonly scrutinee: Term;
    readonly branches: readonly Term[];
  }
  /** A part with two implementations: for every protocol version, and for versions with `case` on constants. A build uses one. */
  | { readonly kind: "forms"; readonly plain: () => Term; readonly cased: () => Term };

// Types of expressions, for the type checker only.
export interface Int {
  readonly type: "int";
}
export interface Bytes {
  readonly type: "bytes";
}
export interface Bool {
  readonly type: "bool";
}
export interface Unit {
  readonly type: "unit";
}
/** Plutus data: datums, redeemers and script contexts. */
export interface Data {
  readonly type: "data";
}
export interface List<A> {
  readonly type: "list";
  readonly element: A;
}
export interface Pair<A, B> {
  readonly type: "pair";
  readonly first: A;
  readonly second: B;
}
/** Several values in one (a sum of products with one constructor); cheaper than a pair. */
export interface Tuple<A extends readonly unknown[]> {
  readonly type: "tuple";
  readonly elements: A;
}
/** A curried function. */
export interface Fn<A extends readonly unknown[], R> {
  readonly type: "function";
  readonly parameters: A;
  readonly result: R;
}

/** An expression that gives an `A`. */
export interface Expr<A> {
  readonly term: Term;
  readonly gives?: A;
}

/** Expressions of several types. */
export type Exprs<A extends readonly unknown[]> = { readonly [K in keyof A]: Expr<A[K]> };

/** Gives a term a type, which the caller must know to be right. */
export function typed<A>(term: Term): Expr<A> {
  return { term };
}

/** Applies a function's term to arguments, one after the other. */
export function applied(fun: Term, ...args: readonly Term[]): Term {
  return args.reduce<Term>((f, argument) => ({ kind: "apply", fun: f, argument }), fun);
}
