/**
 * Random statements of the runtime, made by its own functions, for two stores: a server and the model of it. Times are
 * whole hours from the start, so that the time that a test takes makes no difference.
 */
import type { Json } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { seeded } from "#src/base/seededRandom.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import {
  postponeEffect,
  readDueEffects,
  readDueReminders,
  readEntitiesWithInputs,
  readInputs,
  readReminder,
} from "#src/runtime/effects/openRows.ts";
import { createOwners } from "#src/runtime/placement/owners.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { createPublisher } from "#src/runtime/events/publisher.ts";
import { streamRecord } from "#src/runtime/events/streamRecord.ts";
import { appendInputs } from "#src/runtime/inputLog.ts";
import {
  clearSuspicion,
  renewLease,
  renewLeases,
  returnLease,
  returnLeases,
  startDraining,
  takeLease,
  takeLeases,
} from "#src/runtime/placement/leaseRows.ts";
import { fence } from "#src/runtime/placement/namedLease.ts";
import { partitionOf } from "#src/runtime/placement/partitions.ts";
import type { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import { causeOf, type EffectEnd, type EntityState, fold, type TurnItem } from "#src/runtime/turns/fold.ts";
import { createLoader } from "#src/runtime/turns/loader.ts";
import { type StatementResult, turnStatement, type TurnWrite } from "#src/runtime/turns/statement.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import { accountKind } from "./account.ts";

export const HOUR = 3_600_000;
export const PARTITIONS = 3;
const kind = accountKind(async () => undefined);

/** Something that the runtime asks of a database. */
export interface Operation {
  readonly name: string;
  run(store: Store): Promise<unknown>;
}

export class RandomStatements {
  /** States of each entity, the newest last. */
  private readonly states = new Map<string, EntityState[]>();

  private readonly entities: readonly EntityRef[];
  private readonly random: () => number;

  /** `db` is the model, whose rows it refers to; `start` is hour 0. Each seed has entities of its own. */
  constructor(private readonly db: MemoryDatabase, private readonly start: number, seed: number) {
    this.random = seeded(seed);
    this.entities = ["a", "b", "c", "d"].map((id) => ({ kind: "account", id: `${id}${seed}` }));
  }

  next(): Operation {
    return this.chance(0.5) ? this.turns() : this.pick(this.others)();
  }

  /** A statement of turns of up to three entities. */
  turns(): Operation {
    const some = [this.entity(), this.entity(), this.entity()].slice(this.integer(3));
    const entities = [...new Map(some.map((one) => [one.id, one])).values()];
    const turns = entities.map((entity) => this.turn(entity));
    const { text, parameters } = turnStatement(turns);
    return {
      name: `turns of ${entities.map(({ id }) => id)}`,
      run: async (store) => {
        const [row] = await store.sql.unsafe<StatementResult[]>(text, parameters as never[], { prepare: true });
        return row;
      },
    };
  }

  /** Reads the states of all entities, for later turns. */
  async learn(store: Store): Promise<void> {
    const load = createLoader(store);
    for (const entity of this.entities) {
      const loaded = await load({ kind, entity, partition: partitionOf(entity, PARTITIONS) });
      if (loaded instanceof Error) throw loaded;
      const known = this.states.get(entity.id) ?? [];
      this.states.set(entity.id, known);
      known.push(loaded.state);
    }
  }

  private turn(entity: EntityRef): TurnWrite {
    const known = this.states.get(entity.id) ?? [];
    const held = (this.chance(0.8) ? known.at(-1) : this.pick([...known, undefined])) ??
      { snapshot: undefined, version: 0, inputSeq: 0 };
    const partition = partitionOf(entity, PARTITIONS);
    const epoch = this.db.tables.partition.get(partition)?.epoch ?? 0;
    const some = Array.from({ length: 1 + this.integer(3) }, () => this.item(entity));
    // A turn has each item once.
    const items = [...new Map(some.map((item) => [causeOf(entity, item), item])).values()];
    const at = this.time();
    return {
      entity,
      partition,
      epoch: this.chance(0.9) ? epoch : epoch + 1,
      was: held.version,
      seen: held.inputSeq,
      machineVersion: 1,
      at,
      rows: fold(kind, entity, held, items, at),
    };
  }

  private item({ id }: EntityRef): TurnItem | EffectEnd {
    const { effect, reminder, input_log } = this.db.tables;
    const of = <Row extends { readonly id: string }>(rows: readonly Row[]) =>
      this.chance(0.9) ? rows.filter((row) => row.id === id) : rows;
    const from = this.random();
    if (from < 0.12) {
      const n = this.pick([...of(effect.all()).map((row) => row.n), 7]);
      return this.chance(0.7) ? { from: "outcome", n, event: { type: "PAID", n } } : { from: "ended", n };
    }
    if (from < 0.2) {
      const { name, n } = this.pick([...of(reminder.all()), { name: "wake", n: 7 }]);
      return { from: "reminder", name, n, event: { type: "WOKEN" } };
    }
    if (from < 0.35) {
      const rows = of(input_log.all());
      if (rows.length > 0) {
        const { seq } = this.pick(rows);
        return {
          from: "input",
          seq,
          event: { type: this.chance(0.8) ? "SEEN" : "BROKEN", n: this.integer(5) - 1 },
          ...this.poison(),
        };
      }
    }
    return { from: "command", id: `c${this.integer(100)}`, event: this.command(), ...this.poison() };
  }

  private poison() {
    return this.chance(0.05) ? { poison: this.pick(["refused", "refused: a\0b"]) } : {};
  }

  private command() {
    return this.pick<() => { type: string; [member: string]: Json }>([
      () => ({ type: "ADD", amount: this.integer(100) }),
      () => ({ type: "ADD", amount: this.integer(100) }),
      () => ({ type: "PAY", amount: this.integer(20) }),
      () => ({ type: "REMEMBER", at: this.time() }),
      () => ({ type: "FORGET" }),
      () => ({
        type: "NOTE",
        text: this.pick(["plain", 'say "so" \\ €', "a\\u0000b", this.chance(0.2) ? "a\0b" : "b"]),
      }),
      () => ({ type: this.chance(0.2) ? "CLOSE" : "FORGET" }),
    ])();
  }

  private readonly others: readonly (() => Operation)[] = [
    () => {
      const worker = this.worker();
      const held = this.held();
      const leaseMs = this.leaseMs();
      const kinds = this.kinds();
      return { name: "renew", run: (store) => renewLeases(store, { worker, held, leaseMs, kinds }) };
    },
    () => {
      const options = {
        worker: this.worker(),
        leaseMs: this.leaseMs(),
        kinds: this.kinds(),
        most: this.integer(3),
        which: this.pick(["wanted", "free", "free"] as const),
        held: this.chance(0.3) ? [this.integer(PARTITIONS)] : [],
        others: this.chance(0.3) ? [this.worker()] : [],
        gone: this.chance(0.3) ? [this.worker()] : [],
      };
      return { name: "take", run: (store) => takeLeases(store, options) };
    },
    () => {
      const options = { worker: this.worker(), held: this.held(), ends: this.chance(0.2) };
      return { name: "return", run: (store) => returnLeases(store, options) };
    },
    () => {
      const worker = this.worker();
      const mark = this.pick([clearSuspicion, startDraining]);
      return { name: "mark", run: (store) => mark(store, worker) };
    },
    () => {
      const id = this.worker();
      return {
        name: "suspect",
        run: (store) =>
          store.sql`
            update worker set suspect = now() where id = ${id} and suspect is null and not draining returning 1`,
      };
    },
    () => ({
      name: "owners",
      run: async (store) => {
        const silent = { subscribe: () => () => {} };
        const owners = createOwners({ store, bus: silent as unknown as Bus, log: silentLog });
        await owners.refresh();
        return Array.from({ length: owners.count() }, (_, id) => owners.of(id) ?? null);
      },
    }),
    () => {
      const { kind, id, n, partition } = this.pick([...this.db.tables.effect.all(), NO_EFFECT]);
      const epoch = (this.db.tables.partition.get(partition)?.epoch ?? 0) + (this.chance(0.9) ? 0 : 1);
      const effect = { entity: { kind, id }, n, partition, name: "wire", input: null, attempts: 0 };
      const error = this.pick(["failed", null]);
      const ms = this.pick([-2, -1, 1, 2]) * HOUR;
      return { name: `postpone ${id} ${n}`, run: (store) => postponeEffect(store, effect, epoch, ms, error) };
    },
    () => {
      const partitions = this.partitions();
      return { name: "due effects", run: (store) => readDueEffects(store, partitions, 1_000) };
    },
    () => {
      const partitions = this.partitions();
      const until = this.time();
      return { name: "due reminders", run: (store) => readDueReminders(store, partitions, until, 1_000) };
    },
    () => {
      const entity = this.entity();
      return { name: "reminder", run: (store) => readReminder(store, entity, "wake") };
    },
    () => {
      const rows = Array.from({ length: 1 + this.integer(3) }, () => ({
        entity: this.entity(),
        event: { type: this.pick(["SEEN", "OTHER"]), n: this.integer(9) },
        ...(this.chance(0.5) ? { oneUnread: true as const } : {}),
      }));
      return { name: "append inputs", run: (store) => store.sql.begin((sql) => appendInputs(sql, rows)) };
    },
    () => {
      const partitions = this.partitions();
      return { name: "entities with inputs", run: (store) => readEntitiesWithInputs(store, partitions, 1_000) };
    },
    () => {
      const entity = this.entity();
      const partition = partitionOf(entity, PARTITIONS);
      const most = 1 + this.integer(3);
      return { name: "inputs", run: (store) => readInputs(store, entity, partition, most) };
    },
    () => {
      const stream = this.pick(["one", "two"]);
      const created = this.pick(["then", "then", "now"]);
      const lost = this.chance(0.2);
      return {
        name: "stream",
        run: async (store) => {
          const record = streamRecord(store);
          return [await record.isKnown(), await record.found(stream, created, lost)];
        },
      };
    },
    () => {
      const partitions = this.partitions();
      const entity = this.entity();
      const after = this.integer(6);
      const isSweep = this.chance(0.5);
      // A bus on which everything is confirmed at once, and that remembers what was published.
      return {
        name: "publish",
        run: async (store) => {
          const sent: string[] = [];
          const publisher = createPublisher({
            store,
            bus: confirmingBus(sent),
            log: silentLog,
            contents: NO_CONTENTS,
            partitions: PARTITIONS,
            owned: () => [],
          });
          if (isSweep) await publisher.sweep(partitions, 0);
          else await publisher.pushUnpublished(entity, after);
          await publisher.stop(10_000);
          return sent;
        },
      };
    },
    () => {
      const entity = this.entity();
      const paused = this.chance(0.4);
      return {
        name: "pause",
        run: (store) =>
          store.sql`
            update actor set paused = ${paused} where kind = ${entity.kind} and id = ${entity.id} returning 1`,
      };
    },
    () => {
      const lease = { name: this.pick(["one", "two"]), owner: this.worker() };
      const epoch = (this.db.tables.lease.get(lease.name)?.epoch ?? 0) - (this.chance(0.8) ? 0 : 1);
      const ttlMs = this.leaseMs();
      const gone = this.chance(0.2) ? epoch : -1;
      return this.pick<Operation>([
        { name: "take a named lease", run: (store) => takeLease(store, { ...lease, ttlMs, gone }) },
        { name: "renew a named lease", run: (store) => renewLease(store, { ...lease, ttlMs, epoch }) },
        { name: "return a named lease", run: (store) => returnLease(store, { ...lease, epoch }) },
        { name: "fence", run: (store) => store.sql.begin(async (sql) => (await fence(sql, lease.name, epoch)).length) },
      ]);
    },
  ];

  private entity = (): EntityRef => this.pick(this.entities);
  private kinds = () =>
    this.pick([{ account: 1 }, { account: 1, other: 1 }, this.chance(0.1) ? { account: 2 } : { account: 1 }]);
  private worker = () => this.pick(["one", "two", "three"]);
  private leaseMs = () => this.pick([-1, 1, 2, 3]) * HOUR;
  private time = () => this.start + (this.integer(8) - 4) * HOUR;
  private partitions = () => [0, 1, 2].slice(this.integer(3));
  private held = () =>
    this.db.tables.partition.all().filter(() => this.chance(0.6))
      .map(({ id, epoch }) => [id, this.chance(0.8) ? epoch : epoch - 1] as const);
  private chance = (probability: number) => this.random() < probability;
  private integer = (limit: number) => Math.floor(this.random() * limit);
  private pick<T>(list: readonly T[]): T {
    return list[this.integer(list.length)]!;
  }
}

const NO_EFFECT = { kind: "account", id: "a", n: 7, partition: 0 };

/** A bus whose streams exist and confirm everything at once. It notes the ids of what they store. */
function confirmingBus(stored: string[]): Bus {
  const request: Bus["request"] = async (subject, body) => {
    if (subject.startsWith("$JS.API.STREAM.INFO")) {
      return { config: {}, created: "then", state: { last_seq: 1_000_000 } };
    }
    if (subject.startsWith("$JS.API.")) return {};
    stored.push(String((body as { id: string }).id));
    return { stream: "ARBOR_EVENTS", seq: stored.length };
  };
  return { request, onReconnect: () => () => {}, hasJetStream: () => true } as Partial<Bus> as Bus;
}
