/**
 * The state of an actor at an earlier version, computed from the history: the events after the nearest stored snapshot
 * (or from the beginning) go through the kind's machine again.
 *
 * Assumptions: a row of `outbox` has the event as the machine got it, without members that its state does not depend on
 * (`ActorKind.unlogged`); `turn` follows from the row's time and cause. The states before and after each event are
 * compared with the row's, so that a history that another version of the machine wrote gives no wrong answer.
 */
import type { AnyMachineSnapshot } from "xstate";
import { setImmediate } from "node:timers/promises";
import { isObject, type Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Turn } from "#src/base/turn.ts";
import { dehydrate, hydrate, startMachine, stateName, stepMachine } from "#src/runtime/turns/machine.ts";
import type { ActorKind, EntityRef, Event } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** An actor's state at a version. */
export interface PastState {
  readonly version: number;
  readonly state: string;
  readonly context: Json;
  /** When the version was reached; `undefined` where the row of its transition was deleted. */
  readonly at: Date | undefined;
}

/** Why there is no such state. */
export type PastCode =
  | "actor_unknown"
  | "version_unknown"
  /** The events up to it were deleted; `details.oldest` is the oldest version whose state can be computed. */
  | "history_pruned"
  /** The machine of this program does not lead to the states of the history. */
  | "history_foreign"
  /** More than `MOST` events lie between it and the nearest snapshot. */
  | "version_far";

/** Most events that one answer reads; snapshots are stored every 64 versions, histories of earlier releases have none. */
const MOST = 20_000;
const PAGE = 500;

interface Row {
  readonly version: bigint;
  readonly from_state: string;
  readonly to_state: string;
  readonly cause: string;
  readonly body: Event;
  readonly at: Date;
}

type Kind = Pick<ActorKind, "kind" | "version" | "machine" | "migrate">;

/** The state of an actor at a version. */
export async function readPast(
  store: Store,
  kind: Kind,
  entity: EntityRef,
  version: number,
): Promise<Result<PastState, Failure<PastCode>>> {
  const { sql } = store;
  const mine = sql`kind = ${entity.kind} and id = ${entity.id}`;
  const [actor] = await sql<{ version: bigint; machine_version: number; snapshot: Json }[]>`
    select version, machine_version, snapshot from actor where ${mine}`;
  if (actor === undefined) return fail("actor_unknown", `No ${entity.kind} ${entity.id} exists.`);
  const newest = Number(actor.version);
  if (version > newest) {
    return fail("version_unknown", `This ${entity.kind} has versions up to ${newest}.`, { newest });
  }
  const [stored] = await sql<{ version: bigint; machine_version: number; snapshot: Json }[]>`
    select version, machine_version, snapshot from actor_snapshot where ${mine} and version <= ${version}
    order by version desc limit 1`;
  const base = version === newest ? actor : stored;
  const start = Number(base?.version ?? 0);
  if (version - start > MOST) {
    return fail("version_far", `More than ${MOST} events lead to version ${version} from the nearest stored state.`);
  }
  const fold = new PastFold(
    kind,
    entity,
    start,
    base === undefined ? startMachine(kind.machine, entity)[0] : hydrate(kind, base.snapshot, base.machine_version),
  );
  let at = start === 0 ? undefined : (await sql<{ at: Date }[]>`
    select at from outbox where ${mine} and version = ${start}`)[0]?.at;
  while (fold.version < version) {
    const rows = await sql<Row[]>`
      select version, from_state, to_state, cause, body, at from outbox
      where ${mine} and version > ${fold.version} and version <= ${version} order by version limit ${PAGE}`;
    if (Number(rows[0]?.version) !== fold.version + 1) return await pruned(store, entity, newest);
    for (const row of rows) {
      if (!fold.apply(row)) return foreign(entity, Number(row.version));
      at = row.at;
    }
    await setImmediate();
  }
  return ok({ version, at, ...fold.read() });
}

/** The failure of a version whose events were deleted. */
async function pruned({ sql }: Store, entity: EntityRef, newest: number) {
  const mine = sql`kind = ${entity.kind} and id = ${entity.id}`;
  // Snapshots before the first retained event, and all after it, have every event that follows them.
  const [row] = await sql<{ oldest: bigint | null }[]>`
    select min(version) as oldest from actor_snapshot
    where ${mine} and version >= (select min(version) - 1 from outbox where ${mine})`;
  const oldest = Number(row?.oldest ?? newest);
  const message =
    `The events up to this version were deleted. The oldest version whose state can be computed is ${oldest}.`;
  return fail("history_pruned" as const, message, { oldest });
}

function foreign({ kind }: EntityRef, version: number) {
  const message = `Another version of the machine of this ${kind} wrote its history at version ${version}: the state ` +
    "cannot be computed.";
  return fail("history_foreign" as const, message, { version });
}

/** Applies events of a history to a machine. */
class PastFold {
  constructor(
    private readonly kind: Kind,
    private readonly entity: EntityRef,
    public version: number,
    private snapshot: AnyMachineSnapshot,
  ) {}

  /** Whether the machine leads where the row does. */
  apply({ from_state: from, to_state: to, cause, body, at }: Row): boolean {
    const event = { ...body, turn: turnOf(cause, at.getTime()) };
    if (stateName(this.snapshot.value) !== from || !this.snapshot.can(event)) return false;
    const [next] = stepMachine(this.kind.machine, this.snapshot, event);
    if (next.status === "error" || stateName(next.value) !== to) return false;
    this.snapshot = next;
    this.version++;
    return true;
  }

  read(): { state: string; context: Json } {
    const stored: Json = JSON.parse(dehydrate(this.kind.machine, this.snapshot));
    const context = isObject(stored) ? stored.context : undefined;
    return { state: stateName(this.snapshot.value), context: context ?? {} };
  }
}

/** The member `turn` of an event, from its cause (`causeOf`). */
function turnOf(cause: string, at: number): Turn {
  const input = /^input:(\d+)$/.exec(cause)?.[1];
  if (input !== undefined) return { at, input: Number(input) };
  return /^(reminder:|effect:.*:\d+$)/s.test(cause) ? { at } : { at, command: cause };
}
