/** What the parts of one process share, how they listen, and the actor kinds that they serve. */
import type { TlsOptions } from "node:tls";
import type { Clock } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import type { Log } from "#src/base/log.ts";
import type { Builders } from "#src/threads/builders.ts";
import type { NetworkId } from "#src/cardano/address.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import type { FollowerOptions } from "#src/chain/index/follower.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Check, Health } from "#src/http/health.ts";
import type { PageLinks } from "#src/http/pageLinks.ts";
import { type Listener, serve } from "#src/http/serve.ts";
import { explainListenError, type PortUse } from "#src/embedded/postgres/ports.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { RestoreWatch } from "#src/runtime/events/restored.ts";
import { holdLease, type Lease } from "#src/runtime/placement/namedLease.ts";
import { appendInputs, notifyInputs } from "#src/runtime/inputLog.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { WorkerOptions } from "#src/runtime/worker.ts";
import type { Queries, Store } from "#src/store/store.ts";
import type { Vault } from "#src/wallets/vault/vault.ts";
import type { Options } from "#src/app/options.ts";
import type { Stop } from "#src/app/stopAll.ts";

/** NATS subject that wakes the follower: the index has new addresses or wallets to read. */
export const WAKE_FOLLOWER = "arbor.chain.watch";

/** An address at which a part of the process listens, for the lines printed at the start. */
export interface Listening {
  readonly name: string;
  readonly at: string;
}

/** A start that cannot go on; the message is one for the operator. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** What tests change: faults that they inject, and work that most of them do not need. */
export interface TestHooks {
  /** Builder threads load their code when a job needs it, not after the start: half a second of CPU time. */
  readonly coldBuilders?: boolean;
  /** Builder threads of the test's process, which several services use; they outlive this one. */
  readonly builders?: Builders;
  /** Whether data in memory are on the server that all devnets of this user share. */
  readonly sharedDatabase?: boolean;
  /** Connections of the store's main pool at most. A service opens them all at its start, each for 50 ms of CPU time. */
  readonly connections?: number;
  readonly worker?: WorkerOptions["onStep"];
  readonly follower?: FollowerOptions["onStep"];
}

/** The health of the process; each part adds its checks. */
export interface AppHealth extends Health {
  readonly checks: Map<string, () => Promise<Check>>;
  network?: () => Json;
}

/** What a start begins with. */
export interface StartContext {
  readonly options: Options;
  /** The id in addresses of the network. */
  readonly networkId: NetworkId;
  readonly log: Log;
  readonly hooks: TestHooks;
  /** Prints a line about what takes a while. */
  readonly progress: (line: string) => void;
  readonly health: AppHealth;
  /** The port at which pages load the devnet's development wallet, once the devnet of this process offers one. */
  readonly devnetWallet: { port?: number };
  /** The pages of the deployment, as far as this process knows them. */
  readonly links: PageLinks;
  /** Mnemonics of the signing services, in their order: secrets of the role `signer`. */
  readonly seeds: readonly (readonly string[])[];
  /** Where the process listens, in the order in which the lines are printed. */
  readonly listening: Listening[];
  /** Stops of the parts, in the order of their start. */
  readonly stops: Stop[];
  /** Reports that something the process depends on is lost for good, in a sentence. */
  readonly lose: (sentence: string) => void;
}

/** A port to a network, and whether the network has answered: its magic is then that of the options. */
export interface Connected<Port> {
  readonly port: Port;
  readonly reached: boolean;
}

/** The connections of a process, and its threads for CPU work. */
export interface Connections extends StartContext {
  readonly databaseUrl: string;
  readonly store: Store;
  /** The database's clock. */
  readonly clock: Clock;
  readonly bus: Bus;
  readonly builders: Builders;
  readonly port: ChainPort;
}

/** What the roles work with. Each member is made once for a process. */
export interface AppContext extends Connections {
  readonly vault: Vault;
  /** The kinds of actors, with what they hold from build to build. */
  readonly kinds: readonly ActorKind[];
  readonly restores: RestoreWatch;
}

/** Serves an app until the process stops. Throws a message for the operator where the port is taken. */
export async function listen(
  { options, stops }: Pick<StartContext, "options" | "stops">,
  app: Parameters<typeof serve>[0],
  use: PortUse & { readonly host?: string; readonly tls?: TlsOptions | undefined },
): Promise<Listener> {
  try {
    const listener = await serve(app, { host: use.host ?? options.host, port: use.port, tls: use.tls });
    stops.push(() => listener.stop());
    return listener;
  } catch (error) {
    throw explainListenError(error, use, use.host ?? options.host);
  }
}

/** The URL of a listener. */
export function urlOf(
  { host, port, scheme = "http" }: Pick<Listener, "host" | "port"> & Partial<Listener>,
): string {
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Runs `onHeld` while this process holds a named lease, until the process stops. */
export function holdProcessLease(
  { store, bus, options, log, stops }: AppContext,
  name: string,
  onHeld: Parameters<typeof holdLease>[0]["onHeld"],
): Lease {
  const lease = holdLease({ store, bus, name, owner: options.worker, ttlMs: options.leaseMs, log, onHeld });
  stops.push(() => lease.stop());
  return lease;
}

/** Appends state changes from the chain to the ordered input log. */
export const appendTouched = (sql: Queries, touched: readonly Touched[]): Promise<void> => appendInputs(sql, touched);

/** Notifies workers, after the commit, of entities that have new rows in the input log. */
export const notifyTouched = (bus: Bus) => (touched: readonly Touched[]): void =>
  notifyInputs(bus, touched.map(({ entity }) => entity));

/** What builds of token transactions need. */
export function tokenBuildOptions({ networkId, store, bus, port, builders, clock }: Connections) {
  return {
    store,
    port,
    builders,
    clock,
    networkId,
    wake: () => bus.publish(WAKE_FOLLOWER, null),
  };
}
