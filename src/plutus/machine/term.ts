/** Terms of Untyped Plutus Core with variables by de Bruijn index. */
import type { Int } from "#src/plutus/machine/integer.ts";
import type { Constant } from "#src/plutus/machine/value.ts";

/** The kinds that a machine evaluates in one step come first. */
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

/** A term. All kinds are one class with the same fields, so that the machine's loop reads each in one way. */
export class Term {
  constructor(
    readonly kind: TermKind,
    /** De Bruijn index of a variable; 1 is the innermost. */
    readonly index: number,
    /** Body of a lambda, a delay or a force; function of an application; scrutinee of a case. */
    readonly first: Term | null,
    /** Argument of an application. */
    readonly second: Term | null,
    /** Fields of a constructor, branches of a case. */
    readonly terms: readonly Term[] | null,
    readonly constant: Constant | null,
    /** A built-in function by its number in the flat encoding; `-1` for other kinds. */
    readonly builtin: number,
    /** Number of a constructor. */
    readonly tag: Int,
  ) {}
}

/** A program: its Plutus Core version and its term. */
export interface Program {
  readonly version: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly term: Term;
  /** Whether some variable is not bound; such a program is not run. */
  readonly open: boolean;
}

function term(
  kind: TermKind,
  parts: {
    index?: number;
    first?: Term;
    second?: Term;
    terms?: readonly Term[];
    constant?: Constant;
    builtin?: number;
    tag?: Int;
  },
): Term {
  return new Term(
    kind,
    parts.index ?? 0,
    parts.first ?? null,
    parts.second ?? null,
    parts.terms ?? null,
    parts.constant ?? null,
    parts.builtin ?? -1,
    parts.tag ?? 0,
  );
}

export const variable = (index: number): Term => term(TermKind.VARIABLE, { index });
export const constant = (value: Constant): Term => term(TermKind.CONSTANT, { constant: value });
export const lambda = (body: Term): Term => term(TermKind.LAMBDA, { first: body });
export const delay = (body: Term): Term => term(TermKind.DELAY, { first: body });
export const force = (body: Term): Term => term(TermKind.FORCE, { first: body });
export const apply = (fun: Term, argument: Term): Term => term(TermKind.APPLY, { first: fun, second: argument });
export const builtin = (tag: number): Term => term(TermKind.BUILTIN, { builtin: tag });
export const constr = (tag: Int, fields: readonly Term[]): Term => term(TermKind.CONSTR, { tag, terms: fields });
export const caseOf = (scrutinee: Term, branches: readonly Term[]): Term =>
  term(TermKind.CASE, { first: scrutinee, terms: branches });
export const ERROR: Term = term(TermKind.ERROR, {});
