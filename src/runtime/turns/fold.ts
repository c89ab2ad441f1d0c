/**
 * The pure half of a turn: folds events into an entity's state, and collects the rows to write.
 *
 * An event is applied entirely or not at all. An event that the machine does not accept changes nothing. An event at
 * which the machine throws, or requests something that is not allowed, changes nothing and becomes a dead letter. The
 * events after it are still applied.
 */
import type { AnyMachineSnapshot } from "xstate";
import { isStorable } from "#src/base/bytes.ts";
import { isEqualJson, type Json, toJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Cancel, Effect, Remind, Reply, Turn } from "#src/base/turn.ts";
import {
  type AttributeRow,
  type AttributeRows,
  attributesOf,
  changedAttributes,
} from "#src/runtime/turns/attributes.ts";
import { contentOf } from "#src/runtime/events/content.ts";
import type { Transition } from "#src/runtime/events/transition.ts";
import {
  type Action,
  dehydrate,
  isTurnAction,
  startMachine,
  stateName,
  stepMachine,
} from "#src/runtime/turns/machine.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import type { ActorKind, EntityRef, Event } from "#src/runtime/types.ts";
import { PER_EVENT } from "#src/base/effectNumbers.ts";

/** An event to apply to an entity. `poison` is the reason why an earlier write of its turn failed permanently. */
export type TurnItem =
  & { readonly event: Event; poison?: string }
  & (
    | { readonly from: "command"; readonly id: string }
    | { readonly from: "input"; readonly seq: number }
    | { readonly from: "reminder"; readonly name: string; readonly n: number }
    | { readonly from: "outcome"; readonly n: number; readonly effect?: Effect }
  );

/** The end of an effect without an outcome. */
export interface EffectEnd {
  readonly from: "ended";
  readonly n: number;
  poison?: string;
}

/** The state of an entity in its worker's memory. `snapshot` is `undefined` before the first event. */
export interface EntityState {
  readonly snapshot: AnyMachineSnapshot | undefined;
  readonly version: number;
  readonly inputSeq: number;
  /** As they are stored; `undefined` when that is unknown, or the kind has none. */
  readonly attributes?: AttributeRows | undefined;
}

/**
 * A change to one of the kind's own tables: the row `values` is upserted, or with `remove` the row of that key is
 * deleted.
 */
export interface OwnRow {
  readonly table: string;
  readonly key: readonly string[];
  readonly values: { readonly [column: string]: Json };
  readonly remove: boolean;
}

/** An event that failed and becomes a dead letter. */
export interface FailedEvent {
  readonly from: TurnItem["from"];
  readonly cause: string;
  readonly event: Event;
  readonly error: string;
}

/** A reminder as a turn sets it; `n` tells it from a later one of the same name. */
export interface SetReminder {
  readonly n: number;
  readonly at: number;
  readonly event: Event;
}

/** An effect that a turn requests; `key`: that of its limit. */
export interface RequestedEffect extends Effect {
  readonly n: number;
  readonly key?: string;
}

/** Everything that a turn writes. */
export interface TurnRows {
  readonly next: EntityState;
  /** The next snapshot as JSON; `undefined` when no event was applied. */
  readonly text: string | undefined;
  readonly transitions: readonly Transition[];
  readonly bodies: readonly string[];
  /** Replies to commands of this turn; `undefined` leaves the reply open. */
  readonly results: ReadonlyMap<string, Result<Json, Failure> | undefined>;
  /** Replies to commands of earlier turns. */
  readonly answers: ReadonlyMap<string, Result<Json, Failure>>;
  readonly effects: readonly RequestedEffect[];
  /** Whether the kind limits effects, so that those that end may be in the queue. */
  readonly limited: boolean;
  /** Cancels effects of earlier turns. */
  readonly cancelled: readonly Cancel[];
  /** Effects that end with this turn. */
  readonly ended: readonly number[];
  /** The reminders that the turn changes, by name: set, or deleted (`undefined`). */
  readonly reminders: ReadonlyMap<string, SetReminder | undefined>;
  /** Reminders that this turn applies. */
  readonly fired: readonly { readonly name: string; readonly n: number }[];
  readonly inputs: readonly { readonly seq: number; readonly outcome: "applied" | "skipped" | "failed" }[];
  readonly ownRows: readonly OwnRow[];
  /** The attributes that the turn changes. */
  readonly attributes: readonly AttributeRow[];
  readonly failed: readonly FailedEvent[];
}

/** The cause of an item in the history: the id of its command, or its source. */
export function causeOf(entity: EntityRef, item: TurnItem | EffectEnd): string {
  if (item.from === "command") return item.id;
  if (item.from === "input") return `input:${item.seq}`;
  if (item.from === "reminder") return `reminder:${item.name}`;
  return effectId(entity, item.n);
}

/** `effect:<kind>/<id>:<n>`. */
export function effectId(entity: EntityRef, n: number): string {
  return `effect:${entityKey(entity)}:${n}`;
}

/**
 * The key of an effect under the limit of its kind; `undefined` without a limit.
 * @throws TypeError when the key is no text of at most 200 characters, and whatever the kind's function throws.
 */
export function limitKey(
  { kind, limits }: Pick<ActorKind, "kind" | "limits">,
  { entity, name, input }: Effect & { readonly entity: EntityRef },
): string | undefined {
  const limit = limits !== undefined && Object.hasOwn(limits, name) ? limits[name] : undefined;
  if (limit === undefined) return undefined;
  const key = limit.key?.(input, entity) ?? "";
  if (typeof key === "string" && key.length <= 200 && isStorable(key)) return key;
  throw new TypeError(`the key of the effect "${name}" of ${kind} is no text of at most 200 characters`);
}

/** Whether one of some cancellations applies to an effect. */
export function isCancelled(cancelled: readonly Cancel[], effect: Effect): boolean {
  return cancelled.some(({ name, input }) =>
    name === effect.name && (input === undefined || isEqualJson(input, effect.input))
  );
}

/** Applies items in order, at wall-clock time `at` (ms since 1970). */
export function fold(
  kind: ActorKind,
  entity: EntityRef,
  state: EntityState,
  items: readonly (TurnItem | EffectEnd)[],
  at: number,
): TurnRows {
  // If the last snapshot or its attributes cannot be stored, they are checked after each event, so that only the event
  // that breaks them is refused.
  const rows = attempt(kind, entity, state, items, at, false) ?? attempt(kind, entity, state, items, at, true);
  if (rows === undefined) throw new Error("the snapshot of a turn cannot be stored");
  return rows;
}

function attempt(
  kind: ActorKind,
  entity: EntityRef,
  state: EntityState,
  items: readonly (TurnItem | EffectEnd)[],
  at: number,
  careful: boolean,
): TurnRows | undefined {
  let { snapshot, version, inputSeq, attributes } = state;
  const turn = new TurnRowsBuilder(kind, entity, at);
  for (const item of items) {
    // An effect that ran twice, as when its partition left this worker and came back while an outcome waited.
    if ((item.from === "outcome" || item.from === "ended") && turn.ends(item.n)) continue;
    if (item.from === "ended") {
      turn.end(item.n);
      continue;
    }
    if (item.from === "reminder" && turn.supersedes(item.name)) continue;
    if (item.from === "outcome" && turn.cancels(item.effect)) continue;
    if (item.from === "input") inputSeq = Math.max(inputSeq, item.seq);
    try {
      if (item.poison !== undefined) throw new Error(item.poison);
      const [current, entered] = snapshot === undefined ? startMachine(kind.machine, entity) : [snapshot, []];
      const event = { ...item.event, turn: turnOf(item, at) };
      if (!current.can(event)) {
        turn.refuse(item, stateName(current.value));
        continue;
      }
      const [next, actions] = stepMachine(kind.machine, current, event);
      if (next.status === "error") throw next.error;
      if (careful) {
        dehydrate(kind.machine, next);
        attributesOf(kind, next);
      }
      turn.apply(item, version + 1, stateName(current.value), stateName(next.value), [...entered, ...actions]);
      snapshot = next;
      version++;
    } catch (error) {
      turn.spoil(item, reason(error));
    }
  }
  let text: string | undefined;
  if (snapshot !== undefined && version > state.version) {
    try {
      text = dehydrate(kind.machine, snapshot);
      attributes = attributesOf(kind, snapshot);
    } catch (error) {
      if (careful) throw error;
      return undefined;
    }
  }
  const changed = attributes === state.attributes ? [] : changedAttributes(state.attributes, attributes);
  return turn.finish({ snapshot, version, inputSeq, attributes }, text, changed);
}

/** Whether XState has carried out an action already: an event that the machine raised for itself. */
function isImmediateRaise({ type, params }: Action): boolean {
  const delay = typeof params === "object" && params !== null && "delay" in params ? params.delay : undefined;
  return type === "xstate.raise" && delay === undefined;
}

function turnOf(item: TurnItem, at: number): Turn {
  if (item.from === "command") return { at, command: item.id };
  return item.from === "input" ? { at, input: item.seq } : { at };
}

/** An event as the history keeps it. */
function logged({ unlogged }: ActorKind, event: Event): Event {
  const without = unlogged !== undefined && Object.hasOwn(unlogged, event.type) ? unlogged[event.type] : undefined;
  if (without === undefined) return event;
  return { ...Object.fromEntries(Object.entries(event).filter(([name]) => !without.includes(name))), type: event.type };
}

/** The lists and maps of `TurnRows` that are filled event by event. */
type Filling = {
  [Name in Exclude<keyof TurnRows, "next" | "text" | "ownRows" | "attributes" | "limited">]: TurnRows[Name] extends
    ReadonlyMap<infer K, infer V> ? Map<K, V>
    : TurnRows[Name] extends readonly (infer Row)[] ? Row[]
    : never;
};

/** Collects the rows of a turn. The rows of an event are added only when all of them are valid. */
class TurnRowsBuilder {
  private readonly rows: Filling = {
    transitions: [],
    bodies: [],
    results: new Map(),
    answers: new Map(),
    effects: [],
    cancelled: [],
    ended: [],
    reminders: new Map(),
    fired: [],
    inputs: [],
    failed: [],
  };
  private readonly ownRows = new Map<string, OwnRow>();

  constructor(
    private readonly kind: ActorKind,
    private readonly entity: EntityRef,
    private readonly at: number,
  ) {}

  apply(item: TurnItem, version: number, from: string, to: string, actions: readonly Action[]): void {
    const replies: Reply[] = [];
    let effects: typeof this.rows.effects = [];
    const cancelled: Cancel[] = [];
    const reminders: [string, SetReminder | undefined][] = [];
    const rows: [string, OwnRow][] = [];
    let n = version * PER_EVENT;
    for (const action of actions) {
      if (isImmediateRaise(action)) continue;
      if (!isTurnAction(action)) throw new Error(`"${action.type}" is not an action of a turn`);
      const { type, params } = action;
      if (type === "reply") replies.push(params);
      else if (type === "effect") effects.push({ n: n++, ...this.effect(params) });
      else if (type === "cancel") {
        effects = effects.filter((effect) => !isCancelled([params], effect));
        cancelled.push(params);
      } else if (type === "remind") reminders.push(this.reminder(params, n++));
      else if (type === "forget") reminders.push([params.name, undefined]);
      else if (type === "put") rows.push(this.row(params.table, params.row, false));
      else rows.push(this.row(params.table, params.key, true));
    }
    if (n > (version + 1) * PER_EVENT) throw new Error(`more than ${PER_EVENT} effects and reminders`);
    this.consume(item, "applied");
    if (item.from === "command") this.rows.results.set(item.id, undefined);
    for (const reply of replies) this.reply(item, reply);
    if (cancelled.length > 0) {
      this.rows.effects = this.rows.effects.filter((effect) => !isCancelled(cancelled, effect));
      this.rows.cancelled.push(...cancelled);
    }
    this.rows.effects.push(...effects);
    for (const [name, reminder] of reminders) this.rows.reminders.set(name, reminder);
    for (const [key, row] of rows) this.ownRows.set(key, row);
    const cause = causeOf(this.entity, item);
    const { entity, at, rows: { transitions } } = this;
    const event = logged(this.kind, item.event);
    const content = contentOf(this.kind.content, event);
    const transition = { entity, version, from, to, type: event.type, cause, at };
    transitions.push(content === undefined ? transition : { ...transition, content });
    this.rows.bodies.push(toJson(event));
  }

  /** Whether an earlier event of this turn set, deleted or consumed the reminder of that name. */
  supersedes(name: string): boolean {
    return this.rows.reminders.has(name);
  }

  /** Whether an earlier event of this turn cancelled an effect of an earlier turn. */
  cancels(effect: Effect | undefined): boolean {
    return effect !== undefined && isCancelled(this.rows.cancelled, effect);
  }

  refuse(item: TurnItem, stateName: string): void {
    this.consume(item, "skipped");
    if (item.from !== "command") return;
    const message = `${this.entity.kind} does not accept ${item.event.type} in the state "${stateName}".`;
    this.rows.results.set(item.id, fail("not_possible", message, { state: stateName, event: item.event.type }));
  }

  spoil(item: TurnItem, error: string): void {
    this.consume(item, "failed");
    this.rows.failed.push({ from: item.from, cause: causeOf(this.entity, item), event: item.event, error });
    if (item.from !== "command") return;
    this.rows.results.set(item.id, fail("failed", `${item.event.type} failed and is a dead letter: ${error}`));
  }

  finish(next: EntityState, text: string | undefined, attributes: readonly AttributeRow[]): TurnRows {
    const limited = this.kind.limits !== undefined;
    return { ...this.rows, ownRows: [...this.ownRows.values()], next, text, attributes, limited };
  }

  /** Whether an earlier item of this turn has ended the effect. */
  ends(n: number): boolean {
    return this.rows.ended.includes(n);
  }

  /** Ends an effect. */
  end(n: number): void {
    this.rows.ended.push(n);
  }

  /** Marks an item as consumed, whatever its outcome. */
  private consume(item: TurnItem, outcome: "applied" | "skipped" | "failed"): void {
    if (item.from === "input") this.rows.inputs.push({ seq: item.seq, outcome });
    else if (item.from === "outcome") this.end(item.n);
    else if (item.from === "reminder") {
      this.rows.fired.push({ name: item.name, n: item.n });
      this.rows.reminders.set(item.name, undefined);
    }
  }

  private reply(item: TurnItem, reply: Reply): void {
    const result = "error" in reply ? { ok: false as const, error: reply.error } : ok(reply.ok ?? null);
    const to = reply.to ?? (item.from === "command" ? item.id : undefined);
    if (to === undefined) return;
    if (!this.rows.results.has(to)) {
      if (!this.rows.answers.has(to)) this.rows.answers.set(to, result);
    } else if (this.rows.results.get(to) === undefined) this.rows.results.set(to, result);
  }

  private effect({ name, input = null }: Effect): Effect & { key?: string } {
    if (this.kind.effects === undefined || !Object.hasOwn(this.kind.effects, name)) {
      throw new Error(`${this.kind.kind} has no effect "${name}"`);
    }
    const key = limitKey(this.kind, { entity: this.entity, name, input });
    return key === undefined ? { name, input } : { name, input, key };
  }

  private reminder({ name, at, event }: Remind, n: number): [string, SetReminder] {
    if (!Number.isFinite(at)) throw new Error(`the reminder "${name}" has no time`);
    return [name, { n, at: Math.round(at), event }];
  }

  private row(name: string, values: { readonly [column: string]: Json }, remove: boolean): [string, OwnRow] {
    const own = this.kind.tables?.[name];
    if (own === undefined) throw new Error(`${this.kind.kind} has no table "${name}"`);
    const key = own.key.map((column) => values[column]);
    if (key.some((value) => value === undefined || value === null)) {
      throw new Error(`a row of "${name}" lacks a column of its key`);
    }
    return [`${own.table} ${toJson(key)}`, { table: own.table, key: own.key, values, remove }];
  }
}
