/** A machine as nodes and arrows, for those who draw it, and the events that a state has transitions for. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { stateName } from "#src/runtime/turns/machine.ts";

export interface GraphNode {
  /** The state's name, as `stateName` gives it. */
  readonly id: string;
  readonly parent: string | null;
  readonly label: string;
  readonly type: "atomic" | "compound" | "parallel" | "final" | "history";
  /** Whether its parent, or the machine, begins in it. */
  readonly initial: boolean;
}

export interface GraphEdge {
  /** `*`: from every state. */
  readonly from: string;
  /** The same as `from` where the transition leaves the state as it is. */
  readonly to: string;
  /** Empty for a transition that needs no event. */
  readonly event: string;
  /** Name of the condition. */
  readonly guard: string | null;
}

export interface Graph {
  readonly initial: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** What stands for the machine itself. */
const WHOLE = "*";

/** The states and transitions of a machine, in the order in which they are written down. */
export function graphOf(machine: AnyStateMachine): Graph {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const visit = (node: AnyStateNode) => {
    if (node.parent !== undefined) {
      const { parent } = node;
      nodes.push({
        id: nameOf(node),
        parent: parent.parent === undefined ? null : nameOf(parent),
        label: node.key,
        type: node.type,
        initial: parent.type === "parallel" || (parent.initial?.target ?? []).includes(node),
      });
    }
    for (const transition of [...[...node.transitions.values()].flat(), ...(node.always ?? [])]) {
      for (const target of transition.target ?? [node]) {
        edges.push({
          from: nameOf(node),
          to: nameOf(target),
          event: transition.eventType,
          guard: guardName(transition.guard),
        });
      }
    }
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  // A machine without states is always in the same one.
  if (nodes.length === 0) {
    nodes.push({ id: stateName({}), parent: null, label: machine.root.key, type: "atomic", initial: true });
  }
  return { initial: firstOf(machine.root) ?? nodes[0]!.id, nodes, edges };
}

/** Where a machine begins: `*` where in several states at once. */
function firstOf(root: AnyStateNode): string | undefined {
  if (root.type === "parallel") return WHOLE;
  const first = root.initial?.target[0];
  return first && nameOf(first);
}

function nameOf(node: AnyStateNode): string {
  return node.path.length === 0 ? WHOLE : node.path.join(".");
}

function guardName(guard: unknown): string | null {
  if (guard === undefined) return null;
  if (typeof guard === "string") return guard;
  const { type } = guard as { readonly type?: unknown };
  return typeof type === "string" ? type : "(condition)";
}

/** Types of the events that a state (`value` of a snapshot) has transitions for, whatever their conditions; sorted. */
export function allowedIn(machine: AnyStateMachine, value: unknown): string[] {
  const types = new Set<string>();
  const visit = (node: AnyStateNode, inner: unknown) => {
    for (const type of node.transitions.keys()) if (!type.startsWith("xstate.")) types.add(type);
    const active = typeof inner === "string" ? [[inner, {}] as const] : Object.entries((inner ?? {}) as object);
    for (const [key, deeper] of active) {
      const child = node.states[key];
      if (child !== undefined) visit(child, deeper);
    }
  };
  visit(machine.root, value);
  return [...types].sort();
}

/** Names of the states that an actor can be in; undefined where it is in several at once. */
export function statesOf(machine: AnyStateMachine): string[] | undefined {
  const { nodes } = graphOf(machine);
  if (machine.root.type === "parallel" || nodes.some(({ type }) => type === "parallel")) return undefined;
  return nodes.filter(({ type }) => type === "atomic" || type === "final").map(({ id }) => id);
}

/** Types of the events that a machine knows, sorted. */
export function eventsOf(machine: AnyStateMachine): string[] {
  return [...new Set(graphOf(machine).edges.map(({ event }) => event))].filter((type) =>
    type !== "" && !type.startsWith("xstate.")
  ).sort();
}
