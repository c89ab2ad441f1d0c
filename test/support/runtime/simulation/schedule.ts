/**
 * One schedule of a simulation: workers and clients of the product's code on a database and a bus that are simulated,
 * with faults for a while. Everything follows from the seed.
 *
 * Real: placement, mailboxes, the fold, the writer, the loader, effects, the sweeper, the publisher and its stream, the
 * clients' side of requests, the input log. Simulated: PostgreSQL (`memory`, which a test compares with a server), NATS,
 * time, and the fate of processes.
 */
import { sleep, systemClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { seeded } from "#src/base/seededRandom.ts";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { appendInputs, notifyInputs } from "#src/runtime/inputLog.ts";
import { fence, holdLease } from "#src/runtime/placement/namedLease.ts";
import * as measure from "#src/runtime/metrics.ts";
import { type EffectRun, type EntityRef, type Event, Unfinished } from "#src/runtime/types.ts";
import { startWorker, type Worker } from "#src/runtime/worker.ts";
import type { Store } from "#src/store/store.ts";
import { accountKind } from "../account.ts";
import { SimulatedNats } from "./bus.ts";
import { type Bug, Faults } from "./faults.ts";
import { Invariants } from "./invariants.ts";
import { SimulatedServer } from "./server.ts";
import { EPOCH, type Process, World } from "./world.ts";

/** What a schedule found. */
export interface Finding {
  /** The promise that was broken and how; `undefined` when all were kept. */
  readonly broken: string | undefined;
  /** Number of steps, and a number that differs for other steps. */
  readonly steps: number;
  readonly trace: number;
}

/** How long faults occur, and how long the work may take after that, in milliseconds. */
const FAULTS_MS = 8_000;
const REST_MS = 90_000;
const COMMANDS = 14;
const LEASE_MS = 2_000;
/** The lease of the writer of the input log, and how many inputs there are. */
const LEASE = "follower";
const INPUTS = 5;

/** Runs the schedule of a seed, with a bug planted where one is given. */
export async function runSchedule(seed: number, bug?: Bug): Promise<Finding> {
  const world = new World(seeded(seed));
  const restore = [world.install(), withoutGauges()];
  try {
    const schedule = new Schedule(world, bug);
    const broken = await schedule.run();
    return { broken, steps: world.steps, trace: world.trace };
  } finally {
    for (const one of restore) one();
  }
}

/** Gauges would keep what killed workers leave. */
function withoutGauges(): () => void {
  const gauges = [measure.resident, measure.waiting, measure.effectsRunning, measure.partitions].map((one) => one.of());
  const before = gauges.map(({ from }) => from);
  for (const gauge of gauges) gauge.from = () => () => {};
  return () => gauges.forEach((gauge, i) => gauge.from = before[i]!);
}

class Schedule {
  private readonly faults: Faults;
  private readonly server: SimulatedServer;
  private readonly nats: SimulatedNats;
  private readonly invariants: Invariants;
  private readonly admin: Process;
  private readonly entities: readonly EntityRef[];
  private readonly workers = new Map<Process, Worker | undefined>();
  private readonly wanted: number;
  private names = 0;
  private open = 0;

  constructor(private readonly world: World, bug: Bug | undefined) {
    this.faults = new Faults(world, bug);
    this.server = new SimulatedServer(
      world,
      this.faults,
      (error) => this.invariants.break(String(error)),
      (owned) => this.invariants.written(owned),
    );
    this.nats = new SimulatedNats(world, this.faults);
    this.invariants = new Invariants(this.server.db, this.nats);
    this.admin = world.spawn("admin");
    this.wanted = 2 + world.integer(2);
    this.entities = Array.from({ length: 2 + world.integer(2) }, (_, i) => ({ kind: "account", id: `e${i}` }));
  }

  /** Runs it; resolves to what was broken. */
  async run(): Promise<string | undefined> {
    const { world, faults, invariants, admin } = this;
    for (let i = 0; i < this.wanted; i++) this.startWorker(world.between(0, 300));
    this.startClients();
    this.startInputs();
    for (let i = world.integer(5); i > 0; i--) world.after(world.between(200, FAULTS_MS), admin, () => this.disturb());
    const isBroken = () => invariants.broken !== undefined;
    await world.run(FAULTS_MS, isBroken);
    if (isBroken()) return invariants.broken;
    faults.level = 0;
    for (const process of this.workers.keys()) process.stalledUntil = 0;
    for (let at = FAULTS_MS; at < FAULTS_MS + REST_MS; at += 500) {
      await world.run(at, isBroken);
      if (isBroken()) return invariants.broken;
      if (this.open === 0 && this.openWork().length === 0) return invariants.atEnd();
    }
    return `stuck: ${this.open} commands without an answer, ${this.openWork().join(", ")}`;
  }

  private openWork(): string[] {
    const missing = INPUTS - this.invariants.appended();
    const open = this.invariants.openWork(EPOCH + this.world.time);
    return missing > 0 ? [...open, `${missing} inputs that are not written`] : open;
  }

  /** A fault of a whole process. */
  private disturb(): void {
    const { world } = this;
    const running = [...this.workers.keys()];
    if (running.length === 0) return;
    const process = world.pick(running);
    const kind = world.random();
    if (kind < 0.4) this.kill(process);
    else if (kind < 0.7) process.stalledUntil = world.time + world.between(500, 4_000);
    else if (kind < 0.85) process.skew += Math.round(world.between(-20_000, 20_000));
    else {
      const worker = this.workers.get(process);
      if (worker === undefined) return this.kill(process);
      this.workers.delete(process);
      world.after(0, process, () => void worker.stop().finally(() => process.alive = false));
      this.startWorker(world.between(0, 1_000));
    }
  }

  private kill(process: Process): void {
    process.alive = false;
    if (this.workers.delete(process)) this.startWorker(this.world.between(50, 1_500));
  }

  private startWorker(ms: number): void {
    const { world, faults, admin } = this;
    world.after(ms, admin, () => {
      const process = world.spawn(`w${++this.names}`);
      this.workers.set(process, undefined);
      const store = this.server.open(process);
      const bus = this.nats.connect(process);
      world.after(0, process, () => {
        startWorker({
          id: process.name,
          store,
          bus,
          kinds: [accountKind(this.wire())],
          log: silentLog,
          partitions: 4,
          leaseMs: LEASE_MS,
          sweepMs: 1_000,
          effectMs: 1_500,
          // Some crash at a stage of their work.
          onStep: () => {
            if (!faults.occurs(0.003)) return;
            this.kill(process);
            return new Promise<void>(() => {});
          },
          ...(faults.bug === "a due time by the worker's clock" ? { clock: systemClock } : {}),
        }).then(
          (worker) => void (this.workers.has(process) && this.workers.set(process, worker)),
          () => this.kill(process),
        );
      });
    });
  }

  /** The external effect: slow, failing, or in slices. */
  private wire(): EffectRun {
    const { world, faults, invariants } = this;
    return async (_, { id, attempt }) => {
      await sleep(faults.delay());
      if (faults.occurs(0.1)) throw new Error("the external service refuses");
      if (faults.occurs(0.05)) return new Unfinished(world.between(0, 300));
      invariants.paid(id);
      return { type: "PAID", n: attempt };
    };
  }

  private startClients(): void {
    const { world } = this;
    const clients = ["c1", "c2"].map((name) => {
      const process = world.spawn(name);
      const ask = createAsk({ bus: this.nats.connect(process), store: this.server.open(process) });
      return { process, ask };
    });
    for (let i = 0; i < COMMANDS; i++) {
      const [entity, event] = [world.pick(this.entities), this.command()];
      const senders = world.chance(0.15) ? clients : [world.pick(clients)];
      for (const { process, ask } of senders) {
        this.open++;
        const at = world.chance(0.3) ? 500 : world.between(0, FAULTS_MS - 1_000);
        world.after(at, process, () => void this.send(ask, entity, event, `cmd${i}`));
      }
    }
  }

  /** Sends a command with its id until it is answered. */
  private async send(ask: Ask, entity: EntityRef, event: Event, commandId: string): Promise<void> {
    this.invariants.sent(entity, commandId, event);
    for (;;) {
      const result = await ask.ask(entity, event, { commandId, deadlineMs: 4_000 });
      if (!result.ok && (result.error.code === "unavailable" || result.error.code === "overloaded")) {
        await sleep(100);
        continue;
      }
      this.open--;
      return this.invariants.answered(entity, commandId, result);
    }
  }

  private command(): Event {
    const { world } = this;
    const kind = world.random();
    if (kind < 0.45) return { type: "ADD", amount: 1 + world.integer(9) };
    if (kind < 0.65) return { type: "PAY", amount: 1 + world.integer(3) };
    if (kind < 0.85) return { type: "REMEMBER", at: EPOCH + Math.round(world.between(0, FAULTS_MS + 2_000)) };
    if (kind < 0.9) return { type: "FORGET" };
    return kind < 0.98 ? { type: "NOTE", text: "noted" } : { type: "CLOSE" };
  }

  /** Two processes of which the holder of a lease writes the input log. */
  private startInputs(): void {
    const { world } = this;
    for (const owner of ["i1", "i2"]) {
      const process = world.spawn(owner);
      const [store, bus]: [Store, Bus] = [this.server.open(process), this.nats.connect(process)];
      const onHeld = (epoch: number, signal: AbortSignal) => this.append(store, bus, epoch, signal);
      const lease = { store, bus, name: LEASE, owner, ttlMs: LEASE_MS, log: silentLog, onHeld };
      world.after(world.between(0, 1_000), process, () => void holdLease(lease));
      if (world.chance(0.5)) {
        const stall = () => process.stalledUntil = world.time + world.between(1_000, 4_000);
        world.after(world.between(1_000, FAULTS_MS), this.admin, stall);
      }
    }
  }

  /** Appends numbered inputs under a lease. As every writer of the log it knows by rows how far it is. */
  private async append(store: Store, bus: Bus, epoch: number, signal: AbortSignal): Promise<void> {
    const { world, invariants } = this;
    for (let n = invariants.appended() + 1; n <= INPUTS && !signal.aborted; n++) {
      const entity = world.pick(this.entities);
      try {
        await store.sql.begin(async (sql) => {
          if ((await fence(sql, LEASE, epoch)).length === 0) throw new Error("the lease is lost");
          await appendInputs(sql, [{ entity, event: { type: "SEEN", n } }]);
        });
      } catch {
        await sleep(200, signal);
        n = invariants.appended();
        continue;
      }
      notifyInputs(bus, [entity]);
      await sleep(world.between(0, 1_500), signal);
    }
  }
}
