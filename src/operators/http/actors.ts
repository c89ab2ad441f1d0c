/** Actors over HTTP: lists, one of them whole, and what an operator may do to one. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/operators/api/operator.ts";
import { page, readCursor } from "#src/operators/http/cursor.ts";
import { describeHistory } from "#src/operators/http/history.ts";
import type { Lookups } from "#src/operators/http/lookups.ts";
import { badKind, knownSelection, unknownKind } from "#src/operators/http/selection.ts";
import { answered, refusal } from "#src/operators/http/status.ts";
import { endpoint, type SchemaOutputs } from "#src/http/route.ts";
import type { Control } from "#src/runtime/operations/control.ts";
import type { AttributeValue, AttributeValues } from "#src/runtime/operations/attributes.ts";
import { findActors, typeOf } from "#src/runtime/operations/findActors.ts";
import { allowedIn } from "#src/runtime/operations/graph.ts";
import {
  hasReminder,
  inspectActor,
  listActors,
  listActorsByChange,
  readHistory,
  readPaused,
} from "#src/runtime/operations/inspect.ts";
import { readPast } from "#src/runtime/operations/past.ts";
import type { ActorKind, EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export interface ActorEndpoints {
  readonly store: Store;
  readonly kinds: ReadonlyMap<string, OperatorKind>;
  readonly control: Control;
  readonly index: Lookups | undefined;
}

/** What this service needs of a kind. */
export type OperatorKind = Pick<
  ActorKind,
  "kind" | "ids" | "version" | "machine" | "content" | "migrate" | "attributes" | "limits"
>;

const entityPlace = z.object(api.actorPath);
const changedPlace = entityPlace.extend({ at: z.string().regex(/^\d{1,18}$/) });
const versionPlace = z.int().min(0);
const attributePlace = z.object({ value: z.string(), id: api.actorPath.id });
/** A number of an attribute, which PostgreSQL compares exactly. */
const NUMBER = /^-?\d{1,30}(\.\d{1,30})?$/;
const NOTHING: ReturnType<typeof allowedIn> = { events: [], intents: [] };
const UNKNOWN = { 404: "`actor_unknown`: the actor has never applied an event; `kind_unknown`" };

const unknown = (kinds: ActorEndpoints["kinds"], { kind, id }: EntityRef) =>
  kinds.has(kind)
    ? refusal({ code: "actor_unknown", message: `No ${kind} ${id} exists.` })
    : unknownKind(kind, kinds.values());

/** The row of an actor; throws 404 where there is none. */
async function known({ store, kinds }: Pick<ActorEndpoints, "store" | "kinds">, entity: EntityRef) {
  const row = await readPaused(store, entity);
  if (row === undefined) throw unknown(kinds, entity);
  return row;
}

type ActorsQuery = SchemaOutputs<typeof api.actorsQuery>;

/** A page of actors by an attribute. */
async function byAttribute(store: Store, kinds: ActorEndpoints["kinds"], attribute: string, query: ActorsQuery) {
  const { state, paused, q, order, limit, after, sort, failing, changedSince, changedBefore } = query;
  const bad = (message: string, details?: unknown) => refusal({ code: "bad_attribute", message, details });
  if (sort !== "id" || [failing, changedSince, changedBefore].some((value) => value !== undefined)) {
    throw bad("A list by an attribute has no sort, failing, changedSince and changedBefore.");
  }
  if (query.kind === undefined || q !== undefined) throw bad("A list by an attribute needs a kind, and no q.");
  const kind = kinds.get(query.kind);
  if (kind === undefined) throw badKind(query.kind, kinds.values());
  const type = typeOf(kind, attribute);
  if (type === undefined) {
    const attributes = Object.keys(kind.attributes ?? {}).sort();
    throw bad(`A ${kind.kind} has no attribute ${attribute}. It has ${attributes.join(", ") || "none"}.`, {
      attributes,
    });
  }
  const valueOf = (name: "equals" | "from" | "before"): AttributeValue | undefined => {
    const text = query[name];
    if (text === undefined || type === "text") return text;
    if (NUMBER.test(text)) return text;
    const time = type === "time" ? Date.parse(text) : NaN;
    if (Number.isNaN(time)) throw bad(`${name} is no ${type}.`);
    return time;
  };
  const place = readCursor(after, attributePlace);
  if (place !== undefined && type !== "text" && !NUMBER.test(place.value)) throw bad("after is not of this list.");
  const rows = await findActors(store, {
    kind,
    where: [{ attribute, equals: valueOf("equals"), from: valueOf("from"), before: valueOf("before") }],
    state,
    paused,
    descending: order === "desc",
    after: place,
    limit,
  });
  return {
    actors: rows.map(({ place: _, attributes, ...row }) => ({ ...row, attributes: shownAttributes(kind, attributes) })),
    next: page(rows, limit, ({ place: { value, id } }) => ({ value, id })),
  };
}

/** Attributes as readers see them. */
function shownAttributes(kind: OperatorKind | undefined, attributes: AttributeValues): AttributeValues {
  const shown = (name: string, value: AttributeValue) =>
    kind !== undefined && typeOf(kind, name) === "time" ? new Date(Number(value)).toISOString() : value;
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, shown(name, value)]));
}

/** Adds `/actors`, `/actors/{kind}/{id}`, its history and its earlier states. */
export function actorEndpoints(app: OpenAPIHono, { store, kinds, control, index }: ActorEndpoints): void {
  /** Refuses a kind and a state that no actor has or can have. Actors of another version's are found as well. */
  const knownOnes = async (kind: string | undefined, state: string | undefined) => {
    if ((await listActors(store, { kind, state }, undefined, 1)).length > 0) return;
    const isForeign = kind !== undefined && !kinds.has(kind) &&
      (await listActors(store, { kind }, undefined, 1)).length > 0;
    if (!isForeign) knownSelection({ kind, state }, kinds.values());
  };

  endpoint(app, "get", "/actors", {
    summary: "Actors by kind and id",
    query: api.actorsQuery,
    answer: api.actors,
    refusals: { 400: "`bad_request`, `bad_cursor`, `bad_kind`, `bad_state`, `bad_attribute`" },
  }, async ({ query }) => {
    if (query.attribute !== undefined) return await byAttribute(store, kinds, query.attribute, query);
    const { kind, state, paused, q, limit, after, sort, order, failing, changedSince, changedBefore } = query;
    const ofAttribute = [query.equals, query.from, query.before, sort === "id" ? order : undefined];
    if (ofAttribute.some((value) => value !== undefined)) {
      throw refusal({
        code: "bad_attribute",
        message: "equals, from and before need an attribute, order needs one or sort=changed.",
      });
    }
    const filter = { kind, state, paused, prefix: q, failing, since: changedSince, before: changedBefore };
    if (sort === "changed") {
      const place = readCursor(after, changedPlace);
      const rows = await listActorsByChange(store, filter, { after: place, limit, newestFirst: order === "desc" });
      if (rows.length === 0) await knownOnes(kind, state);
      const next = page(rows, limit, ({ at, kind, id }) => ({ at, kind, id }));
      return { actors: rows.map(({ at: _, ...row }) => row), next };
    }
    const place = readCursor(after, entityPlace);
    const rows = await listActors(store, filter, place, limit);
    if (rows.length === 0) await knownOnes(kind, state);
    return { actors: rows, next: page(rows, limit, ({ kind, id }) => ({ kind, id })) };
  });

  endpoint(app, "get", "/actors/:kind/:id", {
    summary: "An actor, with its state, pending work and owner",
    params: api.actorPath,
    answer: api.actor,
    refusals: UNKNOWN,
  }, async ({ params: entity }) => {
    const [found, mailbox] = await Promise.all([inspectActor(store, entity), control.look(entity)]);
    if (found === undefined) throw unknown(kinds, entity);
    const { value, done, attributes, ...rest } = found;
    const kind = kinds.get(entity.kind);
    const machine = kind?.machine;
    const { events, intents } = machine === undefined || done ? NOTHING : allowedIn(machine, value);
    const shown = Object.keys(attributes).length > 0 ? { attributes: shownAttributes(kind, attributes) } : {};
    return { entity, ...rest, ...shown, allowed: events, intents, mailbox: mailbox ?? null };
  });

  endpoint(app, "get", "/actors/:kind/:id/history", {
    summary: "Retained transitions of an actor, newest first",
    params: api.actorPath,
    query: api.historyQuery,
    answer: api.history,
    refusals: { 400: "`bad_request`, `bad_cursor`", ...UNKNOWN },
  }, async ({ params: entity, query: { before, limit } }) => {
    // References in events name the version.
    const place = before !== undefined && /^\d{1,15}$/.test(before) ? Number(before) : readCursor(before, versionPlace);
    const [rows] = await Promise.all([readHistory(store, entity, place, limit), known({ store, kinds }, entity)]);
    const transitions = await describeHistory({ store, kind: kinds.get(entity.kind), index }, entity, rows);
    return { transitions, next: page(rows, limit, ({ version }) => version) };
  });

  endpoint(app, "get", "/actors/:kind/:id/at", {
    summary: "The state of an actor at a version",
    description: "Computed from the retained history, in which every 64th state is stored.",
    params: api.actorPath,
    query: api.pastQuery,
    answer: api.past,
    refusals: {
      400: "`bad_request`",
      404: "`actor_unknown`, `version_unknown`, `kind_unknown`",
      409: "`history_foreign`: another version of the machine wrote the history; `version_far`",
      410: "`history_pruned`; `details.oldest` is the oldest version whose state can be computed",
    },
  }, async ({ params: entity, query: { version } }) => {
    const kind = kinds.get(entity.kind);
    if (kind === undefined) throw unknownKind(entity.kind, kinds.values());
    const { at = null, ...past } = answered(await readPast(store, kind, entity, version));
    return { entity, ...past, at };
  });
}

/** Adds what an operator may do to an actor, below `/actors/{kind}/{id}`. */
export function actorControlEndpoints(
  app: OpenAPIHono,
  { store, kinds, control }: Pick<ActorEndpoints, "store" | "kinds" | "control">,
): void {
  const unavailable = () => refusal({ code: "unavailable", message: "The actor's worker did not respond in time." });
  const pausing = (path: string, summary: string, paused: boolean) =>
    endpoint(app, "post", `/actors/:kind/:id/${path}`, {
      summary,
      params: api.actorPath,
      answer: api.paused,
      refusals: { 403: "`header_missing`", ...UNKNOWN },
    }, async ({ params: entity }) => {
      const now = await control.pause(entity, paused);
      if (now === undefined) throw unknown(kinds, entity);
      return { paused: now };
    });
  pausing(
    "pause",
    "Pause an actor: commands and builds are rejected with `paused`, chain events and reminders wait, reads continue",
    true,
  );
  pausing("resume", "Resume a paused actor: waiting events are applied in order", false);

  endpoint(app, "post", "/actors/:kind/:id/passivate", {
    summary: "Remove an actor from its worker's memory until it is needed",
    params: api.actorPath,
    answer: api.passivated,
    refusals: { 403: "`header_missing`", ...UNKNOWN, 503: "`unavailable`" },
  }, async ({ params: entity }) => {
    await known({ store, kinds }, entity);
    const passivated = await control.passivate(entity);
    if (passivated === undefined) throw unavailable();
    return { passivated };
  });

  endpoint(app, "post", "/actors/:kind/:id/reminders/:name/fire", {
    summary: "Fire a reminder now instead of at its scheduled time",
    params: api.reminderPath,
    answer: api.fired,
    refusals: {
      403: "`header_missing`",
      404: "`actor_unknown`, `kind_unknown`, `reminder_unknown`",
      409: "`paused`",
      503: "`unavailable`",
    },
  }, async ({ params: { kind, id, name } }) => {
    const entity = { kind, id };
    const { paused } = await known({ store, kinds }, entity);
    if (!(await hasReminder(store, entity, name))) {
      throw refusal({ code: "reminder_unknown", message: `This ${kind} has no reminder "${name}".` });
    }
    if (paused) throw refusal({ code: "paused", message: `This ${kind} is paused.` });
    const fired = await control.fire(entity, name);
    if (fired === undefined) throw unavailable();
    return { fired };
  });
}
