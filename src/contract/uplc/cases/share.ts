/** Shares forced built-in functions: they are forced once and named where that takes fewer steps. */
import { type BuiltinName, BUILTINS } from "#src/contract/uplc/builtinTable.ts";
import {
  bound,
  builtin,
  childrenOf,
  count,
  lambda,
  mapChildren,
  type Node,
  replaced,
  variable,
} from "#src/contract/uplc/cases/node.ts";
import { partsTaken } from "#src/contract/uplc/cases/strict.ts";
import { Variable } from "#src/contract/uplc/term.ts";

/** Assumed number of calls of a function each time it is created. */
const TIMES = 4;
/** Minimum number of uses for which naming a forced function saves steps; naming takes four or five. */
const WORTH = 4;

/** Names forced functions in a node. */
export function shared(node: Node): Node {
  const names = new Set<BuiltinName>();
  count(node, (one) => one.kind === "builtin" && BUILTINS[one.name][1] > 0 && Boolean(names.add(one.name)));
  return forcedInPlace([...names].sort().reduce((all, name) => placed(all, name), node));
}

const is = (node: Node, name: BuiltinName) => node.kind === "builtin" && node.name === name;

/** Approximate number of steps that forcing a function takes in a node. */
function uses(node: Node, name: BuiltinName): number {
  if (is(node, name)) return BUILTINS[name][1];
  if (node.kind === "case") {
    const branches = node.branches.map((one, i) => uses(partsTaken(node.on, one, i)?.body ?? one, name));
    return uses(node.scrutinee, name) + branches.reduce((sum, one) => sum + one, 0);
  }
  const inner = childrenOf(node).reduce((sum, child) => sum + uses(child, name), 0);
  return node.kind === "lambda" ? inner * TIMES : inner;
}

function placed(node: Node, name: BuiltinName): Node {
  const within = (child: Node) => placed(child, name);
  const used = (child: Node) => uses(child, name) > 0;
  if (!used(node)) return node;
  // the outermost lambda is the script itself; others are branches over the parts of a list or pair
  if (node.kind === "lambda") return lambda(node.parameters, within(node.body));
  if (node.kind === "let" && used(node.body) && !used(node.value)) return { ...node, body: within(node.body) };
  if (node.kind === "case" && !used(node.scrutinee)) {
    const branches = node.branches.map((branch, i) => {
      const parts = node.on === "pair" || (node.on === "list" && i === 0);
      return branch.kind !== "lambda" || parts ? within(branch) : named(branch, name);
    });
    return { ...node, branches };
  }
  const [at, ...others] = childrenOf(node).filter(used);
  if (at && others.length === 0 && at.kind !== "lambda" && node.kind !== "delay") {
    return mapChildren(node, (child) => child === at ? within(child) : child);
  }
  return named(node, name);
}

function named(node: Node, name: BuiltinName): Node {
  if (uses(node, name) < WORTH) return node;
  const short = new Variable();
  return bound(short, builtin(name), replaced(node, (one) => is(one, name) ? variable(short) : undefined));
}

/** Forces the remaining functions in place. */
function forcedInPlace(node: Node): Node {
  if (node.kind !== "builtin") return mapChildren(node, forcedInPlace);
  return Array.from({ length: BUILTINS[node.name][1] }).reduce<Node>((body) => ({ kind: "force", body }), node);
}
