/**
 * XState as pure functions: checks a machine, computes its transitions, and converts its snapshots to and from JSON.
 * Timers, promises and spawned actors would not survive a restore (or would run twice), so a machine that uses them is
 * refused.
 */
import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  createActor,
} from "xstate";
import type { Json } from "#src/base/json.ts";
import { memberOf } from "#src/base/member.ts";
import { onlyOf } from "#src/base/present.ts";
import { fail, type Failure } from "#src/base/result.ts";
import { type TurnAction, turnActions } from "#src/base/turn.ts";
import type { ActorKind, ActorView, EntityRef, Event, RuntimeCode } from "#src/runtime/types.ts";

/** XState's own actions that are pure. */
const PURE_ACTIONS = new Set(["xstate.assign", "xstate.enqueueActions", "xstate.raise"]);

/** An action that a machine requests. */
export interface Action {
  readonly type: string;
  readonly params: unknown;
}

/** Whether an action is one of `turnActions`; XState has checked its parameters where the machine is defined. */
export function isTurnAction(action: Action): action is TurnAction {
  return Object.hasOwn(turnActions, action.type);
}

/**
 * Why a kind cannot be run, in sentences; empty when it can. Actions inside `enqueueActions` are only known when they
 * run, and checked then.
 */
export function kindFaults(kind: ActorKind): string[] {
  const faults: string[] = [];
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(kind.kind)) {
    faults.push(`The kind "${kind.kind}" is not lower-case letters, digits and dashes.`);
  }
  const action = (state: string, value: unknown) => {
    const name = typeof value === "object" && value !== null ? memberOf(value, "type") : value;
    const code = typeof name === "string" ? memberOf(kind.machine.implementations.actions, name) : name;
    const builtIn = memberOf(code, "type");
    if (typeof builtIn === "string") {
      const delay = memberOf(code, "delay");
      if (!PURE_ACTIONS.has(builtIn) || delay !== undefined) {
        faults.push(`${state}: "${builtIn}"${delay === undefined ? "" : " with a delay"} is not an action of a turn.`);
      }
    } else if (typeof name !== "string") {
      faults.push(`${state}: an action that is a function would run outside the turn.`);
    } else if (!Object.hasOwn(turnActions, name)) faults.push(`${state}: "${name}" is not an action of a turn.`);
  };
  const visit = (node: AnyStateNode) => {
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
  visit(kind.machine.root);
  for (const [name, table] of Object.entries(kind.tables ?? {})) {
    if (table.key.length === 0) faults.push(`The table "${name}" has no key.`);
  }
  for (const name of Object.keys(kind.builds ?? {})) {
    if (name.startsWith("@")) faults.push(`The build "${name}" has a name of the runtime.`);
  }
  for (const [name, { atOnce, rate }] of Object.entries(kind.limits ?? {})) {
    const isCount = (value: number, most: number) => Number.isInteger(value) && value >= 1 && value <= most;
    if (!Object.hasOwn(kind.effects ?? {}, name)) faults.push(`The limit "${name}" is of no effect.`);
    const valid = (atOnce === undefined || isCount(atOnce, 1_000_000)) &&
      (rate === undefined || isCount(rate.count, 1_000) && rate.perMs > 0 && rate.perMs <= 1e11);
    if (!valid || atOnce === undefined && rate === undefined) faults.push(`The limit "${name}" is not a limit.`);
  }
  for (const name of Object.keys(kind.attributes ?? {})) {
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) faults.push(`The attribute "${name}" is not a name.`);
  }
  return faults;
}

/** Kinds by their names. @throws TypeError when one cannot be run; the message says why. */
export function kindsByName(kinds: readonly ActorKind[]): ReadonlyMap<string, ActorKind> {
  const byName = new Map<string, ActorKind>();
  for (const kind of kinds) {
    const faults = kindFaults(kind);
    if (byName.has(kind.kind)) faults.push(`There are two kinds "${kind.kind}".`);
    if (faults.length > 0) throw new TypeError(`The kind "${kind.kind}" cannot be run. ${faults.join(" ")}`);
    byName.set(kind.kind, kind);
  }
  return byName;
}

/** Largest snapshot, in bytes of JSON. */
export const SNAPSHOT_BYTES = 16_384;

/**
 * A snapshot as JSON text.
 * @throws TypeError when it holds a `bigint`.
 * @throws RangeError when it exceeds `SNAPSHOT_BYTES`.
 */
export function dehydrate(machine: AnyStateMachine, snapshot: AnyMachineSnapshot): string {
  const text = JSON.stringify(machine.getPersistedSnapshot(snapshot));
  if (text.length > SNAPSHOT_BYTES / 3) {
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > SNAPSHOT_BYTES) {
      throw new RangeError(`the snapshot has ${bytes} bytes; the limit is ${SNAPSHOT_BYTES}`);
    }
  }
  return text;
}

/** Thrown for a snapshot that a later version of the machine wrote. */
class NewerSnapshot extends Error {}

/** The failure of commands to an entity whose snapshot cannot be read, from the error that `hydrate` threw. */
export function unreadableFailure({ kind }: ActorKind, error: Error): { ok: false; error: Failure<RuntimeCode> } {
  if (!(error instanceof NewerSnapshot)) return fail("failed", `This ${kind} cannot be read: ${error.message}`);
  return fail(
    "newer_version",
    `This ${kind} was changed by a later version of Arbor: ${error.message}. Start that version.`,
  );
}

/**
 * Reads a snapshot from JSON. One of an older machine version is migrated.
 *
 * @throws Error when it is of a later version, or of an older one and the kind has no `migrate`.
 */
export function hydrate(
  kind: Pick<ActorKind, "kind" | "version" | "machine" | "migrate">,
  json: Json,
  version: number,
): AnyMachineSnapshot {
  let snapshot = json;
  if (version !== kind.version) {
    const what = `a snapshot of version ${version} of the machine "${kind.kind}", which is at ${kind.version}`;
    if (version > kind.version) throw new NewerSnapshot(what);
    if (kind.migrate === undefined) throw new Error(what);
    snapshot = kind.migrate(json, version);
  }
  const { scope } = pureScope(kind.machine);
  // XState types a stored snapshot by its status, and does not check it: hence the cast.
  return kind.machine.restoreSnapshot(snapshot as never, scope);
}

/** The snapshot before the first event, and the actions of entering it. */
export function startMachine(machine: AnyStateMachine, entity: EntityRef): [AnyMachineSnapshot, readonly Action[]] {
  const { scope, collect } = pureScope(machine);
  return collect(() => machine.getInitialSnapshot(scope, { kind: entity.kind, id: entity.id }));
}

/** The snapshot after an event, and the requested actions. @throws what the machine throws. */
export function stepMachine(
  machine: AnyStateMachine,
  snapshot: AnyMachineSnapshot,
  event: Event,
): [AnyMachineSnapshot, readonly Action[]] {
  const { scope, collect } = pureScope(machine);
  return collect(() => machine.transition(snapshot, event, scope));
}

const scopes = new WeakMap<AnyStateMachine, AnyActorScope>();

/**
 * An actor scope of XState that executes nothing and only collects actions. XState's own `transition()` creates one for
 * each call, and an initial snapshot without input with it, which took three quarters of its time. Transitions are
 * synchronous, so one scope per machine is enough.
 */
function pureScope(machine: AnyStateMachine) {
  let scope = scopes.get(machine);
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
    };
    scopes.set(machine, scope);
  }
  const collector = scope;
  const collect = (step: () => AnyMachineSnapshot): [AnyMachineSnapshot, readonly Action[]] => {
    const actions: Action[] = [];
    collector.actionExecutor = ({ type, params }) => void actions.push({ type, params });
    return [step(), actions];
  };
  return { scope, collect };
}

/** Name of a state value: `live`, `live.syncing` for a nested state, `{a.x,b.y}` for parallel states. */
export function stateName(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) throw new TypeError("a state value is neither a name nor an object");
  const parts = Object.entries(value).map(([key, inner]) => {
    const name = stateName(inner);
    return name === "{}" ? key : `${key}.${name}`;
  });
  return parts.length === 1 ? onlyOf(parts) : `{${parts.join(",")}}`;
}

/** A snapshot in the form that builds read. */
export function viewOf(entity: EntityRef, snapshot: AnyMachineSnapshot, version: number): ActorView & {
  can(event: Event): boolean;
} {
  return {
    entity,
    state: stateName(snapshot.value),
    context: snapshot.context,
    version,
    can: (event) => snapshot.can(event),
  };
}
