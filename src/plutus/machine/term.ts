/** Terms of Untyped Plutus Core with variables by de Bruijn index. */
import type { Int } from "#src/plutus/machine/integer.ts";
import type { Constant } from "#src/plutus/machine/constant.ts";

/** Kinds that the machine evaluates in one step come first. */
export const TermKind = {
  VARIABLE: 0,
  CONSTANT: 1,
  LAMBDA: 2,
  DELAY: 3,
  BUILTIN: 4,
  APPLY: 5,
  FORCE: 6,
  CASE: 7,
  CONSTR: 8,
  ERROR: 9,
} as const;
export type TermKind = (typeof TermKind)[keyof typeof TermKind];

/** A term. All kinds share one class with few fields, which keeps the machine's loop fast and programs small. */
export class Term {
  constructor(
    readonly kind: TermKind,
    /** De Bruijn index of a variable (1 is the innermost), number of a built-in function in the flat encoding, number of a constructor. */
    readonly number: Int,
    /** Body of a lambda, a delay or a force; function of an application; scrutinee of a case. */
    readonly first: Term | null,
    /** Argument of an application. */
    readonly second: Term | null,
    private readonly rest: readonly Term[] | Constant | null,
  ) {}

  /** Fields of a constructor, branches of a case. */
  get terms(): readonly Term[] {
    return this.rest as readonly Term[];
  }

  get constant(): Constant {
    return this.rest as Constant;
  }
}

/** A program: its Plutus Core version and its term. */
export interface Program {
  readonly version: readonly [major: Int, minor: Int, patch: Int];
  readonly term: Term;
  /** Whether some variable is not bound; such a program cannot run. */
  readonly open: boolean;
}

/** Shared objects for frequent terms that do not depend on their place. */
const VARIABLES = Array.from({ length: 64 }, (_, i) => new Term(TermKind.VARIABLE, i, null, null, null));
const BUILTINS = Array.from({ length: 128 }, (_, i) => new Term(TermKind.BUILTIN, i, null, null, null));
export const ERROR: Term = new Term(TermKind.ERROR, 0, null, null, null);

export function variable(index: number): Term {
  return VARIABLES[index] ?? new Term(TermKind.VARIABLE, index, null, null, null);
}
export function constant(value: Constant): Term {
  return new Term(TermKind.CONSTANT, 0, null, null, value);
}
export function lambda(body: Term): Term {
  return new Term(TermKind.LAMBDA, 0, body, null, null);
}
export function delay(body: Term): Term {
  return new Term(TermKind.DELAY, 0, body, null, null);
}
export function force(body: Term): Term {
  return new Term(TermKind.FORCE, 0, body, null, null);
}
export function apply(fun: Term, argument: Term): Term {
  return new Term(TermKind.APPLY, 0, fun, argument, null);
}
/** A built-in function by its number, of seven bits. */
export function builtin(tag: number): Term {
  return BUILTINS[tag] ?? new Term(TermKind.BUILTIN, tag, null, null, null);
}
export function constr(tag: Int, fields: readonly Term[]): Term {
  return new Term(TermKind.CONSTR, tag, null, null, fields);
}
export function caseOf(scrutinee: Term, branches: readonly Term[]): Term {
  return new Term(TermKind.CASE, 0, scrutinee, null, branches);
}
