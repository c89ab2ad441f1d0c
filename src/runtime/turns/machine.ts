/**
 * The pure side of XState: what a machine may be made of, and its snapshots as JSON and back. Timers, promises and spawned
 * actors of a live machine would not survive a restore (or would run twice), so a machine that has them is refused.
 */
import { type ActorScope, type AnyMachineSnapshot, type AnyStateMachine, createActor } from "xstate";
import type { Json } from "#src/base/json.ts";
import { fail, type Failure } from "#src/base/result.ts";
import { turnActions } from "#src/base/turn.ts";
import type { ActorKind, ActorView, EntityRef, Event, RuntimeCode } from "#src/runtime/types.ts";

const OF_XSTATE = new Set(["xstate.assign", "xstate.enqueueActions", "xstate.raise"]);

/** Whether an action is one that a turn carries out. */
export function isTurnAction(name: string): name is keyof typeof turnActions {
  return Object.hasOwn(turnActions, name);
}

interface Node {
  readonly id: string;
  readonly invoke: readonly unknown[];
  readonly after: readonly unknown[];
  readonly entry: readonly unknown[];
  readonly exit: readonly unknown[];
  readonly transitions: ReadonlyMap<string, readonly { readonly actions: readonly unknown[] }[]>;
  readonly always?: readonly { readonly actions: readonly unknown[] }[] | undefined;
  readonly initial: { readonly actions: readonly unknown[] };
  readonly states: { readonly [key: string]: Node };
}

/** What is wrong with a kind, in sentences; nothing when it can be run. Actions inside `enqueueActions` show only when they run. */
export function kindFaults(kind: ActorKind): string[] {
  const faults: string[] = [];
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(kind.kind)) {
    faults.push(`The kind "${kind.kind}" is not lower-case letters, digits and dashes.`);
  }
  const implementations = kind.machine.implementations.actions as Record<string, unknown>;
  const action = (state: string, value: unknown) => {
    const name = typeof value === "object" && value !== null ? (value as { type?: unknown }).type : value;
    const code = typeof name === "string" ? implementations[name] : name;
    const builtIn = (code as { type?: unknown } | undefined)?.type;
    if (typeof builtIn === "string") {
      const delay = (code as { delay?: unknown }).delay;
      if (!OF_XSTATE.has(builtIn) || delay !== undefined) {
        faults.push(`${state}: "${builtIn}"${delay === undefined ? "" : " with a delay"} is no action of a turn.`);
      }
    } else if (typeof name !== "string") {
      faults.push(`${state}: an action that is a function would run outside the turn.`);
    } else if (!isTurnAction(name)) faults.push(`${state}: "${name}" is no action of a turn.`);
  };
  const visit = (node: Node) => {
    if (node.invoke.length > 0) faults.push(`${node.id}: invokes an actor; use the action "effect".`);
    if (node.after.length > 0) faults.push(`${node.id}: has a delayed transition; use the action "remind".`);
    else for (const value of [...node.entry, ...node.exit]) action(node.id, value);
    const transitions = [...node.transitions.values()].flat().concat(node.always ?? []);
    if (node.after.length === 0) {
      for (const { actions } of transitions) actions.forEach((value) => action(node.id, value));
    }
    node.initial.actions.forEach((value) => action(node.id, value));
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(kind.machine.root as unknown as Node);
  for (const [name, table] of Object.entries(kind.tables ?? {})) {
    if (table.key.length === 0) faults.push(`The table "${name}" has no key.`);
  }
  return faults;
}

/** Largest snapshot, in bytes of JSON. */
export const SNAPSHOT_BYTES = 16_384;

/** A snapshot as JSON text. Throws where it holds a `bigint` or is larger than `SNAPSHOT_BYTES`. */
export function dehydrate(machine: AnyStateMachine, snapshot: AnyMachineSnapshot): string {
  const text = JSON.stringify(machine.getPersistedSnapshot(snapshot));
  if (text.length > SNAPSHOT_BYTES / 3) {
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > SNAPSHOT_BYTES) {
      throw new RangeError(`a snapshot of ${bytes} bytes; at most ${SNAPSHOT_BYTES} are kept`);
    }
  }
  return text;
}

/** A snapshot that a later version of the machine wrote. */
class NewerSnapshot extends Error {}

/** Why an entity whose snapshot cannot be read does nothing, from what `hydrate` threw. */
export function unreadableFailure({ kind }: ActorKind, error: Error): { ok: false; error: Failure<RuntimeCode> } {
  if (!(error instanceof NewerSnapshot)) return fail("failed", `This ${kind} cannot be read: ${error.message}`);
  return fail(
    "newer_version",
    `This ${kind} was changed by a later version of Arbor: ${error.message}. Start that version.`,
  );
}

/**
 * A snapshot out of its JSON, of this machine's version or an older one that the kind can bring up. Throws where it is of a later one, or of
 * an older one that the kind cannot bring up.
 */
export function hydrate(kind: ActorKind, json: Json, version: number): AnyMachineSnapshot {
  let snapshot = json;
  if (version !== kind.version) {
    const what = `a snapshot of version ${version} of the machine "${kind.kind}", which is at ${kind.version}`;
    if (version > kind.version) throw new NewerSnapshot(what);
    if (kind.migrate === undefined) throw new Error(what);
    snapshot = kind.migrate(json, version);
  }
  const { scope } = stage(kind.machine);
  return kind.machine.restoreSnapshot(snapshot as never, scope as never) as AnyMachineSnapshot;
}

/** What a machine asks for, with its parameters. */
export interface Action {
  readonly type: string;
  readonly params: unknown;
}

/** The snapshot before any event, and the actions of entering it. */
export function startMachine(machine: AnyStateMachine, entity: EntityRef): [AnyMachineSnapshot, readonly Action[]] {
  const { scope, collect } = stage(machine);
  return collect(() => machine.getInitialSnapshot(scope as never, { kind: entity.kind, id: entity.id }));
}

/** The snapshot after an event, and the actions asked for. Throws what the machine throws. */
export function stepMachine(
  machine: AnyStateMachine,
  snapshot: AnyMachineSnapshot,
  event: Event,
): [AnyMachineSnapshot, readonly Action[]] {
  const { scope, collect } = stage(machine);
  return collect(() => machine.transition(snapshot as never, event as never, scope as never));
}

type Scope = ActorScope<AnyMachineSnapshot, never, never>;
const stages = new WeakMap<AnyStateMachine, Scope>();

/**
 * The surroundings in which XState carries out a step, where nothing acts and actions are only collected. XState's own
 * `transition()` builds them anew for each step, together with an initial snapshot made without input: three quarters of its
 * time. Steps are synchronous, so that one of them serves a machine for ever.
 */
function stage(machine: AnyStateMachine) {
  let scope = stages.get(machine);
  if (scope === undefined) {
    const self = createActor(machine, { input: { kind: "", id: "" }, logger: () => {} });
    const nothing = () => {};
    scope = {
      self,
      id: "",
      sessionId: "",
      system: self.system,
      logger: nothing,
      defer: nothing,
      emit: nothing,
      stopChild: nothing,
      actionExecutor: nothing,
    } as unknown as Scope;
    stages.set(machine, scope);
  }
  const surroundings = scope;
  const collect = (step: () => unknown): [AnyMachineSnapshot, readonly Action[]] => {
    const actions: Action[] = [];
    surroundings.actionExecutor = ({ type, params }) => void actions.push({ type, params });
    const snapshot = step() as AnyMachineSnapshot;
    return [snapshot, actions];
  };
  return { scope, collect };
}

/** A state's name: `live`, `live.syncing` where nested, `{a.x,b.y}` where parallel. */
export function stateName(value: unknown): string {
  if (typeof value === "string") return value;
  const parts = Object.entries(value as { [key: string]: unknown }).map(([key, inner]) => {
    const name = stateName(inner);
    return name === "{}" ? key : `${key}.${name}`;
  });
  return parts.length === 1 ? parts[0]! : `{${parts.join(",")}}`;
}

/** A snapshot as readers see it. */
export function viewOf(entity: EntityRef, snapshot: AnyMachineSnapshot, version: number): ActorView & {
  can(event: Event): boolean;
} {
  return {
    entity,
    state: stateName(snapshot.value),
    context: snapshot.context,
    version,
    can: (event) => snapshot.can(event as never),
  };
}
