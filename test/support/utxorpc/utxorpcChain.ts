/** A chain with content of every kind, served by UTxO RPC in both forms. */
import { createPromiseClient, type PromiseClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { createGrpcWebTransport as createFetchTransport } from "@connectrpc/connect-web";
import { queryConnect, submitConnect, syncConnect, watchConnect } from "@utxorpc/spec/lib/index.mjs";
import { afterAll, beforeAll } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { type UtxorpcListener, type UtxorpcService, utxorpcService } from "#src/devnet/serve/utxorpc/service.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { ExplorerChain } from "../explorer/explorerChain.ts";

/** Clients of 0.18 by one transport. */
export interface UtxorpcClients {
  readonly query: PromiseClient<typeof queryConnect.QueryService>;
  readonly submit: PromiseClient<typeof submitConnect.SubmitService>;
  readonly sync: PromiseClient<typeof syncConnect.SyncService>;
  readonly watch: PromiseClient<typeof watchConnect.WatchService>;
}

/**
 * Transports by name, for a URL. gRPC-Web over HTTP/2 is not among them: Deno's client ends such an answer too early now and then
 * ("Premature close"); Node's reads it.
 */
export const TRANSPORTS: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  "gRPC": (baseUrl) => createGrpcTransport({ baseUrl, httpVersion: "2" }),
  "gRPC-Web over HTTP/1.1": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  "gRPC-Web of browsers": (baseUrl) => createFetchTransport({ baseUrl }),
  "Connect over HTTP/2": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" }),
  "Connect over HTTP/1.1, in JSON": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
};

/** Clients of 0.18. */
export function utxorpcClients(transport: Transport): UtxorpcClients {
  return {
    query: createPromiseClient(queryConnect.QueryService, transport),
    submit: createPromiseClient(submitConnect.SubmitService, transport),
    sync: createPromiseClient(syncConnect.SyncService, transport),
    watch: createPromiseClient(watchConnect.WatchService, transport),
  };
}

/** A chain that is served. */
interface ServedChain {
  readonly chain: ExplorerChain;
  /** URL of the form with integers, and of that with messages. */
  readonly integers: string;
  readonly messages: string;
  /** Serves the chain once more. */
  serve(options?: { readonly index?: boolean }): Promise<UtxorpcListener>;
  stop(): Promise<void>;
}

/** Starts a devnet and grows its chain. */
async function serveChain(seed: number): Promise<ServedChain> {
  const chain = await ExplorerChain.start(seed);
  await chain.complete();
  const { devnet, store, bus } = chain;
  const services: UtxorpcService[] = [];
  const listen = (options: { readonly integers?: boolean; readonly index?: boolean } = {}) => {
    const service = utxorpcService({
      devnet,
      store,
      bus,
      measure: async (input) => measureRedeemers(input),
      log: silentLog,
      ...options,
    });
    services.push(service);
    return service.listen({ host: "127.0.0.1", port: 0 });
  };
  const [integers, messages] = [await listen({ integers: true }), await listen()];
  return {
    chain,
    integers: `http://127.0.0.1:${integers.port}`,
    messages: `http://127.0.0.1:${messages.port}`,
    serve: listen,
    stop: async () => {
      await Promise.all(services.map((service) => service.close()));
      await chain.stop();
    },
  };
}

/** A served chain for the tests of a file. */
interface ServedWorld {
  readonly served: ServedChain;
  /** Clients of the form with messages, by gRPC. */
  readonly grpc: UtxorpcClients;
}

/** Has a chain served before the tests of a file, and stopped after them. */
export function servedWorld(seed: number): ServedWorld {
  const world = {} as { -readonly [K in keyof ServedWorld]: ServedWorld[K] };
  beforeAll(async () => {
    world.served = await serveChain(seed);
    world.grpc = utxorpcClients(TRANSPORTS.gRPC!(world.served.messages));
  }, 120_000);
  afterAll(() => world.served.stop());
  return world;
}
