/**
 * Operator requests to workers: read an entity again, remove it from memory, fire a reminder, report state.
 *
 * The rows decide; a message only has a worker act at once. A pause is the column `actor.paused`: the statement of a
 * turn refuses a paused entity on any worker, so nothing is written once the pause is committed. The message has the
 * owner read the row before its next turn, so that waiting callers get `paused` at once and builds stop.
 */
import { z } from "zod";
import { sleep } from "#src/base/clock.ts";
import { type Log, reason, silentLog } from "#src/base/log.ts";
import { type Bus, BusError, type Respond } from "#src/runtime/bus/bus.ts";
import type { Mailboxes, MailboxView } from "#src/runtime/turns/mailboxes.ts";
import { entityHash, entityKey } from "#src/runtime/placement/partitions.ts";
import { readReminder } from "#src/runtime/effects/openRows.ts";
import { entitySchema } from "#src/runtime/bus/protocol.ts";
import type { ActorKind, EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** Counters of a worker since its start, and its current load. */
export interface WorkerState {
  readonly owned: readonly number[];
  /** Turns written, and events applied in them. */
  readonly turns: number;
  readonly events: number;
  /** Writes rejected because the epoch had changed. */
  readonly fenced: number;
  readonly resident: number;
  readonly waiting: number;
  readonly effects: number;
  /** Events applied per second, over the last minute or since the start. */
  readonly eventsPerSecond: number;
  /** How far the clock of the worker's machine is ahead of the clock of turns, in milliseconds. */
  readonly clockAheadMs: number;
}

/** NATS subject of the control requests to a worker. */
export function controlSubject(worker: string): string {
  return `arbor.control.${worker}`;
}

const controlRequestSchema = z.discriminatedUnion("do", [
  z.object({ do: z.literal("state") }),
  z.object({ do: z.literal("look"), entity: entitySchema }),
  z.object({ do: z.literal("refresh"), entity: entitySchema }),
  z.object({ do: z.literal("passivate"), entity: entitySchema }),
  z.object({ do: z.literal("fire"), entity: entitySchema, name: z.string() }),
]);
type ControlRequest = z.infer<typeof controlRequestSchema>;

const workerStateSchema = z.object({
  owned: z.array(z.number()),
  turns: z.number(),
  events: z.number(),
  fenced: z.number(),
  resident: z.number(),
  waiting: z.number(),
  effects: z.number(),
  eventsPerSecond: z.number(),
  // Workers of earlier releases do not report it.
  clockAheadMs: z.number().default(0),
}) satisfies z.ZodType<WorkerState>;
const mailboxViewSchema = z.object({
  depth: z.number(),
  resident: z.boolean(),
  inTurn: z.boolean(),
}) satisfies z.ZodType<MailboxView>;
const passivatedSchema = z.object({ passivated: z.boolean() });
const firedSchema = z.object({ fired: z.boolean() });
/** The reply to `refresh` has no members: it must not pass for one of a worker that does not own the entity. */
const refreshedSchema = z.strictObject({});

export interface ControlledWorker {
  readonly id: string;
  readonly store: Store;
  readonly bus: Bus;
  readonly kinds: ReadonlyMap<string, ActorKind>;
  readonly mailboxes: Mailboxes;
  /** Whether the worker owns an entity. */
  readonly owns: (entity: EntityRef) => boolean;
  readonly state: () => WorkerState;
  readonly log: Log;
}

/** Serves control requests in a worker until the returned function is called. */
export function serveControl({ id, store, bus, kinds, mailboxes, owns, state, log }: ControlledWorker): () => void {
  const execute = async (request: ControlRequest): Promise<object> => {
    if (request.do === "state") return state();
    const { entity } = request;
    const kind = kinds.get(entity.kind);
    if (kind === undefined || !owns(entity)) return { again: "not_owner" };
    if (request.do === "look") return mailboxes.view(entity);
    if (request.do === "passivate") return { passivated: mailboxes.passivate(entity) };
    if (request.do === "refresh") return mailboxes.refresh(kind, entity) ? {} : { again: "not_owner" };
    const reminder = await readReminder(store, entity, request.name);
    if (reminder === undefined) return { fired: false };
    const { name, n, event } = reminder;
    const item = { from: "reminder", name, n, event } as const;
    return { fired: await mailboxes.deliver(kind, entity, item) };
  };
  return bus.subscribe(controlSubject(id), (body, respond: Respond | undefined) => {
    const parsed = controlRequestSchema.safeParse(body);
    if (!parsed.success || respond === undefined) return;
    execute(parsed.data).then((answer) => respond(answer)).catch((error) =>
      log.warn("a control request failed", { request: parsed.data.do, reason: reason(error) })
    );
  });
}

/** Control of entities and workers, for operators. */
export interface Control {
  /**
   * Pauses or resumes an entity; `undefined` when it has no row. Once a pause resolves, no turn of the entity is
   * written.
   */
  pause(entity: EntityRef, paused: boolean): Promise<boolean | undefined>;
  /** Removes an idle entity from its owner's memory; whether it did. `undefined` when no owner answers. */
  passivate(entity: EntityRef): Promise<boolean | undefined>;
  /** Fires a reminder now; whether there was one. `undefined` when no owner answers in time. */
  fire(entity: EntityRef, name: string): Promise<boolean | undefined>;
  /** Has the owner read an entity's row again; whether the owner confirmed. */
  refresh(entity: EntityRef): Promise<boolean>;
  /** State of an entity's mailbox; `undefined` when no owner answers. */
  look(entity: EntityRef): Promise<MailboxView | undefined>;
  /** States of some workers by id, without those that do not answer. */
  states(workers: readonly string[]): Promise<ReadonlyMap<string, WorkerState>>;
}

/** Timeout of one request, in milliseconds. */
const REQUEST_MS = 1_000;
/** How long the owner of an entity is looked for, in milliseconds. */
const OWNER_MS = 1_500;

/**
 * Creates the client side of control requests.
 *
 * @example
 * ```ts
 * const control = createControl({ store, bus, log });
 * await control.pause({ kind: "door", id: "front" }, true);
 * const mailbox = await control.look({ kind: "door", id: "front" });
 * if (mailbox !== undefined) console.log(`${mailbox.depth} commands wait`);
 * ```
 */
export function createControl({ store, bus, log = silentLog }: { store: Store; bus: Bus; log?: Log }): Control {
  /** Sends a request to a worker; `undefined` when it sends no reply of that form. */
  const send = async <Reply>(
    worker: string,
    request: ControlRequest,
    reply: z.ZodType<Reply>,
    timeoutMs: number,
  ): Promise<Reply | undefined> => {
    try {
      return reply.safeParse(await bus.request(controlSubject(worker), request, timeoutMs)).data;
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      return undefined;
    }
  };
  /** Sends a request to the current owner, and to the next one when that changes. */
  const sendToOwner = async <Reply>(
    request: Exclude<ControlRequest, { do: "state" }>,
    reply: z.ZodType<Reply>,
    ms = OWNER_MS,
  ): Promise<Reply | undefined> => {
    for (const until = performance.now() + ms;;) {
      const [row] = await store.sql<{ owner: string | null }[]>`
        select owner from partition
        where id = (${entityHash(request.entity)}::bigint % (select greatest(count(*), 1) from partition))::int`;
      const rest = until - performance.now();
      if (row?.owner) {
        const answer = await send(row.owner, request, reply, Math.max(50, Math.min(rest, REQUEST_MS)));
        if (answer !== undefined) return answer;
      }
      if (performance.now() + 50 >= until) return undefined;
      await sleep(50);
    }
  };
  const refresh = async (entity: EntityRef) => {
    const confirmed = await sendToOwner({ do: "refresh", entity }, refreshedSchema) !== undefined;
    if (!confirmed) log.warn("no worker acknowledged that an entity changed", { entity: entityKey(entity) });
    return confirmed;
  };
  return {
    pause: async (entity, paused) => {
      const rows = await store.sql`
        update actor set paused = ${paused} where kind = ${entity.kind} and id = ${entity.id} returning 1`;
      if (rows.length === 0) return undefined;
      await refresh(entity);
      return paused;
    },
    passivate: async (entity) => (await sendToOwner({ do: "passivate", entity }, passivatedSchema))?.passivated,
    fire: async (entity, name) => (await sendToOwner({ do: "fire", entity, name }, firedSchema, 2 * OWNER_MS))?.fired,
    refresh,
    look: (entity) => sendToOwner({ do: "look", entity }, mailboxViewSchema, 300),
    states: async (workers) => {
      const answers = await Promise.all(
        workers.map(async (worker) => [worker, await send(worker, { do: "state" }, workerStateSchema, 500)] as const),
      );
      return new Map(answers.flatMap(([worker, state]) => state === undefined ? [] : [[worker, state] as const]));
    },
  };
}
