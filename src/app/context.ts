/** What the roles of one process share, and how they listen. */
import { tokenActor } from "#actors/token.ts";
import { transactionActor } from "#actors/transaction.ts";
import type { Clock } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import type { Log } from "#src/base/log.ts";
import type { Builders } from "#src/builders/builders.ts";
import type { Touched } from "#src/cardano/projection.ts";
import type { FollowerOptions } from "#src/chain/index/follower.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Check, Health } from "#src/edge/health.ts";
import { type Listener, serve } from "#src/edge/serve.ts";
import { explainListenError } from "#src/embedded/ports.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { appendInputs, notifyInputs } from "#src/runtime/turns/inputLog.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { WorkerOptions } from "#src/runtime/worker.ts";
import type { Queries, Store } from "#src/store/store.ts";
import type { Options } from "#src/app/options.ts";
import type { Stop } from "#src/app/shutdown.ts";

export const NETWORK_ID = 0;
/** Rung when somebody wants an address watched. */
export const WATCH = "arbor.chain.watch";

/** Something that listens, for the lines printed at the start. */
export interface Place {
  readonly name: string;
  readonly at: string;
}

/** A start that cannot go on, said in a sentence. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** Faults put in by tests. */
export interface Hooks {
  readonly worker?: WorkerOptions["onStep"];
  readonly follower?: FollowerOptions["onStep"];
}

/** What the process says of itself; each role adds what it stands on. */
export interface RoomsHealth extends Health {
  readonly checks: Map<string, () => Promise<Check>>;
  network?: Json;
}

/** What a role is made of, and where it leaves how to end it. */
export interface Rooms {
  readonly options: Options;
  readonly log: Log;
  readonly hooks: Hooks;
  readonly databaseUrl: string;
  readonly store: Store;
  /** The database's clock. */
  readonly clock: Clock;
  readonly bus: Bus;
  readonly builders: Builders;
  readonly port: ChainPort;
  readonly health: RoomsHealth;
  readonly stops: Stop[];
}

/** Serves an app until the house stops. Throws what a person can act on where the port is taken. */
export async function listen(
  { options, stops }: Rooms,
  app: Parameters<typeof serve>[0],
  use: { service: string; port: number; option: string; host?: string },
): Promise<Listener> {
  try {
    const listener = await serve(app, { host: use.host ?? options.host, port: use.port });
    stops.push(() => listener.stop());
    return listener;
  } catch (error) {
    throw explainListenError(error, use);
  }
}

/** Where a listener is reached. */
export function urlOf({ host, port }: Pick<Listener, "host" | "port">): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Appends what the chain told to the runtime's ordered input log. */
export const append = (sql: Queries, touched: readonly Touched[]): Promise<void> => appendInputs(sql, touched);

/** Tells the workers which entities have new rows in the input log, after the commit. */
export const ringing = (bus: Bus) => (touched: readonly Touched[]): void =>
  notifyInputs(bus, touched.map(({ entity }) => entity));

/** What the builds of tokens need. */
export function buildOptions({ store, bus, port, builders, clock }: Rooms) {
  return { store, port, builders, clock, networkId: NETWORK_ID as 0 | 1, wake: () => bus.publish(WATCH, null) };
}

/** The kinds of actors of this house. */
export function actorKinds(rooms: Rooms): ActorKind[] {
  const { store, bus, port } = rooms;
  return [
    transactionActor({ store, port, append, ring: ringing(bus) }),
    tokenActor(buildOptions(rooms)),
  ];
}
