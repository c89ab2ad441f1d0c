/**
 * The intermediate form of compilation for protocol version 11: calls have all of their arguments, bindings and choices are
 * separate nodes, and every variable is bound exactly once.
 */
import type { BuiltinName } from "#src/contract/uplc/builtinTable.ts";
import { applied, type Constant, type Term, Variable } from "#src/contract/uplc/term.ts";

/** The kind of a `case`'s scrutinee. A list has two branches: a lambda over head and tail, then the empty case. A pair has one lambda over both parts. */
export type CaseOn = "constr" | "bool" | "integer" | "list" | "pair";

export type Node =
  | { readonly kind: "variable"; readonly variable: Variable }
  | { readonly kind: "constant"; readonly constant: Constant }
  | { readonly kind: "builtin"; readonly name: BuiltinName }
  | { readonly kind: "error"; readonly message: string }
  | { readonly kind: "lambda"; readonly parameters: readonly Variable[]; readonly body: Node }
  | { readonly kind: "apply"; readonly fun: Node; readonly args: readonly Node[] }
  | { readonly kind: "let"; readonly variable: Variable; readonly value: Node; readonly body: Node }
  | { readonly kind: "constr"; readonly tag: number; readonly fields: readonly Node[] }
  | { readonly kind: "case"; readonly on: CaseOn; readonly scrutinee: Node; readonly branches: readonly Node[] }
  | { readonly kind: "delay" | "force"; readonly body: Node };

export type Lambda = Extract<Node, { kind: "lambda" }>;

export const variable = (variable: Variable): Node => ({ kind: "variable", variable });
export const builtin = (name: BuiltinName): Node => ({ kind: "builtin", name });
export const lambda = (parameters: readonly Variable[], body: Node): Lambda => ({ kind: "lambda", parameters, body });
export const caseOf = (on: CaseOn, scrutinee: Node, ...branches: readonly Node[]): Node => ({
  kind: "case",
  on,
  scrutinee,
  branches,
});
export const bound = (variable: Variable, value: Node, body: Node): Node => ({ kind: "let", variable, value, body });

/** A node with its children changed: the same node if none of them changes. */
export function mapChildren(node: Node, change: (child: Node) => Node): Node {
  switch (node.kind) {
    case "lambda":
    case "delay":
    case "force": {
      const body = change(node.body);
      return body === node.body ? node : { ...node, body };
    }
    case "apply": {
      const [fun, args] = [change(node.fun), mapAll(node.args, change)];
      return fun === node.fun && args === node.args ? node : { ...node, fun, args };
    }
    case "let": {
      const [value, body] = [change(node.value), change(node.body)];
      return value === node.value && body === node.body ? node : { ...node, value, body };
    }
    case "constr": {
      const fields = mapAll(node.fields, change);
      return fields === node.fields ? node : { ...node, fields };
    }
    case "case": {
      const [scrutinee, branches] = [change(node.scrutinee), mapAll(node.branches, change)];
      return scrutinee === node.scrutinee && branches === node.branches ? node : { ...node, scrutinee, branches };
    }
    default:
      return node;
  }
}

function mapAll(nodes: readonly Node[], change: (node: Node) => Node): readonly Node[] {
  const changed = nodes.map(change);
  return changed.every((node, i) => node === nodes[i]) ? nodes : changed;
}

/**
 * A pass over nodes that remembers which of them it leaves as they are: most parts of a program, from its second round on.
 */
export function pass(change: (node: Node) => Node): (node: Node) => Node {
  const unchanged = new WeakSet<Node>();
  return (node) => {
    if (unchanged.has(node)) return node;
    const changed = change(node);
    if (changed === node) unchanged.add(node);
    return changed;
  };
}

/** Visits the direct parts of a node. */
function eachChild(node: Node, visit: (child: Node) => void): void {
  switch (node.kind) {
    case "lambda":
    case "delay":
    case "force":
      return visit(node.body);
    case "apply":
      visit(node.fun);
      return node.args.forEach(visit);
    case "let":
      visit(node.value);
      return visit(node.body);
    case "constr":
      return node.fields.forEach(visit);
    case "case":
      visit(node.scrutinee);
      return node.branches.forEach(visit);
  }
}

/** The direct parts of a node. */
export function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  eachChild(node, (child) => children.push(child));
  return children;
}

/** How many nodes satisfy a condition. */
export function count(node: Node, is: (node: Node) => boolean): number {
  let sum = 0;
  const visit = (one: Node) => {
    if (is(one)) sum++;
    eachChild(one, visit);
  };
  visit(node);
  return sum;
}

/** How often a variable occurs. */
export function occurrences(variable: Variable, node: Node): number {
  return count(node, (one) => one.kind === "variable" && one.variable === variable);
}

/** Replaces every part for which `to` gives a node. Replacements are not searched again. */
export function replaced(node: Node, to: (node: Node) => Node | undefined): Node {
  return to(node) ?? mapChildren(node, (child) => replaced(child, to));
}

export function substituted(node: Node, variable: Variable, by: Node): Node {
  return replaced(node, (one) => one.kind === "variable" && one.variable === variable ? by : undefined);
}

/** A copy with new bound variables. */
function renamed(node: Node, names: ReadonlyMap<Variable, Variable> = new Map()): Node {
  switch (node.kind) {
    case "variable":
      return variable(names.get(node.variable) ?? node.variable);
    case "lambda": {
      const fresh = node.parameters.map((old) => [old, new Variable()] as const);
      return lambda(fresh.map(([, name]) => name), renamed(node.body, new Map([...names, ...fresh])));
    }
    case "let": {
      const fresh = new Variable();
      return bound(fresh, renamed(node.value, names), renamed(node.body, new Map([...names, [node.variable, fresh]])));
    }
    default:
      return mapChildren(node, (child) => renamed(child, names));
  }
}

/** Applies a function; arguments of its parameters become bindings. Its parameters must not occur elsewhere. */
export function call(fun: Node, args: readonly Node[]): Node {
  if (args.length === 0) return fun;
  if (fun.kind === "apply") return call(fun.fun, [...fun.args, ...args]);
  if (fun.kind === "let") return bound(fun.variable, fun.value, call(fun.body, args));
  if (fun.kind !== "lambda") return { kind: "apply", fun, args };
  const { parameters, body } = fun;
  const rest = parameters.slice(args.length);
  const inner = rest.length > 0 ? lambda(rest, body) : call(body, args.slice(parameters.length));
  const given = args.flatMap((arg, i): [Variable, Node][] => {
    const name = parameters[i];
    return name ? [[name, arg]] : [];
  });
  return given.reduceRight((node, [name, arg]) => bound(name, arg, node), inner);
}

type Names = ReadonlyMap<Variable, Node>;

/** Converts a term to a node. */
export function read(term: Term, names: Names = new Map()): Node {
  const again = (one: Term) => read(one, names);
  switch (term.kind) {
    case "variable":
      return names.get(term.variable) ?? variable(term.variable);
    case "lambda": {
      const parameter = new Variable();
      const body = read(term.body, new Map([...names, [term.variable, variable(parameter)]]));
      return body.kind === "lambda" ? lambda([parameter, ...body.parameters], body.body) : lambda([parameter], body);
    }
    case "apply":
      return call(again(term.fun), [again(term.argument)]);
    case "forms":
      return again(term.cased());
    case "constr":
      return { kind: "constr", tag: term.tag, fields: term.fields.map(again) };
    case "case": {
      const { on = "constr" } = term;
      const branches = term.branches.map(again).map((branch, i) =>
        on === "pair" || (on === "list" && i === 0) ? ofTwo(branch) : branch
      );
      return caseOf(on, again(term.scrutinee), ...branches);
    }
    case "force":
      return choice(term.body, again) ?? { kind: "force", body: again(term.body) };
    case "delay":
      return { kind: "delay", body: again(term.body) };
    default:
      return term;
  }
}

/** A lambda with more than two parameters, split into one with two that returns another lambda. */
function ofTwo(node: Node): Node {
  if (node.kind !== "lambda" || node.parameters.length < 3) return node;
  return lambda(node.parameters.slice(0, 2), lambda(node.parameters.slice(2), node.body));
}

/** The `case` for a delayed choice, which `choose` and `ifEmpty` produce. */
function choice(term: Term, again: (term: Term) => Node): Node | undefined {
  if (term.kind !== "apply" || term.fun.kind !== "apply" || term.fun.fun.kind !== "apply") return undefined;
  const { argument: second, fun: { argument: first, fun: { argument: condition, fun } } } = term;
  if (fun.kind !== "builtin" || first.kind !== "delay" || second.kind !== "delay") return undefined;
  const [one, other] = [again(first.body), again(second.body)];
  if (fun.name === "ifThenElse") return caseOf("bool", again(condition), other, one);
  if (fun.name !== "chooseList") return undefined;
  return caseOf("list", again(condition), lambda([new Variable(), new Variable()], other), one);
}

/** Converts a node to its cheapest term. */
export function write(node: Node): Term {
  switch (node.kind) {
    case "lambda":
      return abstracted(node.parameters, write(node.body));
    case "apply":
      return applied_(write(node.fun), node.args.map(write));
    case "let": {
      const [names, values, body] = group(node);
      return applied_(abstracted(names, write(body)), values.map(write));
    }
    case "constr":
      return { kind: "constr", tag: node.tag, fields: node.fields.map(write) };
    case "case":
      return { kind: "case", scrutinee: write(node.scrutinee), branches: withoutErrors(node.branches).map(write) };
    case "delay":
    case "force":
      return { kind: node.kind, body: write(node.body) };
    default:
      return node;
  }
}

function abstracted(names: readonly Variable[], body: Term): Term {
  return names.reduceRight<Term>((rest, variable) => ({ kind: "lambda", variable, body: rest }), body);
}

/** Three arguments or more go through a constructor, which takes fewer steps. */
function applied_(fun: Term, args: readonly Term[]): Term {
  return args.length < 3
    ? applied(fun, ...args)
    : { kind: "case", scrutinee: { kind: "constr", tag: 0, fields: args }, branches: [fun] };
}

/** Consecutive bindings that do not depend on each other: their names, their values, and the body. */
function group(node: Extract<Node, { kind: "let" }>): [Variable[], Node[], Node] {
  const [names, values]: [Variable[], Node[]] = [[node.variable], [node.value]];
  let { body }: { body: Node } = node;
  while (body.kind === "let") {
    const { value } = body;
    if (names.some((name) => occurrences(name, value) > 0)) break;
    names.push(body.variable);
    values.push(value);
    body = body.body;
  }
  return [names, values, body];
}

/** Branches without failing ones at the end: a missing branch fails as well. */
function withoutErrors(branches: readonly Node[]): readonly Node[] {
  let end = branches.length;
  while (end > 1 && branches[end - 1]?.kind === "error") end--;
  return branches.slice(0, end);
}
