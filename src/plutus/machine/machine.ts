/**
 * The machine: evaluates terms of Untyped Plutus Core with an explicit stack (CEK) and subtracts the price of every step and
 * every built-in function from a budget. It never recurses.
 */
import type { CostModel } from "#src/plutus/machine/costModel.ts";
import { smallerSize } from "#src/plutus/machine/data.ts";
import { Failure } from "#src/plutus/machine/failure.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import { head, isEmpty, tail } from "#src/plutus/machine/list.ts";
import { sizeOf } from "#src/plutus/machine/measure.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { type Term, TermKind } from "#src/plutus/machine/term.ts";
import { TypeTag } from "#src/plutus/machine/type.ts";
import { bool, data, firstType, integer, list, pair, secondType } from "#src/plutus/machine/unlift.ts";
import { type BuiltinFunction, Closure, Constructed, Env, Partial, type Value } from "#src/plutus/machine/value.ts";
import { Constant, ValueKind } from "#src/plutus/machine/constant.ts";

/**
 * Frames on the stack, each waiting for a value. A frame's parts are pushed before its kind.
 *
 * - ARGUMENT (env, term): the value is a function; the term is its argument;
 * - FUNCTION (function): the value is the function's argument;
 * - FIELD (argument): the value is a function for this argument;
 * - FORCE: the value is forced;
 * - CONSTR (env, term, fields): the value is the next field of the term;
 * - CASE (env, term): the value selects a branch of the term.
 */
const Frame = { ARGUMENT: 0, FUNCTION: 1, FIELD: 2, FORCE: 3, CONSTR: 4, CASE: 5 } as const;

/** Limits and use of an evaluation. */
export class Budget {
  cpu = 0;
  memory = 0;
  /** The sum of prices above 2^53, which numbers cannot count exactly. Only evaluations without a limit get beyond such a price. */
  greatCpu = 0n;
  greatMemory = 0n;

  /** Limits are safe integers or `Infinity`. */
  constructor(readonly mostCpu: number, readonly mostMemory: number) {}
}

/**
 * Evaluates a closed term. It is one function of over 80 lines so that the loop keeps its state (term, scope, value, stack,
 * remaining budget) in local variables: it runs millions of times a second. For the same reason its casts and assertions
 * stay: a frame's kind fixes the types of its parts, a term's kind those of its members, and a check would cost each step.
 *
 * @throws {Failure} if the term has no value or exceeds the budget; `budget` then holds the use up to that point.
 */
export function run(start: Term, costs: CostModel, budget: Budget, caseOnConstants: boolean): Value {
  const { steps, builtins } = costs;
  const { cpu: varCpu, memory: varMemory } = steps.Var;
  const { cpu: constCpu, memory: constMemory } = steps.Const;
  const { cpu: lamCpu, memory: lamMemory } = steps.Lam;
  const { cpu: delayCpu, memory: delayMemory } = steps.Delay;
  const { cpu: builtinCpu, memory: builtinMemory } = steps.Builtin;
  const { cpu: applyCpu, memory: applyMemory } = steps.Apply;
  const { cpu: forceCpu, memory: forceMemory } = steps.Force;
  const { cpu: caseCpu, memory: caseMemory } = steps.Case;
  const { cpu: constrCpu, memory: constrMemory } = steps.Constr;
  const stack: unknown[] = [];
  let top = 0;
  // what is left; a budget without limit counts down from zero
  const limitedCpu = budget.mostCpu !== Infinity;
  const limitedMemory = budget.mostMemory !== Infinity;
  let cpu = (limitedCpu ? budget.mostCpu : 0) - steps.Startup.cpu;
  let memory = (limitedMemory ? budget.mostMemory : 0) - steps.Startup.memory;
  const leastCpu = limitedCpu ? 0 : -Infinity;
  const leastMemory = limitedMemory ? 0 : -Infinity;
  let term = start;
  let env: Env | null = null;
  try {
    compute: for (;;) {
      if (cpu < leastCpu || memory < leastMemory) throw new Failure("budget", "the budget is used up");
      let value: Value;
      switch (term.kind) {
        case TermKind.VARIABLE: {
          cpu -= varCpu;
          memory -= varMemory;
          let scope = env!;
          for (let i = term.number as number; i > 1; i--) scope = scope.next!;
          value = scope.value;
          break;
        }
        case TermKind.CONSTANT:
          cpu -= constCpu;
          memory -= constMemory;
          value = term.constant;
          break;
        case TermKind.LAMBDA:
          cpu -= lamCpu;
          memory -= lamMemory;
          value = new Closure(ValueKind.LAMBDA, term.first!, env);
          break;
        case TermKind.DELAY:
          cpu -= delayCpu;
          memory -= delayMemory;
          value = new Closure(ValueKind.DELAY, term.first!, env);
          break;
        case TermKind.BUILTIN: {
          cpu -= builtinCpu;
          memory -= builtinMemory;
          value = builtins[term.number as number]!.whole;
          break;
        }
        case TermKind.APPLY:
          cpu -= applyCpu;
          memory -= applyMemory;
          stack[top++] = env;
          stack[top++] = term.second;
          stack[top++] = Frame.ARGUMENT;
          term = term.first!;
          continue;
        case TermKind.FORCE:
          cpu -= forceCpu;
          memory -= forceMemory;
          stack[top++] = Frame.FORCE;
          term = term.first!;
          continue;
        case TermKind.CASE:
          cpu -= caseCpu;
          memory -= caseMemory;
          stack[top++] = env;
          stack[top++] = term;
          stack[top++] = Frame.CASE;
          term = term.first!;
          continue;
        case TermKind.CONSTR:
          cpu -= constrCpu;
          memory -= constrMemory;
          if (term.terms.length > 0) {
            stack[top++] = env;
            stack[top++] = term;
            stack[top++] = [];
            stack[top++] = Frame.CONSTR;
            term = term.terms[0]!;
            continue;
          }
          value = new Constructed(term.number, []);
          break;
        default:
          throw new Failure("error", "the script reached its error term");
      }
      // gives the value to what waits for it
      for (;;) {
        if (top === 0) {
          if (cpu < leastCpu || memory < leastMemory) throw new Failure("budget", "the budget is used up");
          return value;
        }
        let fun: Value;
        let argument: Value;
        switch (stack[--top]) {
          case Frame.ARGUMENT:
            term = stack[--top] as Term;
            env = stack[--top] as Env | null;
            stack[top++] = value;
            stack[top++] = Frame.FUNCTION;
            continue compute;
          case Frame.FUNCTION:
            fun = stack[--top] as Value;
            argument = value;
            break;
          case Frame.FIELD:
            fun = value;
            argument = stack[--top] as Value;
            break;
          case Frame.FORCE:
            if (value.kind === ValueKind.DELAY) {
              term = value.body;
              env = value.env;
              continue compute;
            }
            value = forced(value);
            continue;
          case Frame.CONSTR: {
            const fields = stack[--top] as Value[];
            const whole = stack[--top] as Term;
            fields.push(value);
            if (fields.length < whole.terms.length) {
              env = stack[top - 1] as Env | null;
              stack[top++] = whole;
              stack[top++] = fields;
              stack[top++] = Frame.CONSTR;
              term = whole.terms[fields.length]!;
              continue compute;
            }
            top--;
            value = new Constructed(whole.number, fields);
            continue;
          }
          default: {
            const branches = (stack[--top] as Term).terms;
            env = stack[--top] as Env | null;
            if (value.kind === ValueKind.CONSTR) {
              const { fields } = value;
              term = branchAt(branches, value.tag);
              for (let i = fields.length - 1; i >= 0; i--) {
                stack[top++] = fields[i];
                stack[top++] = Frame.FIELD;
              }
              continue compute;
            }
            if (!caseOnConstants || value.kind !== ValueKind.CONSTANT) {
              throw new Failure("type", "no value to branch on");
            }
            const parts = partsOfConstant(value);
            term = branchOf(value, branches);
            for (let i = parts.length - 1; i >= 0; i--) {
              stack[top++] = parts[i];
              stack[top++] = Frame.FIELD;
            }
            continue compute;
          }
        }
        // applies the function
        if (fun.kind === ValueKind.LAMBDA) {
          env = new Env(argument, fun.env);
          term = fun.body;
          continue compute;
        }
        if (fun.kind !== ValueKind.BUILTIN) throw new Failure("type", "applied what is no function");
        if (fun.forces > 0) throw new Failure("type", `${fun.builtin.name} takes a force first`);
        if (fun.missing > 1) {
          value = new Partial(fun.builtin, 0, fun.missing - 1, argument, fun);
          continue;
        }
        const { builtin } = fun;
        if (builtin.isConstant) {
          cpu -= builtin.constantCpu;
          memory -= builtin.constantMemory;
        } else {
          measure(builtin, fun, argument);
          const cpuPrice = builtin.cpu.of(sizes.x, sizes.y, sizes.z, sizes.u);
          const memoryPrice = builtin.memory.of(sizes.x, sizes.y, sizes.z, sizes.u);
          if (cpuPrice <= Number.MAX_SAFE_INTEGER) cpu -= cpuPrice;
          else if (limitedCpu) cpu = -1;
          else budget.greatCpu += builtin.cpu.exactly(sizes.x, sizes.y, sizes.z, sizes.u);
          if (memoryPrice <= Number.MAX_SAFE_INTEGER) memory -= memoryPrice;
          else if (limitedMemory) memory = -1;
          else budget.greatMemory += builtin.memory.exactly(sizes.x, sizes.y, sizes.z, sizes.u);
        }
        if (cpu < leastCpu || memory < leastMemory) throw new Failure("budget", "the budget is used up");
        switch (builtin.arity) {
          case 1:
            value = builtin.run(argument);
            break;
          case 2:
            value = builtin.run(fun.argument!, argument);
            break;
          case 3:
            value = builtin.run(fun.before!.argument!, fun.argument!, argument);
            break;
          default:
            value = builtin.run(...argumentsOf(fun, argument));
        }
      }
    }
  } finally {
    budget.cpu = (limitedCpu ? budget.mostCpu : 0) - cpu;
    budget.memory = (limitedMemory ? budget.mostMemory : 0) - memory;
  }
}

function noBranch(): never {
  throw new Failure("branch", "case has no branch for the value");
}

/** The branch of a number; no script has as many as a number beyond 2^53. */
function branchAt(branches: readonly Term[], number: Int): Term {
  return (typeof number === "number" ? branches[number] : undefined) ?? noBranch();
}

function forced(value: Value): Value {
  if (value.kind !== ValueKind.BUILTIN) throw new Failure("type", "forced what is not delayed");
  const { builtin, forces } = value;
  return builtin.values[forces - 1] ?? takesNoForce(builtin);
}

function takesNoForce({ name }: BuiltinFunction): never {
  throw new Failure("type", `${name} takes an argument, no force`);
}

function argumentsOf(fun: Partial, last: Value): Value[] {
  const values = [last];
  for (let given: Partial | null = fun; given?.argument; given = given.before) values.push(given.argument);
  return values.reverse();
}

/** Sizes of the arguments whose price is being computed. One shared object, because only one function is measured at a time. */
const sizes = { x: 0, y: 0, z: 0, u: 0 };

function measure(builtin: BuiltinFunction, fun: Partial, last: Value): void {
  const { measures } = builtin;
  switch (builtin.arity) {
    case 1:
      sizes.x = sizeOf(measures[0], last);
      return;
    case 2:
      if (measures[0] === Measure.DATA) return measureData(given(fun), last);
      sizes.x = sizeOf(measures[0], given(fun));
      sizes.y = sizeOf(measures[1], last);
      return;
    case 3:
      sizes.x = sizeOf(measures[0], given(fun.before));
      sizes.y = sizeOf(measures[1], given(fun));
      sizes.z = sizeOf(measures[2], last);
      return;
    default:
      sizes.x = sizes.y = sizes.z = 1;
      sizes.u = sizeOf(measures[3], last);
  }
}

/** The last argument of a function that has received one, as its arity says. */
function given(fun: Partial | null): Value {
  const argument = fun?.argument;
  if (!argument) throw new TypeError("a built-in function lacks an argument");
  return argument;
}

/** The price of comparing data depends on the smaller size, so the larger data is not measured completely. */
function measureData(a: Value, b: Value): void {
  sizes.x = sizes.y = smallerSize(data(a), data(b));
}

/** The branch that a constant selects. */
function branchOf(constant: Constant, branches: readonly Term[]): Term {
  const count = branches.length;
  switch (constant.type.tag) {
    case TypeTag.UNIT:
    case TypeTag.PAIR:
      return count === 1 ? branchAt(branches, 0) : noBranch();
    case TypeTag.BOOL:
      // a single branch is that of False
      return count <= 2 ? branchAt(branches, bool(constant) ? 1 : 0) : noBranch();
    case TypeTag.INTEGER:
      return branchAt(branches, integer(constant));
    case TypeTag.LIST:
      return count <= 2 ? branchAt(branches, isEmpty(list(constant)) ? 1 : 0) : noBranch();
    default:
      throw new Failure("type", "no constant to branch on");
  }
}

const NO_PARTS: readonly Value[] = [];

/** The arguments of the branch that a constant selects. */
function partsOfConstant(constant: Constant): readonly Value[] {
  const { type } = constant;
  if (type.tag === TypeTag.PAIR) {
    const [left, right] = pair(constant);
    return [new Constant(firstType(constant), left), new Constant(secondType(constant), right)];
  }
  if (type.tag !== TypeTag.LIST) return NO_PARTS;
  const elements = list(constant);
  if (isEmpty(elements)) return NO_PARTS;
  return [new Constant(firstType(constant), head(elements)), new Constant(type, tail(elements))];
}
