/** Terms from values, for results that are shown or compared: variables in scope are replaced by their values. */
import { BUILTIN_NAMES } from "#src/plutus/machine/builtins/names.ts";
import {
  apply,
  builtin,
  caseOf,
  constant,
  constr,
  delay,
  force,
  lambda,
  type Term,
  TermKind,
} from "#src/plutus/machine/term.ts";
import { type Env, type Partial, type Value } from "#src/plutus/machine/value.ts";
import { ValueKind } from "#src/plutus/machine/constant.ts";

/** What is still to be done: a value or a term to take apart, or a term to put together from those that are done. */
type Todo =
  | { readonly value: Value }
  /** A term under `depth` lambdas of its own, with the variables outside of them in `env`. */
  | { readonly term: Term; readonly env: Env | null; readonly depth: number }
  | { readonly build: (parts: Term[]) => Term; readonly count: number };

/**
 * The term that a value stands for. Values that share parts become terms that repeat them, so that a result may be much greater
 * than what it cost: only for results of known scripts.
 */
export function readBack(result: Value): Term {
  const todo: Todo[] = [{ value: result }];
  const done: Term[] = [];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if ("build" in next) {
      const parts = done.splice(done.length - next.count);
      done.push(next.build(parts));
    } else if ("value" in next) openValue(next.value, todo, done);
    else openTerm(next.term, next.env, next.depth, todo, done);
  }
  return done[0]!;
}

/** Puts parts to be read, in order, before what is built from them. */
function push(todo: Todo[], build: (parts: Term[]) => Term, parts: readonly Todo[]): void {
  todo.push({ build, count: parts.length });
  for (let i = parts.length - 1; i >= 0; i--) todo.push(parts[i]!);
}

function openValue(value: Value, todo: Todo[], done: Term[]): void {
  switch (value.kind) {
    case ValueKind.CONSTANT:
      done.push(constant(value));
      return;
    case ValueKind.LAMBDA:
      return push(todo, ([body]) => lambda(body!), [{ term: value.body, env: value.env, depth: 1 }]);
    case ValueKind.DELAY:
      return push(todo, ([body]) => delay(body!), [{ term: value.body, env: value.env, depth: 0 }]);
    case ValueKind.CONSTR:
      return push(todo, (fields) => constr(value.tag, fields), value.fields.map((field) => ({ value: field })));
    case ValueKind.BUILTIN: {
      const given: Value[] = [];
      for (let part: Partial | null = value; part?.argument; part = part.before) given.push(part.argument);
      let fun = builtin((BUILTIN_NAMES as readonly string[]).indexOf(value.builtin.name));
      for (let i = value.builtin.values.length - 1; i > value.forces; i--) fun = force(fun);
      return push(todo, (args) => args.reduce(apply, fun), given.reverse().map((argument) => ({ value: argument })));
    }
  }
}

function openTerm(term: Term, env: Env | null, depth: number, todo: Todo[], done: Term[]): void {
  const inside = (part: Term, lambdas = 0): Todo => ({ term: part, env, depth: depth + lambdas });
  switch (term.kind) {
    case TermKind.VARIABLE: {
      let scope = (term.number as number) > depth ? env : null;
      for (let i = (term.number as number) - depth; i > 1 && scope !== null; i--) scope = scope.next;
      if (scope === null) done.push(term);
      else todo.push({ value: scope.value });
      return;
    }
    case TermKind.LAMBDA:
      return push(todo, ([body]) => lambda(body!), [inside(term.first!, 1)]);
    case TermKind.DELAY:
      return push(todo, ([body]) => delay(body!), [inside(term.first!)]);
    case TermKind.FORCE:
      return push(todo, ([body]) => force(body!), [inside(term.first!)]);
    case TermKind.APPLY:
      return push(todo, ([fun, argument]) => apply(fun!, argument!), [inside(term.first!), inside(term.second!)]);
    case TermKind.CONSTR:
      return push(todo, (fields) => constr(term.number, fields), term.terms.map((field) => inside(field)));
    case TermKind.CASE:
      return push(todo, ([scrutinee, ...branches]) => caseOf(scrutinee!, branches), [
        inside(term.first!),
        ...term.terms.map((branch) => inside(branch)),
      ]);
    default:
      done.push(term);
  }
}
