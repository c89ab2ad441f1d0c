/** Shares common subexpressions: applications of built-in functions that a node evaluates several times. */
import { bound, count, mapChildren, type Node, pass, replaced, variable } from "#src/contract/uplc/cases/node.ts";
import { partsTaken } from "#src/contract/uplc/cases/strict.ts";
import { Variable } from "#src/contract/uplc/term.ts";

/** Applications of built-in functions to variables that a node always evaluates, one entry for each evaluation. */
function computed(node: Node): readonly Node[] {
  switch (node.kind) {
    case "apply": {
      const parts = [node.fun, ...node.args].flatMap(computed);
      return textOf(node) === undefined ? parts : [node, ...parts];
    }
    case "let":
      return [...computed(node.value), ...computed(node.body)];
    case "constr":
      return node.fields.flatMap(computed);
    case "force":
      return computed(node.body);
    case "case": {
      const ways = node.branches.map((one, i) => partsTaken(node.on, one, i)?.body ?? one)
        .filter((one) => one.kind !== "error");
      return [...computed(node.scrutinee), ...(ways.length === 1 ? ways.flatMap(computed) : [])];
    }
    default:
      return [];
  }
}

const numbers = new WeakMap<Variable, number>();
let last = 0;
const texts = new WeakMap<Node, string>();

/** A key that is equal for equal applications of built-in functions to variables; undefined for other nodes. */
function textOf(node: Node): string | undefined {
  const known = texts.get(node);
  if (known !== undefined) return known === "" ? undefined : known;
  const text = textFor(node);
  texts.set(node, text ?? "");
  return text;
}
function textFor(node: Node): string | undefined {
  if (node.kind === "variable") {
    if (!numbers.has(node.variable)) numbers.set(node.variable, ++last);
    return `v${numbers.get(node.variable)}`;
  }
  if (node.kind === "constant") {
    const { constant } = node;
    return constant.type === "integer" || constant.type === "bool" ? `${constant.value}` : undefined;
  }
  if (node.kind !== "apply" || node.fun.kind !== "builtin") return undefined;
  const args = node.args.map(textOf);
  return args.includes(undefined) ? undefined : `${node.fun.name}(${args.join()})`;
}

/** Shares common subexpressions. */
export const once: (node: Node) => Node = pass((node) => {
  const within = node.kind === "lambda" ? node : repeated(node);
  return mapChildren(within, once);
});

function repeated(node: Node): Node {
  const times = new Map<string, Node[]>();
  for (const one of computed(node)) {
    const text = textOf(one) ?? "";
    const others = times.get(text);
    if (others) others.push(one);
    else times.set(text, [one]);
  }
  const several = [...times].filter(([, ones]) => ones.length > 1);
  if (several.length === 0) return node;
  const bound_ = new Set<Variable>();
  count(node, (one) => {
    if (one.kind === "let") bound_.add(one.variable);
    if (one.kind === "lambda") one.parameters.forEach((name) => bound_.add(name));
    return false;
  });
  for (const [text, [one]] of several.sort(([a], [b]) => b.length - a.length)) {
    if (!one || count(one, (part) => part.kind === "variable" && bound_.has(part.variable)) > 0) continue;
    const name = new Variable();
    return bound(name, one, replaced(node, (part) => textOf(part) === text ? variable(name) : undefined));
  }
  return node;
}
