/**
 * Makes a node cheaper without changing its value or whether it fails. (Which of several failures comes first may change: all
 * failures of a script are alike.)
 */
import {
  bound,
  builtin,
  call,
  caseOf,
  count,
  type Lambda,
  lambda,
  mapChildren,
  type Node,
  occurrences,
  pass,
  replaced,
  substituted,
  variable,
} from "#src/contract/uplc/cases/node.ts";
import { once } from "#src/contract/uplc/cases/repeated.ts";
import { needs, partsTaken, projection } from "#src/contract/uplc/cases/strict.ts";
import { BUILTINS } from "#src/contract/uplc/builtinTable.ts";
import { Variable } from "#src/contract/uplc/term.ts";

/** Simplifies until nothing changes. */
export function simplified(node: Node): Node {
  let [before, after] = [node, node];
  for (let round = 0; round < 24; round++) {
    [before, after] = [after, once(destructured(improved(after)))];
    if (sizeOf(before) === sizeOf(after) && same(before, after)) break;
  }
  return dropped(after);
}

const sizeOf = (node: Node) => count(node, () => true);

/** Whether two nodes have the same shape, which is enough to detect that a round changed nothing. */
function same(a: Node, b: Node): boolean {
  return shape(a) === shape(b);
}
function shape(node: Node): string {
  switch (node.kind) {
    case "apply":
      return `a(${[node.fun, ...node.args].map(shape).join()})`;
    case "case":
      return `c${node.on}(${[node.scrutinee, ...node.branches].map(shape).join()})`;
    case "let":
      return `l(${shape(node.value)},${shape(node.body)})`;
    case "lambda":
      return `f${node.parameters.length}(${shape(node.body)})`;
    case "constr":
      return `k(${node.fields.map(shape).join()})`;
    case "builtin":
      return node.name;
    case "delay":
    case "force":
      return `${node.kind}(${shape(node.body)})`;
    default:
      return node.kind.slice(0, 1);
  }
}

/** Whether a node is a value: it cannot fail and takes one step. */
function isValue(node: Node): boolean {
  switch (node.kind) {
    case "variable":
    case "constant":
    case "builtin":
    case "lambda":
    case "delay":
      return true;
    case "constr":
      return node.fields.every(isValue);
    default:
      return false;
  }
}

/** Whether a node may be duplicated: it is small code and takes one step. */
function isSmall(node: Node): boolean {
  if (node.kind === "constant") {
    const { constant } = node;
    return constant.type !== "data" && (constant.type !== "bytestring" || constant.value.length === 0);
  }
  return node.kind === "variable" || node.kind === "error" ||
    (node.kind === "builtin" && BUILTINS[node.name][1] === 0);
}

const improved: (node: Node) => Node = pass((node) => rule(mapChildren(node, improved)));

function rule(node: Node): Node {
  switch (node.kind) {
    case "force":
      return node.body.kind === "delay" ? node.body.body : node;
    case "apply":
      return node.fun.kind === "lambda" || node.fun.kind === "let" || node.fun.kind === "apply"
        ? call(node.fun, node.args)
        : node;
    case "let":
      return binding(node);
    case "case":
      return choice(node);
    default:
      return node;
  }
}

/** Names of both halves of a list or a pair. */
type Halves = readonly [Variable, Variable];
interface Parting {
  readonly on: "list" | "pair";
  readonly branches: readonly [Lambda];
}

/** Whether a node is a `case` that only binds the parts of a list or pair. */
function isParting(node: Node): node is Extract<Node, { kind: "case" }> & Parting {
  return node.kind === "case" && node.branches.length === 1 && node.branches[0]?.kind === "lambda" &&
    (node.on === "list" || node.on === "pair");
}

/** Moves a change inside a node's outer bindings; undefined if it has none. */
function inside(node: Node, change: (node: Node) => Node): Node | undefined {
  if (node.kind === "let") return bound(node.variable, node.value, change(node.body));
  if (!isParting(node)) return undefined;
  const [{ parameters, body }] = node.branches;
  return caseOf(node.on, node.scrutinee, lambda(parameters, change(body)));
}

function binding(node: Extract<Node, { kind: "let" }>): Node {
  const { variable: name, value, body } = node;
  const outside = inside(value, (inner) => bound(name, inner, body));
  if (outside) return outside;
  const times = occurrences(name, body);
  if (times === 0) return isValue(value) ? body : node;
  const moves = (isSmall(value) && isValue(value)) ||
    (times === 1 && ((isValue(value) && value.kind !== "constr") || needs(body).variables.has(name)));
  if (moves) return substituted(body, name, value);
  const half = projection(value);
  if (half) {
    // binds both halves at once
    const parts: Halves = half.half === 0 ? [name, new Variable()] : [new Variable(), name];
    return caseOf(half.on, half.of, lambda(parts, withHalves(body, half.of, half.on, parts)));
  }
  const on = partedOnly(name, body);
  if (on && (on === "pair" || needs(body).parted.has(name))) {
    const parts: Halves = [new Variable(), new Variable()];
    return caseOf(on, value, lambda(parts, withHalves(body, variable(name), on, parts)));
  }
  if (value.kind === "lambda" && times > 1) return sunk(name, value, body) ?? node;
  return node;
}

/** The kind that a variable is destructured as, if it has no other use. */
function partedOnly(name: Variable, body: Node): "list" | "pair" | undefined {
  let on: "list" | "pair" | undefined;
  const halves = count(body, (one) => {
    const taken = destructuring(one);
    if (taken?.of.kind !== "variable" || taken.of.variable !== name) return false;
    on = taken.on;
    return true;
  });
  return halves === occurrences(name, body) ? on : undefined;
}

/** The list or pair that a node destructures: by a projection, or by a `case` with one branch. */
function destructuring(node: Node): { readonly on: "list" | "pair"; readonly of: Node } | undefined {
  return isParting(node) ? { on: node.on, of: node.scrutinee } : projection(node);
}

/** Whether two nodes always have equal values: the same functions of the same variables. */
function alike(a: Node, b: Node): boolean {
  if (a.kind === "variable") return b.kind === "variable" && a.variable === b.variable;
  if (a.kind === "builtin") return b.kind === "builtin" && a.name === b.name;
  if (a.kind === "constant") return b.kind === "constant" && a.constant === b.constant;
  return a.kind === "apply" && b.kind === "apply" && a.args.length === b.args.length && alike(a.fun, b.fun) &&
    a.args.every((one, i) => {
      const other = b.args[i];
      return other !== undefined && alike(one, other);
    });
}

/** Replaces projections of `of` by the variables that its halves are bound to. */
function withHalves(node: Node, of: Node, on: "list" | "pair", parts: Halves): Node {
  return replaced(node, (one) => {
    const half = projection(one);
    if (half && half.on === on && alike(half.of, of)) return variable(parts[half.half]);
    if (one.kind !== "case" || one.on !== on || !alike(one.scrutinee, of)) return undefined;
    const [branch] = one.branches;
    return branch?.kind === "lambda" ? withHalves(call(branch, parts.map(variable)), of, on, parts) : undefined;
  });
}

/** Moves a function's binding into the only branch that uses it; undefined if several do. */
function sunk(name: Variable, value: Lambda, body: Node): Node | undefined {
  const uses = (node: Node) => occurrences(name, node) > 0;
  const into = (node: Node): Node => {
    const deeper = sunk(name, value, node);
    return deeper ?? bound(name, value, node);
  };
  if (body.kind === "let" && !uses(body.value)) return bound(body.variable, body.value, into(body.body));
  if (body.kind !== "case" || uses(body.scrutinee)) return undefined;
  const at = body.branches.flatMap((branch, i) => uses(branch) ? [i] : []);
  if (at.length !== 1) return undefined;
  const branches = body.branches.map((branch, i) => {
    if (i !== at[0]) return branch;
    return branch.kind === "lambda" ? lambda(branch.parameters, into(branch.body)) : into(branch);
  });
  return { ...body, branches };
}

const isBool = (node: Node, value: boolean) =>
  node.kind === "constant" && node.constant.type === "bool" && node.constant.value === value;

function choice(node: Extract<Node, { kind: "case" }>): Node {
  const { on, scrutinee, branches } = node;
  const [first, second] = branches;
  const taken = on === "constr" && scrutinee.kind === "constr" ? branches[scrutinee.tag] : undefined;
  if (taken && scrutinee.kind === "constr") return call(taken, scrutinee.fields);
  const outside = inside(scrutinee, (inner) => ({ ...node, scrutinee: inner }));
  if (outside) return outside;
  if ((on === "list" || on === "pair") && first?.kind === "lambda") {
    const { parameters: [head, tail], body } = first;
    if (!head || !tail) return node;
    const inner = lambda(first.parameters, withHalves(body, scrutinee, on, [head, tail]));
    return { ...node, branches: [inner, ...branches.slice(1)] };
  }
  return on === "bool" && first && second ? condition(scrutinee, first, second) ?? node : node;
}

/** Simplifies a choice whose condition is a constant, a test that `case` can make, or another choice. */
function condition(scrutinee: Node, no: Node, yes: Node): Node | undefined {
  if (isBool(scrutinee, true)) return yes;
  if (isBool(scrutinee, false)) return no;
  if (isBool(no, false) && isBool(yes, true)) return scrutinee;
  if (scrutinee.kind === "apply" && scrutinee.fun.kind === "builtin") {
    const { fun: { name }, args } = scrutinee;
    const [list] = args;
    if (name === "nullList" && list) return caseOf("list", list, lambda([new Variable(), new Variable()], no), yes);
    if (name === "equalsInteger") return byInteger(args, no, yes);
  }
  if (scrutinee.kind !== "case") return undefined;
  // a choice by a choice: constant results select their branch directly, unless that would duplicate large code
  const { on, branches } = scrutinee;
  if (on === "constr" || on === "pair") return undefined;
  const ends = branches.map((branch, i) => partsTaken(on, branch, i)?.body ?? branch);
  const known = ends.filter((end) => isBool(end, true) || isBool(end, false) || end.kind === "error");
  if (known.length < ends.length - 1) return undefined;
  const uses = (value: boolean) => ends.length - known.length + known.filter((end) => isBool(end, value)).length;
  if ((uses(true) > 1 && !isSmall(yes)) || (uses(false) > 1 && !isSmall(no))) return undefined;
  const next = (end: Node): Node => {
    if (end.kind === "error") return end;
    return isBool(end, true) ? yes : isBool(end, false) ? no : caseOf("bool", end, no, yes);
  };
  return caseOf(
    on,
    scrutinee.scrutinee,
    ...branches.map((branch, i) => {
      const taking = partsTaken(on, branch, i);
      return taking ? lambda(taking.parameters, next(taking.body)) : next(branch);
    }),
  );
}

/** Largest number in a table of branches. */
const LARGEST = 8n;

/** The arguments of an `equalsInteger` with one small constant. */
function compared(args: readonly Node[]): { readonly what: Node; readonly with: bigint } | undefined {
  const at = args.findIndex((one) => one.kind === "constant" && one.constant.type === "integer");
  const [one, what] = [args[at], args[1 - at]];
  if (args.length !== 2 || !what || one?.kind !== "constant" || one.constant.type !== "integer") return undefined;
  const { value } = one.constant;
  return value >= 0n && value <= LARGEST ? { what, with: value } : undefined;
}

/** A chain of comparisons of one number as a table of branches, if all other numbers fail. */
function byInteger(args: readonly Node[], no: Node, yes: Node): Node | undefined {
  const first = compared(args);
  if (!first) return undefined;
  const { what } = first;
  if (isParity(what) && first.with < 2n) return caseOf("integer", what, ...(first.with === 0n ? [yes, no] : [no, yes]));
  const table = new Map<bigint, Node>([[first.with, yes]]);
  let rest = no;
  while (what.kind === "variable" && rest.kind === "case" && rest.on === "bool" && rest.scrutinee.kind === "apply") {
    const { fun, args } = rest.scrutinee;
    const next = fun.kind === "builtin" && fun.name === "equalsInteger" ? compared(args) : undefined;
    const [otherwise, then] = rest.branches;
    if (next?.what.kind !== "variable" || next.what.variable !== what.variable || !otherwise || !then) break;
    if (!table.has(next.with)) table.set(next.with, then);
    rest = otherwise;
  }
  if (
    what.kind === "variable" && rest.kind === "case" && rest.on === "integer" && rest.scrutinee.kind === "variable" &&
    rest.scrutinee.variable === what.variable
  ) {
    // the end of the chain is already a table
    rest.branches.forEach((branch, i) => {
      if (!table.has(BigInt(i))) table.set(BigInt(i), branch);
    });
  } else if (rest.kind !== "error") return undefined;
  const last = [...table.keys()].reduce((a, b) => a > b ? a : b);
  const other: Node = rest.kind === "error" ? rest : { kind: "error", message: "" };
  return caseOf("integer", what, ...Array.from({ length: Number(last) + 1 }, (_, i) => table.get(BigInt(i)) ?? other));
}

/** Whether a node's value is 0 or 1. */
function isParity(node: Node): boolean {
  if (node.kind !== "apply" || node.fun.kind !== "builtin" || node.fun.name !== "modInteger") return false;
  const by = node.args[1];
  return by?.kind === "constant" && by.constant.type === "integer" && by.constant.value === 2n;
}

/** Destructures lists and pairs that are always needed, where that saves at least two projections. */
const destructured: (node: Node) => Node = pass((node) => mapChildren(parted(node), destructured));

function parted(node: Node): Node {
  if (node.kind === "lambda") return node;
  for (const [name, on] of needs(node).parted) {
    const halves = count(node, (one) => {
      const half = projection(one);
      return half !== undefined && half.of.kind === "variable" && half.of.variable === name;
    });
    if (halves < 2) continue;
    const parts: Halves = [new Variable(), new Variable()];
    return caseOf(on, variable(name), lambda(parts, parted(withHalves(node, variable(name), on, parts))));
  }
  return node;
}

/**
 * Replaces several `tailList` by one `dropList`. On a list that is too short, `dropList` gives the empty list where `tailList`
 * fails; so it is used only where a head, a tail or a `case` without an empty branch follows, which then fails.
 */
function dropped(node: Node): Node {
  if (isParting(node) && node.on === "list") {
    const scrutinee = skipped(node.scrutinee);
    return { ...node, scrutinee, branches: node.branches.map(dropped) };
  }
  if (node.kind !== "apply" || projection(node)?.on !== "list") return mapChildren(node, dropped);
  return { ...node, args: node.args.map(skipped) };
}

/** A list that is not empty, or the script fails. */
function skipped(node: Node): Node {
  let [steps, list] = [0, node];
  for (let half = projection(list); half?.on === "list" && half.half === 1; half = projection(list)) {
    steps++;
    list = half.of;
  }
  if (steps < 2) return dropped(node);
  const constant: Node = { kind: "constant", constant: { type: "integer", value: BigInt(steps) } };
  return { kind: "apply", fun: builtin("dropList"), args: [constant, dropped(list)] };
}
