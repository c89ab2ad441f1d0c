/** Strictness analysis: the values that every successful evaluation of a node computes. */
import type { BuiltinName } from "#src/contract/uplc/builtinTable.ts";
import type { CaseOn, Lambda, Node } from "#src/contract/uplc/cases/node.ts";
import type { Variable } from "#src/contract/uplc/term.ts";

/** Projections, which `case` can replace: the kind that they take, and the half that they give. */
const PROJECTIONS: { readonly [name in BuiltinName]?: readonly [on: "list" | "pair", half: 0 | 1] } = {
  headList: ["list", 0],
  tailList: ["list", 1],
  fstPair: ["pair", 0],
  sndPair: ["pair", 1],
};

/** A node as a projection, with its argument; undefined if it is none. */
export function projection(
  node: Node,
): { readonly on: "list" | "pair"; readonly half: 0 | 1; readonly of: Node } | undefined {
  if (node.kind !== "apply" || node.fun.kind !== "builtin") return undefined;
  const [of, ...others] = node.args;
  const found = PROJECTIONS[node.fun.name];
  return found && of && others.length === 0 ? { on: found[0], half: found[1], of } : undefined;
}

/** A branch as the lambda over the parts of a list or pair; undefined for other branches. */
export function partsTaken(on: CaseOn, branch: Node, index: number): Lambda | undefined {
  return branch.kind === "lambda" && (on === "pair" || (on === "list" && index === 0)) ? branch : undefined;
}

/** Variables that are always evaluated, and variables that are always destructured. `all`: the node always fails, so every statement holds. */
interface Needs {
  readonly all: boolean;
  readonly variables: ReadonlySet<Variable>;
  readonly parted: ReadonlyMap<Variable, "list" | "pair">;
}

const NOTHING: Needs = { all: false, variables: new Set(), parted: new Map() };
const EVERYTHING: Needs = { ...NOTHING, all: true };

function both(a: Needs, b: Needs): Needs {
  return {
    all: a.all || b.all,
    variables: new Set([...a.variables, ...b.variables]),
    parted: new Map([...a.parted, ...b.parted]),
  };
}

function either(a: Needs, b: Needs): Needs {
  if (a.all) return b;
  if (b.all) return a;
  return {
    all: false,
    variables: new Set([...a.variables].filter((one) => b.variables.has(one))),
    parted: new Map([...a.parted].filter(([one]) => b.parted.has(one))),
  };
}

/** Needs outside the scope of some variables. */
function without({ all, variables, parted }: Needs, bound: readonly Variable[]): Needs {
  return {
    all,
    variables: new Set([...variables].filter((one) => !bound.includes(one))),
    parted: new Map([...parted].filter(([one]) => !bound.includes(one))),
  };
}

const known = new WeakMap<Node, Needs>();

export function needs(node: Node): Needs {
  let one = known.get(node);
  if (!one) known.set(node, one = found(node));
  return one;
}

function found(node: Node): Needs {
  switch (node.kind) {
    case "variable":
      return { ...NOTHING, variables: new Set([node.variable]) };
    case "error":
      return EVERYTHING;
    case "apply": {
      const parts = [node.fun, ...node.args].map(needs).reduce(both);
      const taken = projection(node);
      if (taken?.of.kind !== "variable") return parts;
      return both(parts, { ...NOTHING, parted: new Map([[taken.of.variable, taken.on]]) });
    }
    case "let":
      return both(needs(node.value), without(needs(node.body), [node.variable]));
    case "constr":
      return node.fields.map(needs).reduce(both, NOTHING);
    case "case": {
      // a branch over parts is applied to them, so its body is evaluated
      const branches = node.branches.map((branch, i) => {
        const taking = partsTaken(node.on, branch, i);
        return taking ? without(needs(taking.body), taking.parameters) : needs(branch);
      });
      return both(needs(node.scrutinee), branches.reduce(either));
    }
    case "force":
      return needs(node.body);
    default:
      return NOTHING;
  }
}
