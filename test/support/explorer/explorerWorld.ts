/** A devnet that makes blocks on request, and its explorer, for tests of the page. */
import { PAGES } from "#src/app/pages.ts";
import { evaluateIn } from "#src/plutus/jobs.ts";
import { silentLog } from "#src/base/log.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { type Listener, serve } from "#src/http/serve.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { devnetStore } from "../devnet/devnet.ts";
import { valueOf } from "../devnet/devnetWorld.ts";
import { sharedInfra } from "../infra/infra.ts";

export interface ExplorerWorld {
  readonly devnet: Devnet;
  /** Serves the page and what it reads, with or without the index, at a port (0: any). */
  listen(index: boolean, port?: number): Promise<Listener>;
  /** Stops everything but the listeners. */
  stop(): Promise<void>;
}

/** Starts a devnet with slots of 20 ms. */
export async function startExplorer(options: DevnetOptions): Promise<ExplorerWorld> {
  const infra = await sharedInfra();
  const store = await devnetStore(infra.databaseUrl);
  const { natsUrl: url, natsToken: token } = infra;
  const bus = await connectBus({ url, ...(token ? { token } : {}) });
  const builders = startBuilders({ threads: 1, log: silentLog });
  const evaluate = evaluateIn(builders);
  const started = await startDevnet({
    store,
    bus,
    evaluate,
    log: silentLog,
    options: { slotLength: 20, blockMs: 0, ...options },
  });
  const devnet = valueOf(started);
  return {
    devnet,
    listen: (index, port = 0) => {
      const explorer = { builders, pages: PAGES, index, wallet: false };
      const rows = devnetPort({ store, bus, log: silentLog });
      const app = devnetApp({ devnet, store, port: rows, files: [], health: () => {}, explorer, log: silentLog });
      return serve(app, { host: "127.0.0.1", port });
    },
    stop: async () => {
      await devnet.stop();
      await builders.stop();
      await bus.close();
      await store.close();
      await infra.stop();
    },
  };
}

/** Address of the page. */
export const urlOf = ({ port }: Listener): string => `http://127.0.0.1:${port}/`;
