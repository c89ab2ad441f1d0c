/** The graph of a machine, and the events that a state has transitions for. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { memberOf } from "#src/base/member.ts";
import { elementAt } from "#src/base/present.ts";
import { stateName } from "#src/runtime/turns/machine.ts";

export interface GraphNode {
  /** The state's name, as `stateName` gives it. */
  readonly id: string;
  readonly parent: string | null;
  readonly label: string;
  readonly type: "atomic" | "compound" | "parallel" | "final" | "history";
  /** Whether it is an initial state of its parent or of the machine. */
  readonly initial: boolean;
}

export interface GraphEdge {
  /** `*`: from every state. */
  readonly from: string;
  /** Equal to `from` when the transition does not change the state. */
  readonly to: string;
  /** Empty for a transition without an event. */
  readonly event: string;
  /** Name of the guard. */
  readonly guard: string | null;
  /** Present for an intent: a build asks for it, and no event of this type is applied. */
  readonly intent?: true;
}

export interface Graph {
  readonly initial: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Id of the root. */
const ROOT = "*";

/** The states and transitions of a machine, in the order of its definition. */
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
          ...(isIntent(transition) ? { intent: true } : {}),
        });
      }
    }
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  // A machine without states has a single one.
  if (nodes.length === 0) {
    nodes.push({ id: stateName({}), parent: null, label: machine.root.key, type: "atomic", initial: true });
  }
  return { initial: initialState(machine.root) ?? elementAt(nodes, 0).id, nodes, edges };
}

/** The initial state of a machine: `*` for parallel states. */
function initialState(root: AnyStateNode): string | undefined {
  if (root.type === "parallel") return ROOT;
  const first = root.initial?.target[0];
  return first && nameOf(first);
}

function nameOf(node: AnyStateNode): string {
  return node.path.length === 0 ? ROOT : node.path.join(".");
}

function guardName(guard: unknown): string | null {
  if (guard === undefined) return null;
  if (typeof guard === "string") return guard;
  const type = memberOf(guard, "type");
  return typeof type === "string" ? type : "(condition)";
}

/** Whether a transition is an intent (`INTENT`). */
function isIntent({ meta }: { readonly meta?: unknown }): boolean {
  return memberOf(meta, "intent") === true;
}

/**
 * What a state (`value` of a snapshot) has transitions for, regardless of guards: types of events, and of intents;
 * sorted.
 */
export function allowedIn(
  machine: AnyStateMachine,
  value: unknown,
): { readonly events: readonly string[]; readonly intents: readonly string[] } {
  const [events, intents] = [new Set<string>(), new Set<string>()];
  const visit = (node: AnyStateNode, inner: unknown) => {
    for (const [type, transitions] of node.transitions) {
      if (!type.startsWith("xstate.")) (transitions.some(isIntent) ? intents : events).add(type);
    }
    const active = typeof inner === "string" ? [[inner, {}] as const] : Object.entries(inner ?? {});
    for (const [key, deeper] of active) {
      const child = node.states[key];
      if (child !== undefined) visit(child, deeper);
    }
  };
  visit(machine.root, value);
  return { events: [...events].sort(), intents: [...intents].sort() };
}

/** Names of the states that an actor can be in; `undefined` for a machine with parallel states. */
export function statesOf(machine: AnyStateMachine): string[] | undefined {
  const { nodes } = graphOf(machine);
  if (machine.root.type === "parallel" || nodes.some(({ type }) => type === "parallel")) return undefined;
  return nodes.filter(({ type }) => type === "atomic" || type === "final").map(({ id }) => id);
}

/** Types of the events that a machine has transitions for, without intents; sorted. */
export function eventsOf(machine: AnyStateMachine): string[] {
  const applied = graphOf(machine).edges.filter(({ event, intent }) =>
    !intent && event !== "" && !event.startsWith("xstate.")
  );
  return [...new Set(applied.map(({ event }) => event))].sort();
}
