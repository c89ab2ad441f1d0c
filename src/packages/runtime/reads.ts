/** What a program reads of actors: rows of the last commit, without waiting for a worker. */
import { z } from "zod";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import { parsePosition, type Position, positionText } from "#src/runtime/events/position.ts";
import { kebab, type Transition } from "#src/runtime/events/transition.ts";
import { findActors, typeOf } from "#src/runtime/operations/findActors.ts";
import { type ActorSummary, inspectActor, listActors, readHistory } from "#src/runtime/operations/inspect.ts";
import type { ActorKind, EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import type {
  ActorPage,
  ActorState,
  EventOptions,
  HistoryEntry,
  ListedActor,
  ListOptions,
  PageOptions,
  RuntimeEvent,
} from "#src/packages/runtime/surface.ts";

const MOST = 1_000;

type Listable = Pick<ActorKind, "kind" | "attributes">;

type ReadableActor = Pick<ActorKind, "kind" | "version" | "migrate">;

/** The reads of a runtime. */
export interface Reads {
  read(actor: ReadableActor, id: string): Promise<ActorState | undefined>;
  list(kind: Listable, options?: ListOptions): Promise<ActorPage>;
  history(entity: EntityRef, options?: PageOptions): Promise<HistoryEntry[]>;
  events(options?: EventOptions): AsyncGenerator<RuntimeEvent, void>;
}

export function createReads(store: Store, log: EventLog): Reads {
  return {
    read: async (actor, id) => {
      const { kind } = actor;
      const found = await inspectActor(store, { kind, id }, actor);
      if (found === undefined) return undefined;
      const { state, context, version, machineVersion, changed, done, paused, reminders, effects } = found;
      return { kind, id, state, context, version, machineVersion, changed, done, paused, reminders, effects };
    },
    list: (kind, options = {}) =>
      options.where === undefined && options.order === undefined
        ? listById(store, kind, options)
        : listByAttributes(store, kind, options),
    history: async (entity, { before, limit } = {}) => {
      const rows = await readHistory(store, entity, before, pageSize(limit));
      return rows.map(({ version, from, to, body, cause, at }) => ({ version, from, to, event: body, cause, at }));
    },
    events: (options = {}) => events(log, options),
  };
}

async function listById(store: Store, { kind }: Listable, options: ListOptions): Promise<ActorPage> {
  const { after, limit, state, paused, prefix } = options;
  const most = pageSize(limit);
  const place = after === undefined ? undefined : { kind, id: after };
  const rows = await listActors(store, { kind, state, paused, prefix }, place, most);
  const last = rows.length < most ? undefined : rows.at(-1);
  return { actors: rows.map(listed), ...(last === undefined ? {} : { next: last.id }) };
}

async function listByAttributes(store: Store, kind: Listable, options: ListOptions): Promise<ActorPage> {
  const { where = [], order, descending, after, limit, state, paused, prefix } = options;
  if (prefix !== undefined) throw new TypeError("a list by attributes has no prefix");
  const unknown = [...where.map(({ attribute }) => attribute), order].find((name) =>
    name !== undefined && typeOf(kind, name) === undefined
  );
  if (unknown !== undefined) throw new TypeError(`${kind.kind} has no attribute "${unknown}"`);
  if (where.length === 0 && order === undefined) throw new TypeError("a list by attributes names none");
  const most = pageSize(limit);
  const place = after === undefined ? undefined : placeIn(after);
  const rows = await findActors(store, { kind, where, order, descending, after: place, limit: most, state, paused });
  const last = rows.length < most ? undefined : rows.at(-1)?.place;
  return {
    actors: rows.map((row) => ({ ...listed(row), attributes: row.attributes })),
    ...(last === undefined ? {} : { next: JSON.stringify([last.value, last.id]) }),
  };
}

const listed = ({ kind, id, state, version, paused, changed }: ActorSummary): ListedActor => (
  { kind, id, state, version, paused, changed }
);

const attributePlace = z.tuple([z.string(), z.string()]);

/** @throws {TypeError} where the text is not `next` of a list by attributes */
function placeIn(after: string): { value: string; id: string } {
  try {
    const [value, id] = attributePlace.parse(JSON.parse(after));
    return { value, id };
  } catch {
    throw new TypeError("after is not of this list");
  }
}

function pageSize(limit = 100): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new TypeError(`limit is not an integer from 1 to ${MOST}`);
}

async function* events(log: EventLog, options: EventOptions): AsyncGenerator<RuntimeEvent, void> {
  const { kind, id, type, from = "now", signal = new AbortController().signal, onReset } = options;
  const filter = { kind, id, transition: type && kebab(type) };
  for await (const { events, reset } of log.follow(placeOf(from), filter, signal)) {
    if (reset) onReset?.();
    for (const { transition, position } of events) yield eventOf(transition, position);
  }
}

function placeOf(from: string): Position | "now" | "start" {
  if (from === "now" || from === "start") return from;
  const position = parsePosition(from);
  if (position === undefined) throw new TypeError("from is no position of an event");
  return position;
}

function eventOf({ entity, at, content, ...rest }: Transition, position: Position): RuntimeEvent {
  return {
    ...rest,
    kind: entity.kind,
    id: entity.id,
    at: new Date(at),
    position: positionText(position),
    ...(content === undefined ? {} : { content }),
  };
}
