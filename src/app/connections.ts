/**
 * The connections of a process: PostgreSQL and NATS (embedded unless a URL is set), the network, and threads for CPU
 * work.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import net from "node:net";
import path from "node:path";
import { fileFault } from "#src/base/fileFault.ts";
import { inTime } from "#src/base/clock.ts";
import { errorCode } from "#src/base/errorCode.ts";
import { reason } from "#src/base/log.ts";
import { measureProcess } from "#src/base/processMetrics.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Builders } from "#src/threads/builders.ts";
import { withKinds } from "#src/app/kinds.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { Durables } from "#src/embedded/nats/jetstream/durables.ts";
import { JetStreamService } from "#src/embedded/nats/jetstream/service.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { startSharedPostgres } from "#src/embedded/postgres/shared.ts";
import { initHash } from "#src/forestry/hash.ts";
import { type Bus, type BusTls, connectBus } from "#src/runtime/bus/bus.ts";
import { contentsOf } from "#src/runtime/events/content.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import { type Generation, GENERATION_SUBJECT } from "#src/runtime/events/generation.ts";
import { checkGeneration, restoredSentence, watchRestores } from "#src/runtime/events/restored.ts";
import { followDatabaseClock } from "#src/store/clock.ts";
import { databaseHosts, isReplicated } from "#src/store/databaseUrl.ts";
import { migrate, migrateWhole } from "#src/store/migrations.ts";
import { claimNetwork, readClaim } from "#src/store/network.ts";
import { checkServer } from "#src/store/server.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type AppContext, type Connected, type StartContext, StartError } from "#src/app/context.ts";
import { busCheck, databaseCheck } from "#src/http/checks.ts";
import { eventStreams } from "#src/app/eventSource.ts";
import type { NatsFiles } from "#src/app/natsOptions.ts";
import { connectNetwork } from "#src/app/network.ts";
import { schemaMigrations } from "#src/app/schema.ts";

/** Delay in ms after which a start prints that it still waits for a server. */
const PATIENCE_MS = 2_000;
/** Why there is no connection to a host, by the operating system's code. */
const HOST_FAULTS = {
  EAI_AGAIN: "the host name cannot be looked up",
  ECONNREFUSED: "no program listens there",
  ENOTFOUND: "the host name is not known",
};
/** What to do about errors of a connection to PostgreSQL, by their code. */
const DATABASE_HINTS: Readonly<Record<string, string>> = {
  "08P01": " (08P01, which poolers answer: see docs/deployment.md)",
  "28000": "; correct the user, or the server's pg_hba.conf",
  "28P01": "; correct the user and the password",
  "3D000": "; create it as the owner, or correct the name after the port",
  EAI_AGAIN: `; ${HOST_FAULTS.EAI_AGAIN}`,
  ECONNREFUSED: `; ${HOST_FAULTS.ECONNREFUSED}: start the server, or correct the host and the port`,
  ENOTFOUND: `; ${HOST_FAULTS.ENOTFOUND}`,
};
/**
 * Time limit in ms for the first response of the database; shorter than the PostgreSQL client library's connect
 * timeout.
 */
const DATABASE_MS = 9_000;

/** PostgreSQL's code of a statement that the role may not run. */
const NO_RIGHT = "42501";

/** Connections of the store's main pool at most. */
const CONNECTIONS = 24;

/** Opens the connections, each after those it depends on; adds their stop functions to `stops`. Throws `StartError`. */
export async function connect(start: StartContext): Promise<AppContext> {
  const { options, stops, health } = start;
  const stopMeasuring = measureProcess();
  stops.push(async () => stopMeasuring());
  const databaseUrl = options.databaseUrl ?? await startEmbeddedDatabase(start);
  const nats = options.natsUrl === undefined || options.natsUrl === "" ? await startEmbeddedNats(start) : {
    url: options.natsUrl,
    token: options.natsToken,
    endpoint: undefined,
    tls: await clientTls(options.natsFiles),
  };
  const { connections: max = CONNECTIONS } = start.hooks;
  const store = openStore(databaseUrl, { max, application: `arbor ${[...options.roles].join("+")}` });
  stops.push(() => store.close());
  const generation = await prepareDatabase(start, store);
  const clock = await followDatabaseClock(store);
  stops.push(async () => clock.stop());
  const bus = await openBus(start, nats);
  await initHash();
  const network = await connectNetwork({ ...start, store, bus });
  await claimDatabase(start, store, network);
  const builders = start.hooks.builders ?? ownBuilders(start);
  health.checks.set("database", () => databaseCheck(store));
  health.checks.set("nats", () => busCheck(bus));
  const known = withKinds({ ...start, databaseUrl, store, clock, bus, port: network.port, builders });
  const restores = watchRestores({
    store,
    bus,
    log: start.log,
    contents: contentsOf(known.kinds),
    maxAgeMs: options.keep.history * 3_600_000,
    generation,
  });
  stops.push(() => restores.stop());
  const context = { ...known, restores };
  if (nats.endpoint !== undefined) await serveStreams(context, nats.endpoint);
  return context;
}

/** Builder threads that end with the process. */
function ownBuilders({ options, log, stops }: StartContext): Builders {
  const builders = startBuilders({ ...(options.builders ? { threads: options.builders } : {}), log });
  stops.push(() => builders.stop());
  return builders;
}

async function startEmbeddedDatabase(start: StartContext): Promise<string> {
  const { options, hooks, log, progress, stops, listening, lose } = start;
  const postgres = hooks.sharedDatabase
    ? await startSharedPostgres({
      name: path.basename(options.folder),
      key: JSON.stringify(schemaMigrations),
      prepare: prepareTemplate,
      log,
      onProgress: progress,
    })
    : await startPostgres({
      folder: path.join(options.folder, "postgres"),
      durable: !options.inMemory,
      log,
      onProgress: progress,
    });
  stops.push(() => postgres.stop());
  void postgres.lost.then(lose);
  listening.push({ name: "PostgreSQL", at: `127.0.0.1:${postgres.port}` });
  return postgres.url;
}

/** Applies the schema migrations to a new database. */
async function prepareTemplate(url: string): Promise<void> {
  const store = openStore(url, { max: 1, application: "arbor template" });
  try {
    await migrate(store, schemaMigrations);
  } finally {
    await store.close();
  }
}

/** A NATS server, its token, and the certificates for it. */
interface NatsServer {
  readonly url: string;
  readonly token: string | undefined;
  /** The embedded one. */
  readonly endpoint: NatsEndpoint | undefined;
  readonly tls?: BusTls | undefined;
}

/** Reads the certificates for an external NATS server. Throws `StartError`. */
async function clientTls({ tls, serverCa }: NatsFiles): Promise<BusTls | undefined> {
  const read = async (file: string) => {
    try {
      return await readFile(file, "utf8");
    } catch (error) {
      throw new StartError(`${file} cannot be read: ${fileFault(error)}.`);
    }
  };
  if (tls === undefined && serverCa === undefined) return undefined;
  return {
    ...(serverCa === undefined ? {} : { ca: await read(serverCa) }),
    ...(tls === undefined ? {} : { cert: await read(tls.cert), key: await read(tls.key) }),
  };
}

async function startEmbeddedNats({ options, log, stops, listening }: StartContext): Promise<NatsServer> {
  const token = options.natsToken ?? randomBytes(24).toString("hex");
  const endpoint = await startNatsEndpoint({
    host: options.host,
    port: options.natsPort,
    portOption: "--nats-port",
    token,
    users: options.natsFiles.users,
    tls: options.natsFiles.tls && { ...options.natsFiles.tls, ca: options.natsFiles.clientsCa },
    log,
  });
  stops.push(() => endpoint.stop());
  listening.push({ name: "NATS endpoint", at: endpoint.url });
  return { url: endpoint.ownUrl, token, endpoint };
}

/** The host and the port in a server's URL, without credentials. */
function addressIn(url: string): string {
  return url.replace(/^[a-z]+:\/\//i, "").replace(/^.*@/, "").replace(/\/.*$/, "");
}

/** Has the embedded endpoint answer JetStream clients from the log of transitions. */
async function serveStreams(context: AppContext, endpoint: NatsEndpoint): Promise<void> {
  const { options, log, stops, store, bus, kinds, restores } = context;
  const events = createEventLog({ store, bus, log });
  stops.push(() => Promise.resolve(events.close()));
  const streams = eventStreams(store, events, kinds, options.keep.history * 3_600_000, restores.generation());
  const service = await JetStreamService.attach(endpoint.attach, {
    streams,
    durables: new Durables(store, log),
    log,
  });
  stops.push(() => service.stop());
}

/** Why a server at a URL is no NATS server that can be used, from one attempt to connect. */
function natsFault(url: string): Promise<string> {
  const { hostname, port } = new URL(/^\w+:\/\//.test(url) ? url : `nats://${url}`);
  return new Promise((resolve) => {
    const socket = net.connect(Number(port) || 4222, hostname.replace(/^\[|\]$/g, ""));
    const settle = (why: string) => {
      socket.destroy();
      resolve(why);
    };
    socket.setTimeout(PATIENCE_MS, () => settle("what is there does not say that it is a NATS server"));
    socket.once("error", (error) => {
      const code = errorCode(error);
      settle(code in HOST_FAULTS ? `${HOST_FAULTS[code as keyof typeof HOST_FAULTS]} (${code})` : reason(error));
    });
    socket.once(
      "data",
      (bytes) =>
        settle(
          /^INFO /.test(String(bytes))
            ? "it is a NATS server that refuses this client"
            : "what is there is no NATS server",
        ),
    );
  });
}

async function openBus(
  { options, log, progress, stops, lose }: StartContext,
  { url, token, tls }: NatsServer,
): Promise<Bus> {
  const server = options.natsUrl === undefined
    ? "The embedded NATS endpoint"
    : `The NATS server at ${url.split(",").map((one) => addressIn(one.trim())).join(", ")} (--nats-url)`;
  const patience = setTimeout(async () => {
    const why = await Promise.all(url.split(",").map((one) => natsFault(one.trim())));
    if (!isOpen) progress(`${server} does not answer: ${[...new Set(why)].join("; ")}. The start waits for it`);
  }, PATIENCE_MS);
  let isOpen = false;
  const bus = await connectBus({ url, token, tls, user: options.natsUser, name: options.worker, log })
    .catch((error) => {
      if (errorCode(error) !== "AUTHORIZATION_VIOLATION") throw error;
      const given = options.natsUser === undefined ? "the token" : `the user ${options.natsUser}, or its password`;
      throw new StartError(`${server} refuses ${given}: compare NATS_USER and NATS_TOKEN with its configuration.`);
    })
    .finally(() => {
      isOpen = true;
      clearTimeout(patience);
    });
  stops.push(() => bus.close());
  if (!await bus.permits(GENERATION_SUBJECT)) {
    throw new StartError(
      `${server} admits this process as ${options.natsUser ?? "a guest"}, without the rights of Arbor's processes: ` +
        "set NATS_TOKEN, and NATS_USER if its configuration has users.",
    );
  }
  void bus.lost.then(lose);
  return bus;
}

/** Makes the database ready, and begins a generation where it was restored. Throws `StartError`. */
async function prepareDatabase(start: StartContext, store: Store): Promise<Generation> {
  await migrateDatabase(start, store);
  const generation = await checkGeneration(store);
  const restored = restoredSentence(generation);
  if (restored !== undefined) start.log.warn(restored);
  return generation;
}

/**
 * Checks that the server is a PostgreSQL of a supported version, and applies the schema migrations; resolves to the ids
 * of those that it lacked.
 *
 * @throws {StartError}
 */
export async function migrateDatabase(
  { options, progress }: Pick<StartContext, "options" | "progress">,
  store: Store,
): Promise<string[]> {
  const { databaseUrl } = options;
  const server = databaseUrl === undefined
    ? "The embedded PostgreSQL"
    : `The PostgreSQL server at ${databaseHosts(databaseUrl)} (--database-url)`;
  const problem = (why: string) => new StartError(`${server} cannot be used: ${why}.`);
  const patience = setTimeout(() => progress(`${server} does not answer yet`), PATIENCE_MS);
  try {
    // The client library retries without limit if the port accepts connections but is not a PostgreSQL server.
    const checked = await inTime(
      checkServer(store, databaseUrl !== undefined && isReplicated(databaseUrl)),
      DATABASE_MS,
    );
    if (checked === undefined) {
      throw problem(`it did not respond as PostgreSQL within ${DATABASE_MS / 1_000} s; check the host and the port`);
    }
    if (!checked.ok) throw new StartError(checked.error.message);
    // The embedded server has its settings on purpose.
    if (databaseUrl !== undefined) { for (const warning of checked.value) progress(`Warning: ${warning}`); }
  } catch (error) {
    throw error instanceof StartError ? error : problem(reason(error) + (DATABASE_HINTS[errorCode(error)] ?? ""));
  } finally {
    clearTimeout(patience);
  }
  const migrated = await migrateWhole(store, schemaMigrations).catch((error) => {
    if (errorCode(error) !== NO_RIGHT) throw error;
    throw problem(
      `${
        reason(error)
      }. Its role has to own the database and its tables: alter database … owner to …; a database that ` +
        "another role has used needs that role",
    );
  });
  if (!migrated.ok) throw new StartError(migrated.error.message);
  return migrated.value;
}

/**
 * Claims the database for the network's magic. A network that does not answer may have another magic, so a new database
 * is claimed only when it answers.
 */
async function claimDatabase(
  { options, lose }: StartContext,
  store: Store,
  { port, reached }: Connected<ChainPort>,
): Promise<void> {
  const claim = async () => {
    const claimed = await claimNetwork(store, options.networkMagic);
    if (!claimed.ok) {
      throw new StartError(`${claimed.error.message} Use another database or --folder for the other network.`);
    }
  };
  if (reached || await readClaim(store) !== undefined) return await claim();
  void port.network().then(claim).catch((error) => lose(reason(error)));
}
