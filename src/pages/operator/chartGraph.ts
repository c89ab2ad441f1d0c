/** The graph that a drawing of a machine shows: its innermost states, the joins between them, and its usual course. */
import type { Machine } from "./types.ts";

/** The usual course of each kind of actor, from its first state on. Of other kinds it is found (`pathOf`). */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  transaction: ["created", "submitting", "pending", "in_ledger"],
  token: ["absent", "live", "ended"],
  wallet: ["absent", "beginning", "restoring", "live"],
  "shared-wallet": ["absent", "incomplete", "beginning", "restoring", "live"],
  delegation: ["neither", "delegating", "both"],
};

/** The event of a transition as it is written. */
export const eventName = (event: string) => event === "" ? "always" : event;

/**
 * The innermost states that a state's name speaks of: `live.syncing`, or several where it is parallel (`{a.x,b.y}`).
 */
export function leavesOf(name: string): string[] {
  const open = name.indexOf("{");
  if (open < 0) return [name];
  const prefix = name.slice(0, open);
  const parts: string[] = [];
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

/** The innermost states of a machine. */
export interface Leaves {
  readonly leaves: readonly string[];
  label(id: string): string;
  type(id: string): Machine["nodes"][number]["type"] | undefined;
  /** The innermost state in which one enters a state. */
  entry(id: string): string;
  /** The innermost states of a state; all of them for the machine itself. */
  within(id: string): readonly string[];
}

export function treeOf({ nodes, initial }: Machine): Leaves {
  const by = new Map(nodes.map((node) => [node.id, node]));
  const children = new Map<string, string[]>();
  for (const { id, parent } of nodes) if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), id]);
  const leaves = nodes.filter(({ id }) => !children.has(id)).map(({ id }) => id);
  const entry = (id: string, depth = 0): string => {
    const inside = id === "*" ? nodes.filter(({ parent }) => parent === null).map((node) => node.id) : children.get(id);
    const next = inside?.find((one) => by.get(one)?.initial) ?? inside?.[0];
    return next === undefined || depth > nodes.length ? id : entry(next, depth + 1);
  };
  const isWithin = (id: string, above: string): boolean => {
    for (let at: string | null = id, i = 0; at !== null && i <= nodes.length; at = by.get(at)?.parent ?? null, i++) {
      if (at === above) return true;
    }
    return false;
  };
  const start = entry(initial);
  return {
    leaves: [...leaves.filter((id) => id === start), ...leaves.filter((id) => id !== start)],
    label: (id) => id,
    type: (id) => by.get(id)?.type,
    entry: (id) => entry(id),
    within: (id) => id === "*" ? leaves : leaves.filter((leaf) => isWithin(leaf, id)),
  };
}

/** All transitions from one state to another one. */
export interface Join {
  readonly from: string;
  readonly to: string;
  readonly events: string[];
}

export const keyOf = (from: string, to: string) => JSON.stringify([from, to]);

/** The arrows between two states each, and the usual course. An event from every state is an arrow on that course only. */
export function joinsOf(machine: Machine, tree: Leaves): { path: readonly string[]; joins: Map<string, Join> } {
  const joins = new Map<string, Join>();
  const add = (from: string, to: string, event: string) => {
    if (from === to) return;
    const join = joins.get(keyOf(from, to)) ?? { from, to, events: [] };
    if (!join.events.includes(event)) join.events.push(event);
    joins.set(keyOf(from, to), join);
  };
  for (const edge of machine.edges) {
    if (edge.from === "*" || tree.within(edge.from).length !== 1) continue;
    for (const from of tree.within(edge.from)) add(from, tree.entry(edge.to), eventName(edge.event));
  }
  const path = pathOf(machine, tree, joins);
  for (let i = 1; i < path.length; i++) {
    const [from, to] = [path[i - 1] ?? "", path[i] ?? ""];
    if (joins.has(keyOf(from, to))) continue;
    const wide = machine.edges.find((edge) => tree.entry(edge.to) === to && tree.within(edge.from).includes(from));
    if (wide) add(from, to, eventName(wide.event));
  }
  return { path, joins };
}

/** The usual course: the known one where the machine has its states, otherwise steps to the next state that is new. */
function pathOf(machine: Machine, tree: Leaves, joins: ReadonlyMap<string, Join>): readonly string[] {
  const known = PATHS[machine.kind];
  if (known?.every((id) => tree.leaves.includes(id))) return known;
  const path: string[] = [];
  let at: string | undefined = tree.leaves[0];
  while (at !== undefined && path.length < 5) {
    path.push(at);
    const last: string = at;
    at = [...joins.values()].find(({ from, to }) => from === last && !path.includes(to))?.to;
  }
  return path;
}
