/** What a program reads of actors: rows of the last commit, without waiting for a worker. */
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import { parsePosition, type Position, positionText } from "#src/runtime/events/position.ts";
import { kebab, type Transition } from "#src/runtime/events/transition.ts";
import { inspectActor, listActors, readHistory } from "#src/runtime/operations/inspect.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import type {
  ActorState,
  EventOptions,
  HistoryEntry,
  ListedActor,
  ListOptions,
  PageOptions,
  RuntimeEvent,
} from "#src/packages/runtime/surface.ts";

const MOST = 1_000;

/** The reads of a runtime. */
export interface Reads {
  read(entity: EntityRef): Promise<ActorState | undefined>;
  list(kind: string, options?: ListOptions): Promise<ListedActor[]>;
  history(entity: EntityRef, options?: PageOptions): Promise<HistoryEntry[]>;
  events(options?: EventOptions): AsyncGenerator<RuntimeEvent, void>;
}

export function createReads(store: Store, log: EventLog): Reads {
  return {
    read: async ({ kind, id }) => {
      const found = await inspectActor(store, { kind, id });
      if (found === undefined) return undefined;
      const { state, context, version, machineVersion, changed, done, paused, reminders, effects } = found;
      return { kind, id, state, context, version, machineVersion, changed, done, paused, reminders, effects };
    },
    list: async (kind, { after, limit, ...filter } = {}) => {
      const place = after === undefined ? undefined : { kind, id: after };
      const rows = await listActors(store, { kind, ...filter }, place, pageSize(limit));
      return rows.map(({ id, state, version, paused, changed }) => ({ kind, id, state, version, paused, changed }));
    },
    history: async (entity, { before, limit } = {}) => {
      const rows = await readHistory(store, entity, before, pageSize(limit));
      return rows.map(({ version, from, to, body, cause, at }) => ({ version, from, to, event: body, cause, at }));
    },
    events: (options = {}) => events(log, options),
  };
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
