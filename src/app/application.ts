/** One process: its connections, then the parts of its roles; all of it stops in the opposite order. */
import { type Log, reason } from "#src/base/log.ts";
import { MAINNET_MAGIC, networkIdOf } from "#src/cardano/magic.ts";
import { type AppContext, type Listening, type StartContext, StartError, type TestHooks } from "#src/app/context.ts";
import { connect } from "#src/app/connections.ts";
import { continuation } from "#src/app/greeting.ts";
import { startHealthPort } from "#src/app/healthPort.ts";
import {
  createTemporaryFolder,
  removeAbandonedFolders,
  type TemporaryFolder,
} from "#src/embedded/postgres/temporaryFolder.ts";
import { mainnetNotice } from "#src/app/mainnet.ts";
import { startMonitoring } from "#src/app/monitoring.ts";
import type { Options, Role } from "#src/app/options.ts";
import { checkPorts } from "#src/app/ports.ts";
import type { Signers } from "#src/app/signerOptions.ts";
import { stopAll } from "#src/app/stopAll.ts";
import { readSeeds } from "#src/app/seedFiles.ts";

export { StartError } from "#src/app/context.ts";

/** Starts a part, which adds its checks, its addresses and its stop to the context. */
type StartPart = (context: AppContext) => void | Promise<void>;

/** A part of a process. */
interface Part {
  /** The role that starts it; every process without one. */
  readonly role?: Role;
  /** What its log lines name as their component; see `logOptions.ts`. */
  readonly component?: string;
  /** Loads its code. */
  readonly load: () => Promise<StartPart>;
}

/**
 * The parts in the order in which they start; each may depend on those above it in the same process, or in another one.
 * A process loads the code of its own roles alone, while it connects.
 */
const PARTS: readonly Part[] = [
  { load: async () => startHealthPort },
  { load: async () => startMonitoring },
  { role: "devnet", load: async () => (await import("#src/app/devnetRole.ts")).startDevnetRole },
  { role: "follower", load: async () => (await import("#src/app/followerRole.ts")).startFollowerRole },
  { role: "worker", component: "worker", load: async () => (await import("#src/app/workerRole.ts")).startWorkerRole },
  { role: "edge", component: "edge", load: async () => (await import("#src/app/edgeRole.ts")).startEdgeRole },
  { role: "signer", component: "signer", load: async () => (await import("#src/app/signerRole.ts")).startSignerRole },
  { load: async () => warmBuilders },
];

/** A process that has started. */
export interface App {
  readonly listening: readonly Listening[];
  /** Resolves with a sentence when something that the process depends on is lost for good: it must be restarted. */
  readonly lost: Promise<string>;
  /** Stops all parts in order: edges first, the database last. */
  stop(): Promise<void>;
}

/**
 * Starts a process. `progress` gets a line about what takes a while.
 *
 * @throws {StartError} with a message for the operator; what had started is stopped.
 */
export async function startApp(
  given: Options,
  log: Log,
  progress: (line: string) => void,
  hooks: TestHooks = {},
): Promise<App> {
  const seeds = given.signers && given.roles.has("signer") ? signerSeeds(given.signers, given.networkMagic) : [];
  const temporary = given.inMemory ? await temporaryFolder(log, progress) : undefined;
  const options = temporary === undefined ? given : { ...given, folder: temporary.path };
  let lose: (sentence: string) => void = () => {};
  const lost = new Promise<string>((resolve) => lose = resolve);
  const { worker: name, securityContact } = options;
  const health = { name, roles: [...options.roles], since: Date.now(), checks: new Map(), securityContact };
  const networkId = networkIdOf(options.networkMagic);
  const start: StartContext = {
    ...{ options, networkId, log, hooks, progress, health, lose, seeds },
    ...{ devnetWallet: {}, links: { ...options.pageUrls, guide: true }, listening: [], stops: [] },
  };
  if (temporary) start.stops.push(async () => temporary.remove());
  health.checks.set("process", async () => ({ ready: false, why: "it starts" }));
  const stop = async () => {
    health.checks.set("process", async () => ({ ready: false, why: "it ends" }));
    await stopAll(start.stops, log);
  };
  try {
    for (const line of mainnetNotice(start)) progress(line);
    await checkPorts(options);
    const connecting = connect(start);
    const parts = PARTS.filter(({ role }) => role === undefined || options.roles.has(role));
    const loading = Promise.all(parts.map(async ({ component, load }) => ({ component, startPart: await load() })));
    // Where the connections fail, that is the reason.
    loading.catch(() => {});
    const context = await connecting;
    const continued = await continuation(context);
    if (continued !== undefined) progress(continued);
    for (const { component, startPart } of await loading) {
      await startPart(component === undefined ? context : { ...context, log: log.with({ component }) });
    }
    health.checks.delete("process");
    return { listening: start.listening, lost, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The mnemonics of the signing services. @throws {StartError} on mainnet: the service signs for every client */
function signerSeeds(signers: Signers, magic: number): readonly (readonly string[])[] {
  if (magic !== MAINNET_MAGIC) return readSeeds(signers);
  throw new StartError("The signing service is for development and tests: it does not start on mainnet.");
}

/** The folder of a process that keeps nothing, after those of killed ones are removed. @throws {StartError} */
async function temporaryFolder(log: Log, progress: (line: string) => void): Promise<TemporaryFolder> {
  let folder: TemporaryFolder;
  try {
    await removeAbandonedFolders(log);
    folder = createTemporaryFolder();
  } catch (error) {
    throw new StartError(
      `There is no folder for temporary data: ${reason(error)}. Set TMPDIR to one, or use a database.`,
    );
  }
  progress(`In memory: all data, wallets included, are removed when this process ends (until then in ${folder.path}).`);
  return folder;
}

/** Has the builder threads load what they need; until then the process is not ready. */
function warmBuilders({ builders, health, hooks }: AppContext): void {
  if (hooks.coldBuilders) return;
  let warm = false;
  health.checks.set(
    "builders",
    async () => warm ? { ready: true } : { ready: false, why: "the builder threads are still warming up" },
  );
  void builders.warm().then(() => warm = true);
}
