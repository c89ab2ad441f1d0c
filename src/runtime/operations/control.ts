/**
 * What an operator may have a worker do, beside its turns: look at an entity again, forget it, fire a reminder, tell its state.
 *
 * A message only hurries what rows say already. A pause is the column `actor.paused`: the statement of a turn refuses a paused
 * entity, whoever owns it and whatever that worker has heard, so that nothing is written once the pause is committed. The
 * message has the owner read the row before anything that waits, so that askers learn of it at once and builds stop.
 */
import { z } from "zod";
import { sleep } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { type Log, reason, silentLog } from "#src/base/log.ts";
import { type Bus, BusError, type Respond } from "#src/runtime/bus/bus.ts";
import type { Mailboxes } from "#src/runtime/turns/mailboxes.ts";
import { entityHash, entityKey } from "#src/runtime/placement/partitions.ts";
import { entitySchema } from "#src/runtime/bus/protocol.ts";
import type { ActorKind, EntityRef, Event } from "#src/runtime/types.ts";
import type { WorkerState } from "#src/runtime/worker.ts";
import type { Store } from "#src/store/store.ts";

/** Where a worker takes orders. */
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

/** An entity's mailbox: what waits in it, whether the entity is in memory, and in the middle of a turn. */
export interface MailboxView {
  readonly depth: number;
  readonly resident: boolean;
  readonly inTurn: boolean;
}

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

/** A worker's side: takes orders until the function that it gives is called. */
export function serveControl({ id, store, bus, kinds, mailboxes, owns, state, log }: ControlledWorker): () => void {
  const carryOut = async (order: ControlRequest): Promise<unknown> => {
    if (order.do === "state") return state();
    const { entity } = order;
    const kind = kinds.get(entity.kind);
    if (kind === undefined || !owns(entity)) return { again: "not_owner" };
    if (order.do === "look") return mailboxes.view(entity);
    if (order.do === "passivate") return { passivated: mailboxes.passivate(entity) };
    if (order.do === "refresh") return mailboxes.refresh(kind, entity) ? {} : { again: "not_owner" };
    const [row] = await store.sql<{ n: bigint; event: Event }[]>`
      select n, event from reminder where kind = ${entity.kind} and id = ${entity.id} and name = ${order.name}`;
    if (row === undefined) return { fired: false };
    const item = { from: "reminder", name: order.name, n: Number(row.n), event: row.event } as const;
    return { fired: await mailboxes.deliver(kind, entity, item) };
  };
  return bus.subscribe(controlSubject(id), (body, respond: Respond | undefined) => {
    const parsed = controlRequestSchema.safeParse(body);
    if (!parsed.success || respond === undefined) return;
    carryOut(parsed.data).then((answer) => respond(answer as Json)).catch((error) =>
      log.warn("an order was not carried out", { order: parsed.data.do, reason: reason(error) })
    );
  });
}

/** What an operator asks for. */
export interface Control {
  /** Pauses an entity, or lets it go on; `undefined` where it has no row. Once it resolves no turn of a paused entity is written. */
  pause(entity: EntityRef, paused: boolean): Promise<boolean | undefined>;
  /** Has the owner forget an entity that has nothing to do; whether it did. `undefined` where no owner answers. */
  passivate(entity: EntityRef): Promise<boolean | undefined>;
  /** Has a reminder applied now; whether there was one. `undefined` where no owner answers in time. */
  fire(entity: EntityRef, name: string): Promise<boolean | undefined>;
  /** Has the owner read an entity's rows again; whether it said that it will. */
  refresh(entity: EntityRef): Promise<boolean>;
  /** What waits for an entity; `undefined` where no owner answers. */
  look(entity: EntityRef): Promise<MailboxView | undefined>;
  /** States of some workers by id; who does not answer is left out. */
  states(workers: readonly string[]): Promise<ReadonlyMap<string, WorkerState>>;
}

/** How long one worker is given, and how long an owner is looked for, in milliseconds. */
const PATIENCE_MS = 1_000;
const LOOK_MS = 1_500;

/** An asker's side. */
export function createControl({ store, bus, log = silentLog }: { store: Store; bus: Bus; log?: Log }): Control {
  const tell = async (
    worker: string,
    order: ControlRequest,
    patience: number,
  ): Promise<Record<string, unknown> | undefined> => {
    try {
      return await bus.request(controlSubject(worker), order as Json, patience) as Record<string, unknown>;
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      return undefined;
    }
  };
  /** Tells the owner, whoever that is by then. */
  const tellOwner = async (order: Exclude<ControlRequest, { do: "state" }>, ms = LOOK_MS) => {
    for (const until = performance.now() + ms;;) {
      const [row] = await store.sql<{ owner: string | null }[]>`
        select owner from partition
        where id = (${entityHash(order.entity)}::bigint % (select greatest(count(*), 1) from partition))::int`;
      const rest = until - performance.now();
      if (row?.owner) {
        const answer = await tell(row.owner, order, Math.max(50, Math.min(rest, PATIENCE_MS)));
        if (answer !== undefined && !("again" in answer)) return answer;
      }
      if (performance.now() + 50 >= until) return undefined;
      await sleep(50);
    }
  };
  const refresh = async (entity: EntityRef) => {
    const heard = await tellOwner({ do: "refresh", entity }) !== undefined;
    if (!heard) log.warn("no worker heard that an entity changed", { entity: entityKey(entity) });
    return heard;
  };
  return {
    pause: async (entity, paused) => {
      const rows = await store.sql`
        update actor set paused = ${paused} where kind = ${entity.kind} and id = ${entity.id} returning 1`;
      if (rows.length === 0) return undefined;
      await refresh(entity);
      return paused;
    },
    passivate: async (entity) => (await tellOwner({ do: "passivate", entity }))?.passivated as boolean | undefined,
    fire: async (entity, name) =>
      (await tellOwner({ do: "fire", entity, name }, 2 * LOOK_MS))?.fired as boolean | undefined,
    refresh,
    look: async (entity) => await tellOwner({ do: "look", entity }, 300) as MailboxView | undefined,
    states: async (workers) => {
      const answers = await Promise.all(workers.map((worker) => tell(worker, { do: "state" }, 500)));
      return new Map(
        workers.flatMap((worker, i) =>
          answers[i] === undefined ? [] : [[worker, answers[i] as unknown as WorkerState] as const]
        ),
      );
    },
  };
}
