/** Terms that are smaller than a term in one place: candidates in the search for the smallest term with a property. */
import {
  apply,
  caseOf,
  constant,
  constr,
  delay,
  force,
  lambda,
  type Program,
  type Term,
  TermKind,
} from "#src/plutus/machine/term.ts";
import { NOTHING } from "#src/plutus/machine/value.ts";

const UNIT = constant(NOTHING);

function partsOf(term: Term): readonly Term[] {
  if (term.kind === TermKind.CONSTR) return term.terms;
  if (term.kind === TermKind.CASE) return [term.first!, ...term.terms];
  return [term.first, term.second].filter((part) => part !== null);
}

function withParts(term: Term, parts: readonly Term[]): Term {
  const [first, second] = parts as [Term, Term];
  switch (term.kind) {
    case TermKind.LAMBDA:
      return lambda(first);
    case TermKind.DELAY:
      return delay(first);
    case TermKind.FORCE:
      return force(first);
    case TermKind.APPLY:
      return apply(first, second);
    case TermKind.CASE:
      return caseOf(first, parts.slice(1));
    case TermKind.CONSTR:
      return constr(term.number, parts);
    default:
      return term;
  }
}

/** Replaces a term by one of its parts, or any part by the unit. The depth of the recursion is that of the term. */
function* smaller(term: Term): Generator<Term> {
  const parts = partsOf(term);
  yield* parts;
  if (term !== UNIT && term.kind !== TermKind.CONSTANT) yield UNIT;
  for (const [i, part] of parts.entries()) {
    for (const less of smaller(part)) yield withParts(term, parts.with(i, less));
  }
}

function isClosed(term: Term, depth = 0): boolean {
  if (term.kind === TermKind.VARIABLE) return (term.number as number) <= depth;
  return partsOf(term).every((part) => isClosed(part, term.kind === TermKind.LAMBDA ? depth + 1 : depth));
}

/**
 * The smallest program that still has the property, found by replacing a program with one that is smaller in one place.
 * `have` returns which of several programs have the property.
 */
export async function least(
  program: Program,
  have: (programs: readonly Program[]) => Promise<readonly boolean[]>,
): Promise<Program> {
  for (let best = program;;) {
    const tried = [...smaller(best.term)].filter((term) => isClosed(term)).map((term) => ({ ...best, term }));
    const found = (await have(tried)).indexOf(true);
    if (found < 0) return best;
    best = tried[found]!;
  }
}
