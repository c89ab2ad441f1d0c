// @ts-check
/** The nesting of a machine's states, and the edges that are drawn between two boxes. Pure. */

/** @typedef {import("./types.ts").Machine} Machine */
/** @typedef {Machine["edges"][number]} MachineEdge */

/**
 * @typedef {object} Tree
 * @property {string | null} root id of the machine itself where it is among the nodes
 * @property {Map<string | null, string[]>} children
 * @property {(id: string) => string | null} parent null at the top
 * @property {(id: string) => string[]} chain from the top down to the id itself; empty for the machine itself
 */

/** @param {Machine} machine @returns {Tree} */
export function treeOf(machine) {
  const parents = new Map(machine.nodes.map((node) => [node.id, node.parent]));
  const tops = machine.nodes.filter((node) => node.parent === null || !parents.has(node.parent));
  const only = tops.length === 1 ? tops[0] : undefined;
  // A state's name never starts with the machine's own, so a top whose children leave its name out is the machine.
  const root = only && machine.nodes.some((node) => node.parent === only.id && !node.id.startsWith(`${only.id}.`))
    ? only.id
    : null;
  /** @param {string} id */
  const parent = (id) => {
    const above = parents.get(id) ?? null;
    return above === root || above === null || !parents.has(above) ? null : above;
  };
  /** @type {Map<string | null, string[]>} */
  const children = new Map();
  for (const node of machine.nodes) {
    if (node.id === root) continue;
    const above = parent(node.id);
    children.set(above, [...(children.get(above) ?? []), node.id]);
  }
  return {
    root,
    children,
    parent,
    chain: (id) => {
      if (id === root || !parents.has(id)) return [];
      /** @type {string[]} */
      const chain = [];
      for (let at = /** @type {string | null} */ (id); at !== null; at = parent(at)) chain.unshift(at);
      return chain;
    },
  };
}

/**
 * Where an edge of the machine is drawn: an arrow between two boxes of one level, or a line in a box.
 * @param {Tree} tree
 * @param {MachineEdge} edge
 * @returns {{ sort: "stay" | "any", at: string, note: string } | { sort: "arrow", from: string, to: string, level:
 * string | null, note: string }}
 */
export function placeOf(tree, { from, to }) {
  const source = tree.chain(from);
  const target = tree.chain(to);
  let shared = 0;
  while (shared < source.length && shared < target.length && source[shared] === target[shared]) shared++;
  const a = source[shared];
  const b = target[shared];
  if (b === undefined) {
    const inward = source.length === target.length || target.length === 0;
    return { sort: "stay", at: from, note: inward ? "" : `→ ${to}` };
  }
  if (a === undefined) return { sort: "any", at: to, note: source.length === 0 ? "" : `from ${from}` };
  const notes = [a === from ? "" : `from ${leaf(from)}`, b === to ? "" : `→ ${leaf(to)}`];
  return {
    sort: "arrow",
    from: a,
    to: b,
    level: shared === 0 ? null : /** @type {string} */ (source[shared - 1]),
    note: notes.filter((note) => note !== "").join(" "),
  };
}

/** @param {string} id */
const leaf = (id) => id.slice(id.lastIndexOf(".") + 1);

/**
 * The states that a state's name speaks of, innermost only: `live.syncing`, or several where it is parallel
 * (`{a.x,b.y}`).
 * @param {string} name
 * @returns {string[]}
 */
export function leavesOf(name) {
  const open = name.indexOf("{");
  if (open < 0) return [name];
  const prefix = name.slice(0, open);
  /** @type {string[]} */
  const parts = [];
  let depth = 0;
  let start = open + 1;
  for (let i = open; i < name.length; i++) {
    const character = name[i];
    if (character === "{") depth++;
    const ends = character === "}" && --depth === 0;
    if (ends || (character === "," && depth === 1)) {
      parts.push(name.slice(start, i));
      start = i + 1;
    }
    if (ends) break;
  }
  return parts.filter((part) => part !== "").flatMap((part) => leavesOf(prefix + part));
}
