/**
 * The pure half of a turn: an entity's state and some events give the next state and everything that has to be written.
 *
 * An event is all or nothing. One that the machine does not accept changes nothing; one at which the machine throws, or asks
 * for what it may not, changes nothing either and becomes a dead letter; the events after it are applied all the same.
 */
import type { AnyMachineSnapshot } from "xstate";
import { type Json, toJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Effect, Forget, Put, Remind, Remove, Reply, Turn } from "#src/base/turn.ts";
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

/** Something to apply to an entity. `poison` says why an earlier try to write its turn failed for good. */
export type TurnItem =
  & { readonly event: Event; poison?: string }
  & (
    | { readonly from: "command"; readonly id: string }
    | { readonly from: "input"; readonly seq: number }
    | { readonly from: "reminder"; readonly name: string; readonly n: number }
    | { readonly from: "outcome"; readonly n: number }
  );

/** The end of an effect that has no outcome to apply. */
export interface EffectEnd {
  readonly from: "ended";
  readonly n: number;
  poison?: string;
}

/** An entity as its worker holds it. `snapshot` is missing before the first event. */
export interface EntityState {
  readonly snapshot: AnyMachineSnapshot | undefined;
  readonly version: number;
  readonly inputSeq: number;
}

/** A row of the kind's own tables to be replaced (`row`) or deleted (`key`). */
export interface OwnRow {
  readonly table: string;
  readonly key: readonly string[];
  readonly values: { readonly [column: string]: Json };
  readonly remove: boolean;
}

/** An event that failed and was set aside. */
export interface FailedEvent {
  readonly from: TurnItem["from"];
  readonly cause: string;
  readonly event: Event;
  readonly error: string;
}

/** What a turn writes, and what follows once it is written. */
export interface TurnRows {
  readonly next: EntityState;
  /** JSON of the next snapshot; `undefined` when no event was applied. */
  readonly text: string | undefined;
  readonly transitions: readonly Transition[];
  readonly bodies: readonly string[];
  /** Answers of commands of this turn; `undefined` leaves the reply open. */
  readonly results: ReadonlyMap<string, Result<Json, Failure> | undefined>;
  /** Answers of commands of earlier turns. */
  readonly answers: ReadonlyMap<string, Result<Json, Failure>>;
  readonly effects: readonly { readonly n: number; readonly name: string; readonly input: Json }[];
  /** Effects that end with this turn. */
  readonly ended: readonly number[];
  /** The reminders as the turn leaves them, by name: set, or taken back. */
  readonly reminders: ReadonlyMap<
    string,
    { readonly n: number; readonly at: number; readonly event: Event } | undefined
  >;
  /** Reminders that this turn applies. */
  readonly fired: readonly { readonly name: string; readonly n: number }[];
  readonly inputs: readonly { readonly seq: number; readonly outcome: "applied" | "skipped" | "failed" }[];
  readonly rows: readonly OwnRow[];
  readonly dead: readonly FailedEvent[];
}

/** Most effects and reminders that one event may ask for. */
const PER_EVENT = 64;

/** What an item is known by in history: its command's id, or where it came from. */
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

/** Applies items in order, at wall-clock time `at` (ms since 1970). */
export function fold(
  kind: ActorKind,
  entity: EntityRef,
  held: EntityState,
  items: readonly (TurnItem | EffectEnd)[],
  at: number,
): TurnRows {
  const folded = attempt(kind, entity, held, items, at, false);
  if (folded !== undefined) return folded;
  // A snapshot cannot be kept: look at each one, so that only the event that spoils it is refused.
  return attempt(kind, entity, held, items, at, true)!;
}

function attempt(
  kind: ActorKind,
  entity: EntityRef,
  held: EntityState,
  items: readonly (TurnItem | EffectEnd)[],
  at: number,
  careful: boolean,
): TurnRows | undefined {
  let { snapshot, version, inputSeq } = held;
  const turn = new Rows(kind, entity, at);
  for (const item of items) {
    if (item.from === "ended") {
      turn.ended.push(item.n);
      continue;
    }
    if (item.from === "reminder" && turn.supersedes(item.name)) continue;
    if (item.from === "input") inputSeq = Math.max(inputSeq, item.seq);
    try {
      if (item.poison !== undefined) throw new Error(item.poison);
      const [current, entered] = snapshot === undefined ? startMachine(kind.machine, entity) : [snapshot, []];
      const event = { ...item.event, turn: turnOf(item, at) };
      if (!current.can(event as never)) {
        turn.refuse(item, stateName(current.value));
        continue;
      }
      const [next, actions] = stepMachine(kind.machine, current, event);
      if (next.status === "error") throw next.error;
      if (careful) dehydrate(kind.machine, next);
      turn.apply(item, version + 1, stateName(current.value), stateName(next.value), [...entered, ...actions]);
      snapshot = next;
      version++;
    } catch (error) {
      turn.spoil(item, reason(error));
    }
  }
  let text: string | undefined;
  if (version > held.version) {
    try {
      text = dehydrate(kind.machine, snapshot!);
    } catch (error) {
      if (careful) throw error;
      return undefined;
    }
  }
  return turn.folded({ snapshot, version, inputSeq }, text);
}

function turnOf(item: TurnItem, at: number): Turn {
  if (item.from === "command") return { at, command: item.id };
  return item.from === "input" ? { at, input: item.seq } : { at };
}

/** Gathers what a turn writes. An event's rows are gathered apart and kept only when all of them stand. */
class Rows {
  readonly ended: number[] = [];
  private transitions: Transition[] = [];
  private bodies: string[] = [];
  private results = new Map<string, Result<Json, Failure> | undefined>();
  private answers = new Map<string, Result<Json, Failure>>();
  private effects: { n: number; name: string; input: Json }[] = [];
  private reminders = new Map<string, { n: number; at: number; event: Event } | undefined>();
  private fired: { name: string; n: number }[] = [];
  private inputs: { seq: number; outcome: "applied" | "skipped" | "failed" }[] = [];
  private rows = new Map<string, OwnRow>();
  private dead: FailedEvent[] = [];

  constructor(
    private readonly kind: ActorKind,
    private readonly entity: EntityRef,
    private readonly at: number,
  ) {}

  apply(item: TurnItem, version: number, from: string, to: string, actions: readonly Action[]): void {
    const replies: Reply[] = [];
    const effects: typeof this.effects = [];
    const reminders: [string, { n: number; at: number; event: Event } | undefined][] = [];
    const rows: [string, OwnRow][] = [];
    for (const { type, params } of actions) {
      const n = version * PER_EVENT + effects.length + reminders.length;
      if (effects.length + reminders.length >= PER_EVENT) {
        throw new Error(`more than ${PER_EVENT} effects and reminders`);
      }
      if (type === "xstate.raise" && (params as { delay?: unknown } | undefined)?.delay === undefined) continue;
      if (!isTurnAction(type)) throw new Error(`"${type}" is no action of a turn`);
      if (type === "reply") replies.push(params as Reply);
      else if (type === "effect") effects.push({ n, ...this.effect(params as Effect) });
      else if (type === "remind") reminders.push(this.reminder(params as Remind, n));
      else if (type === "forget") reminders.push([(params as Forget).name, undefined]);
      else if (type === "put") rows.push(this.row((params as Put).table, (params as Put).row, false));
      else rows.push(this.row((params as Remove).table, (params as Remove).key, true));
    }
    if (effects.length + reminders.length > PER_EVENT) throw new Error(`more than ${PER_EVENT} effects and reminders`);
    this.consume(item, "applied");
    if (item.from === "command") this.results.set(item.id, undefined);
    for (const reply of replies) this.reply(item, reply);
    this.effects.push(...effects);
    for (const [name, reminder] of reminders) this.reminders.set(name, reminder);
    for (const [key, row] of rows) this.rows.set(key, row);
    const cause = causeOf(this.entity, item);
    this.transitions.push({ entity: this.entity, version, from, to, type: item.event.type, cause, at: this.at });
    this.bodies.push(toJson(item.event));
  }

  /** Whether an earlier event of this turn set, took back or used up the reminder of that name. */
  supersedes(name: string): boolean {
    return this.reminders.has(name);
  }

  refuse(item: TurnItem, state: string): void {
    this.consume(item, "skipped");
    if (item.from !== "command") return;
    const message = `${this.entity.kind} does not accept ${item.event.type} in the state "${state}".`;
    this.results.set(item.id, fail("not_possible", message, { state, event: item.event.type }));
  }

  spoil(item: TurnItem, error: string): void {
    this.consume(item, "failed");
    this.dead.push({ from: item.from, cause: causeOf(this.entity, item), event: item.event, error });
    if (item.from !== "command") return;
    this.results.set(item.id, fail("failed", `${item.event.type} failed and was set aside: ${error}`));
  }

  folded(next: EntityState, text: string | undefined): TurnRows {
    const { transitions, bodies, results, answers, effects, ended, reminders, fired, inputs, dead } = this;
    const rows = [...this.rows.values()];
    return { next, text, transitions, bodies, results, answers, effects, ended, reminders, fired, inputs, rows, dead };
  }

  /** Whatever became of it, an item is used up. */
  private consume(item: TurnItem, outcome: "applied" | "skipped" | "failed"): void {
    if (item.from === "input") this.inputs.push({ seq: item.seq, outcome });
    else if (item.from === "outcome") this.ended.push(item.n);
    else if (item.from === "reminder") {
      this.fired.push({ name: item.name, n: item.n });
      this.reminders.set(item.name, undefined);
    }
  }

  private reply(item: TurnItem, reply: Reply): void {
    const result = "error" in reply ? { ok: false as const, error: reply.error } : ok(reply.ok ?? null);
    const to = reply.to ?? (item.from === "command" ? item.id : undefined);
    if (to === undefined) return;
    if (!this.results.has(to)) {
      if (!this.answers.has(to)) this.answers.set(to, result);
    } else if (this.results.get(to) === undefined) this.results.set(to, result);
  }

  private effect({ name, input }: Effect): { name: string; input: Json } {
    if (this.kind.effects === undefined || !Object.hasOwn(this.kind.effects, name)) {
      throw new Error(`${this.kind.kind} has no effect "${name}"`);
    }
    return { name, input: input ?? null };
  }

  private reminder({ name, at, event }: Remind, n: number): [string, { n: number; at: number; event: Event }] {
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
