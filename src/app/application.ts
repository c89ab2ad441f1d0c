/** Composes the rooms for the roles that this process plays, and takes them apart in the opposite order. */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { tokenReleases } from "#actors/tokenRelease.ts";
import { inTime } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { measureProcess } from "#src/base/processMetrics.ts";
import { createBuilders } from "#src/builders/builders.ts";
import { cageMigrations } from "#src/cage/index/migrations.ts";
import { cageProjection } from "#src/cage/index/projection.ts";
import { publicationAddress, referenceScript } from "#src/cage/publication.ts";
import { cageScripts } from "#src/cage/script.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { chainMigrations } from "#src/chain/index/migrations.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { utxoProjection } from "#src/chain/index/utxo.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { writeGenesisFiles } from "#src/devnet/genesis/files.ts";
import { devnetMigrations } from "#src/devnet/migrations.ts";
import { serveRollbacks } from "#src/devnet/serve/rollback.ts";
import { settingsLines } from "#src/devnet/genesis/settings.ts";
import { devnetApp } from "#src/edge/devnet/app.ts";
import { healthRoutes } from "#src/edge/health.ts";
import { isLoopback } from "#src/edge/operator/guard.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres.ts";
import { initHash } from "#src/forestry/hash.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { fence, holdLease } from "#src/runtime/placement/namedLease.ts";
import { runtimeMigrations } from "#src/runtime/migrations.ts";
import { startHousekeeper } from "#src/runtime/operations/retention.ts";
import { startWorker } from "#src/runtime/worker.ts";
import { followDatabaseClock } from "#src/store/clock.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { claimNetwork, networkMigrations } from "#src/store/network.ts";
import { checkServer } from "#src/store/server.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { edgeRole } from "#src/app/edge.ts";
import { busCheck, databaseCheck, devnetCheck, followerCheck, healthPort, workerCheck } from "#src/app/health.ts";
import { checkSocket, devnetSocket, networkPort } from "#src/app/network.ts";
import type { Options } from "#src/app/options.ts";
import {
  actorKinds,
  append,
  type Hooks,
  listen,
  NETWORK_ID,
  type Place,
  ringing,
  type Rooms,
  type RoomsHealth,
  StartError,
  urlOf,
  WATCH,
} from "#src/app/context.ts";
import { endAll, type Stop } from "#src/app/shutdown.ts";
import { startWalletKeeping, walletKinds, walletReading, walletTables } from "#src/app/wallets.ts";

export { StartError } from "#src/app/context.ts";

const FOLLOWER = "follower";
/** How long a start waits for a server without a line about it, in milliseconds. */
const PATIENCE_MS = 2_000;
/** How long the database may take to answer at the start, in milliseconds; less than the library waits for one connection. */
const DATABASE_MS = 9_000;

export interface House {
  readonly places: readonly Place[];
  /** Resolves with a sentence when something that the house stands on is gone for good: it must be started anew. */
  readonly lost: Promise<string>;
  /** Ends everything in order: edges first, the database last. */
  stop(): Promise<void>;
}

/** Opens the house; what was opened is closed again when something fails. `progress` gets a line about what takes a while. */
export async function openHouse(
  options: Options,
  log: Log,
  progress: (line: string) => void,
  hooks: Hooks = {},
): Promise<House> {
  const stops: Stop[] = [];
  const health: RoomsHealth = { name: options.worker, roles: [...options.roles], since: Date.now(), checks: new Map() };
  health.checks.set("process", async () => ({ ready: false, why: "it starts" }));
  const stop = async () => {
    health.checks.set("process", async () => ({ ready: false, why: "it ends" }));
    await endAll(stops, log);
  };
  try {
    let tell: (sentence: string) => void = () => {};
    const lost = new Promise<string>((resolve) => tell = resolve);
    return { places: await open(options, log, progress, hooks, health, stops, tell), lost, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(
  options: Options,
  log: Log,
  progress: (line: string) => void,
  hooks: Hooks,
  health: RoomsHealth,
  stops: Stop[],
  lost: (sentence: string) => void,
): Promise<Place[]> {
  const places: Place[] = [];
  const { roles } = options;
  const unmeasure = measureProcess();
  stops.push(async () => unmeasure());
  const databaseUrl = options.databaseUrl ?? await embeddedDatabase(options, log, progress, stops, places, lost);
  const { natsUrl, natsToken } = await nats(options, log, stops, places);
  const credentials = { token: natsToken, user: options.natsUser };
  const store = openStore(databaseUrl, { max: 24, application: `arbor ${[...roles].join("+")}` });
  stops.push(() => store.close());
  await answers(store, options, progress);
  const migrated = await migrateWhole(store, [
    ...networkMigrations,
    ...runtimeMigrations,
    ...chainMigrations,
    ...cageMigrations,
    ...devnetMigrations,
    ...walletTables,
  ]);
  if (!migrated.ok) throw new StartError(migrated.error.message);
  const clock = await followDatabaseClock(store);
  stops.push(async () => clock.stop());
  const patience = setTimeout(() => progress("Waiting for the NATS server to answer"), PATIENCE_MS);
  const bus = await connectBus({ url: natsUrl, ...credentials, name: options.worker, log })
    .finally(() => clearTimeout(patience));
  stops.push(() => bus.close());
  void bus.lost.then(lost);
  await initHash();
  const port = await networkPort({ options, store, bus, log, health, stops }, progress);
  // only now: a magic that the node does not have must not become the database's
  const claimed = await claimNetwork(store, options.networkMagic);
  if (!claimed.ok) throw new StartError(`${claimed.error.message} Another database or --folder takes the other.`);
  const builders = createBuilders({ ...(options.builders ? { threads: options.builders } : {}), log });
  stops.push(() => builders.stop());

  const rooms: Rooms = {
    options,
    log,
    hooks,
    databaseUrl,
    store,
    clock,
    bus,
    builders,
    port,
    health,
    stops,
  };
  health.checks.set("database", () => databaseCheck(store));
  health.checks.set("nats", () => busCheck(bus));
  // Before the roles, some of which wait for others.
  places.push(...await healthPort(rooms));
  if (roles.has("devnet")) places.push(...await devnetRole(rooms, progress));
  if (roles.has("follower")) followerRole(rooms, progress);
  if (roles.has("worker")) await workerRole(rooms);
  if (roles.has("edge")) places.push(...await edgeRole(rooms));
  let warm = false;
  health.checks.set("builders", async () => warm ? { ready: true } : { ready: false, why: "the threads are not warm" });
  void builders.warm().then(() => warm = true);
  health.checks.delete("process");
  return places;
}

/** Throws a sentence where the database does not answer as PostgreSQL does, or is too old. */
async function answers(store: Store, { databaseUrl }: Options, progress: (line: string) => void): Promise<void> {
  const server = databaseUrl === undefined
    ? "The embedded PostgreSQL"
    : `The PostgreSQL server at ${new URL(databaseUrl).host} (--database-url)`;
  const problem = (why: string) => new StartError(`${server} cannot be used: ${why}.`);
  const patience = setTimeout(() => progress(`${server} does not answer yet`), PATIENCE_MS);
  try {
    // The library tries again without end where a port takes connections and is not PostgreSQL's.
    const checked = await inTime(checkServer(store), DATABASE_MS);
    if (checked === undefined) {
      throw problem(`it does not answer as PostgreSQL within ${DATABASE_MS / 1_000} s; check the host and the port`);
    }
    if (!checked.ok) throw new StartError(checked.error.message);
  } catch (error) {
    throw error instanceof StartError ? error : problem(reason(error));
  } finally {
    clearTimeout(patience);
  }
}

async function embeddedDatabase(
  options: Options,
  log: Log,
  progress: (line: string) => void,
  stops: Stop[],
  places: Place[],
  lost: (sentence: string) => void,
): Promise<string> {
  const postgres = await startPostgres({ folder: path.join(options.folder, "postgres"), log, onProgress: progress });
  stops.push(() => postgres.stop());
  void postgres.lost.then(lost);
  places.push({ name: "PostgreSQL", at: `127.0.0.1:${postgres.port}` });
  return postgres.url;
}

async function nats(options: Options, log: Log, stops: Stop[], places: Place[]) {
  if (options.natsUrl) return { natsUrl: options.natsUrl, natsToken: options.natsToken };
  const natsToken = options.natsToken ?? randomBytes(24).toString("hex");
  const endpoint = await startNatsEndpoint({
    host: options.host,
    port: options.natsPort,
    portOption: "--nats-port",
    token: natsToken,
    log,
  });
  stops.push(() => endpoint.stop());
  places.push({ name: "NATS endpoint", at: endpoint.url });
  return { natsUrl: endpoint.url, natsToken };
}

/** Where the pools' metadata will be served; a port that is chosen at the start cannot be told to the ledger before. */
function metadataUrl({ host, devnetPort: port }: Options): { url?: string } {
  const reached = isLoopback(host) || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return port === 0 ? {} : { url: urlOf({ host: reached, port }) };
}

async function devnetRole(rooms: Rooms, progress: (line: string) => void): Promise<Place[]> {
  const { store, clock, bus, builders, options, log, stops } = rooms;
  checkSocket(options);
  progress("Starting the devnet");
  const started = await startDevnet({
    store,
    bus,
    evaluate: builders.evaluate,
    clock,
    log,
    options: {
      magic: options.networkMagic,
      blockMs: options.blockMs,
      ...options.genesis,
      ...metadataUrl(options),
      leaseMs: options.leaseMs,
      publish: cageScripts.map((script) => ({
        address: publicationAddress(NETWORK_ID),
        script: referenceScript(script),
      })),
    },
  });
  if (!started.ok) throw new StartError(started.error.message);
  const devnet: Devnet = started.value;
  for (const line of settingsLines(devnet.genesis)) progress(line);
  if (devnet.ignoredOptions !== undefined) progress(devnet.ignoredOptions);
  rooms.health.checks.set("devnet", () => devnetCheck(devnet));
  stops.push(() => devnet.stop());
  const unsubscribe = serveRollbacks(bus, devnet.rollback, log);
  stops.push(async () => unsubscribe());
  const health = healthRoutes({ health: rooms.health, more: () => ({ tip: { ...devnet.tip() } }) });
  const files = await writeGenesisFiles(path.join(options.folder, "devnet"), devnet.genesis).catch((error) => {
    progress(`The devnet's genesis files were not written: ${reason(error)}.`);
    return [];
  });
  const origins = options.devnetOrigins;
  const listener = await listen(rooms, devnetApp({ devnet, store, port: rooms.port, files, health, origins, log }), {
    service: "the devnet",
    port: options.devnetPort,
    option: "--devnet-port",
  });
  const sockets = await devnetSocket(rooms, devnet, progress);
  const configuration = files.find(({ path }) => path.endsWith("config.json"));
  return [
    { name: "devnet and faucet", at: urlOf(listener) },
    ...(configuration ? [{ name: "its genesis files", at: path.dirname(configuration.path) }] : []),
    ...sockets,
  ];
}

function followerRole(rooms: Rooms, progress: (line: string) => void): void {
  const { store, bus, port, options, log, hooks, health, stops } = rooms;
  const lease = holdLease({
    store,
    bus,
    name: FOLLOWER,
    owner: options.worker,
    ttlMs: options.leaseMs,
    log,
    onHeld: async (epoch, signal) => {
      const wallets = await walletReading(rooms, signal);
      if (!wallets) return;
      const follower = new Follower({
        ...wallets,
        store,
        port,
        projections: [
          transactionProjection,
          utxoProjection,
          cageProjection({ scripts: cageScripts.map((script) => script.hash), network: NETWORK_ID }),
          ...wallets.projections,
        ],
        networkQueries: [...wallets.networkQueries, tokenReleases(store)],
        fence: async (sql) => {
          if ((await fence(sql, FOLLOWER, epoch)).length === 0) throw new Error("the follower's lease is lost");
        },
        append,
        ring: ringing(bus),
        log: log.with({ room: "follower" }),
        onProgress: progress,
        ...(hooks.follower ? { onStep: hooks.follower } : {}),
      });
      const unsubscribe = bus.subscribe(WATCH, () => follower.wake());
      try {
        await follower.run(signal);
      } finally {
        unsubscribe();
      }
    },
  });
  health.checks.set("follower", () => followerCheck(lease, store));
  stops.push(() => lease.stop());
}

async function workerRole(rooms: Rooms): Promise<void> {
  const { store, bus, options, log, hooks, stops } = rooms;
  const leaseStore = openStore(rooms.databaseUrl, { max: 2, application: "arbor leases" });
  stops.push(() => leaseStore.close());
  const worker = await startWorker({
    id: options.worker,
    store,
    clock: rooms.clock,
    leaseStore,
    bus,
    kinds: [...actorKinds(rooms), ...walletKinds(rooms)],
    log,
    leaseMs: options.leaseMs,
    waiting: options.mailbox,
    eventsKeptMs: options.keep.history * 3_600_000,
    ...(hooks.worker ? { onStep: hooks.worker } : {}),
  });
  rooms.health.checks.set("worker", () => workerCheck(worker));
  stops.push(() => worker.stop());
  startWalletKeeping(rooms);
  const housekeeper = startHousekeeper({
    store,
    owner: options.worker,
    keep: options.keep,
    ttlMs: options.leaseMs,
    log: log.with({ room: "housekeeper" }),
  });
  stops.push(() => housekeeper.stop());
}
