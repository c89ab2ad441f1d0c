/**
 * The environment of a devnet, created for each test of a file: database, bus, a manual clock, the port on the rows.
 */
import { afterEach, beforeEach } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import type { Tip } from "#src/cardano/block.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { type NodePort, nodePort, type NodePortSettings } from "#src/chain/provider/node/port.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { nodeService, type NodeServiceSettings } from "#src/devnet/serve/socket.ts";
import type { NodeServer } from "#src/node/server/server.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { devnetStore } from "./devnet.ts";
import { sharedInfra } from "../infra/infra.ts";
import { socketPath } from "../chain/nodeChain.ts";

/** The value of a successful result. Throws the error otherwise. */
export function valueOf<T>(
  result: { ok: true; value: T } | { ok: false; error: { code: string; message: string } },
): T {
  if (result.ok) return result.value;
  throw new Error(`${result.error.code}: ${result.error.message}`);
}

export interface DevnetWorld {
  readonly infra: Awaited<ReturnType<typeof sharedInfra>>;
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: VirtualClock;
  /** The devnet that its rows describe. */
  readonly rows: RawChainPort;
  /** Devnets that were started; they are stopped after the test. */
  readonly running: Devnet[];
  /** Starts a devnet that makes a block only on request. Without an evaluator it expects no script. */
  start(options?: DevnetOptions, evaluate?: Evaluate): Promise<Devnet>;
  /** Serves a devnet at a socket; returns the server, its path, and a port to it. */
  serve(devnet: Devnet, settings?: Partial<ServeSettings>, port?: Partial<NodePortSettings>): Promise<Served>;
}

/** What a devnet's socket is served with: another path, shorter times. */
export type ServeSettings = NodeServiceSettings & { readonly path: string };

/** A devnet's socket. */
export interface Served {
  readonly server: NodeServer;
  readonly path: string;
  readonly node: NodePort;
}

/** Creates the environment before each test of the file and closes it after the test. */
export function devnetWorld(): DevnetWorld {
  const running: Devnet[] = [];
  const served: (Served & { readonly close: () => Promise<void> })[] = [];
  const of = {} as { -readonly [K in "infra" | "store" | "bus" | "clock" | "rows"]: DevnetWorld[K] };
  beforeEach(async () => {
    of.infra = await sharedInfra();
    of.store = await devnetStore(of.infra.databaseUrl);
    const { natsUrl: url, natsToken: token } = of.infra;
    of.bus = await connectBus({ url, ...(token ? { token } : {}) });
    of.clock = new VirtualClock(1_800_000_000_000);
    of.rows = devnetPort({ store: of.store, bus: of.bus, log: silentLog, pollMs: 60_000 });
  });
  afterEach(async () => {
    for (const { node, close } of served.splice(0)) {
      node.close();
      await close();
    }
    for (const devnet of running.splice(0)) await devnet.stop();
    await of.bus.close();
    await of.store.close();
    await of.infra.stop();
  });
  return {
    get infra() {
      return of.infra;
    },
    get store() {
      return of.store;
    },
    get bus() {
      return of.bus;
    },
    get clock() {
      return of.clock;
    },
    get rows() {
      return of.rows;
    },
    running,
    start: async (options = {}, evaluate = () => Promise.reject(new Error("no script was expected"))) => {
      const { store, bus, clock } = of;
      const started = await startDevnet({
        store,
        bus,
        evaluate,
        log: silentLog,
        clock,
        options: { blockMs: 0, leaseMs: 4_000, ...options },
      });
      const devnet = valueOf(started);
      running.push(devnet);
      return devnet;
    },
    serve: async (devnet, settings = {}, more = {}) => {
      const path = settings.path ?? socketPath();
      const { store, bus } = of;
      const service = nodeService({ devnet, store, bus, log: silentLog, ...settings });
      const server = valueOf(await service.listen({ path }));
      const node = nodePort({ address: { path }, magic: 42, log: silentLog, firstWaitMs: 20, ...more });
      const made = { server, path, node, close: service.close };
      served.push(made);
      return made;
    },
  };
}

/** Makes a block. */
export async function makeBlock(devnet: Devnet): Promise<Tip> {
  return valueOf(await devnet.makeBlock());
}

/**
 * Requests a faucet payment of lovelace to an address (bytes in hexadecimal); returns the output, which is in the
 * mempool.
 */
export async function give(devnet: Devnet, address: string, lovelace: bigint): Promise<Utxo> {
  const { txHash } = valueOf(await devnet.faucet.pay(address, lovelace));
  const waiting = devnet.mempool().find(({ transaction }) => transaction.hash === txHash)!;
  return waiting.applied.created.find(({ output }) => output.address === address)!;
}
