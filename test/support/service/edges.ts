/** The four services without their dependencies: a call to a dependency fails the test. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { CLIENT, PAGES } from "#src/app/pages.ts";
import { silentLog } from "#src/base/log.ts";
import { devnetApp, type DevnetEdgeOptions } from "#src/devnet/serve/admin/app.ts";
import { walletRoutes, type WalletRoutesOptions } from "#src/devnet/serve/admin/wallet.ts";
import { healthRoutes } from "#src/http/health.ts";
import { operatorApi } from "#src/operators/http/api.ts";
import { operatorApp } from "#src/operators/http/app.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import { metricsRoutes } from "#src/operators/http/metrics.ts";
import { mountPages } from "#src/operators/http/pages.ts";
import { rollbackEndpoint } from "#src/operators/http/rollback.ts";
import { releaseEndpoints } from "#src/operators/http/releases.ts";
import { webhookRoutes } from "#src/operators/http/webhooks.ts";
import { tokenApp } from "#src/tokens/http/app.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";
import { newGenesis } from "../devnet/genesis.ts";
import { edgeAlone, notCalled } from "./walletEdge.ts";

/** A service, the path of its document and what its requests need. */
export interface Edge {
  readonly name: string;
  readonly app: OpenAPIHono;
  /** Prefix of every path of the document that does not state another one. */
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An operation of a service's document. */
export interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly schema: { readonly type?: string };
  }[];
}

/** A path of a service's document in the form of a request, with parameters filled in. */
export interface ServedPath {
  readonly path: string;
  /** Whether the path in the document also matches other paths. */
  fits(path: string): boolean;
  readonly operations: ReadonlyMap<string, Operation>;
}

const health = healthRoutes({ health: { name: "alone", roles: [], since: 0, checks: new Map() } });

function tokensAlone(): OpenAPIHono {
  const dependencies = ["port", "events", "ask", "build", "boot", "builders"] as const;
  return tokenApp({
    ...Object.fromEntries(dependencies.map((name) => [name, notCalled(name)])),
    store: { sql: notCalled("store") },
    networkId: 0,
    networkMagic: 42,
    client: CLIENT,
    pages: PAGES,
    health,
    log: silentLog,
  } as unknown as TokenEdgeOptions);
}

function operatorAlone(): OpenAPIHono {
  const [store, bus, ask, events] = [
    notCalled("store"),
    notCalled("bus"),
    notCalled("ask"),
    notCalled("events"),
  ] as never[];
  return operatorApp({
    guard: { loopback: true },
    parts: [
      operatorApi({ store: store!, bus: bus!, ask: ask!, kinds: [], aliveMs: 1_000, log: silentLog }),
      eventRoutes({ events: events!, kinds: [] }),
      metricsRoutes({ store: store!, log: silentLog }),
      rollbackEndpoint(bus!),
      releaseEndpoints({ store: store! }),
      webhookRoutes({ store: store!, bus: bus!, kinds: [], allowPrivate: false }),
      health,
      (app) => mountPages(app, { builders: { run: notCalled("builders") as never }, log: silentLog, pages: PAGES }),
    ],
    log: silentLog,
  });
}

function devnetAlone(): OpenAPIHono {
  const genesis = newGenesis();
  const options = {
    devnet: { network: genesis.network, genesis },
    admin: { places: () => ({}) },
    explorer: { builders: { run: notCalled("run") }, pages: PAGES, index: true, wallet: true },
    pages: PAGES,
    store: { sql: notCalled("store") },
    port: notCalled("port"),
    files: [],
    health,
    log: silentLog,
  } as unknown as DevnetEdgeOptions & WalletRoutesOptions;
  const app = devnetApp(options);
  walletRoutes(app, options);
  return app;
}

/** All services, each without its dependencies. */
export function edgesAlone(): readonly Edge[] {
  const operator = { host: "127.0.0.1:8091", "arbor-operator": "1" };
  return [
    { name: "tokens", app: tokensAlone(), prefix: "", headers: {} },
    { name: "wallets", app: edgeAlone(health), prefix: "/v2", headers: {} },
    { name: "operator", app: operatorAlone(), prefix: "", headers: operator },
    { name: "devnet", app: devnetAlone(), prefix: "", headers: {} },
  ];
}

/** The paths of a service's document. */
export async function servedPaths({ app, prefix, headers }: Edge): Promise<readonly ServedPath[]> {
  const answer = await app.request(`${prefix}/openapi.json`, { headers });
  const { paths } = await answer.json() as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).map(([written, { servers, ...operations }]) => {
    const path = (servers === undefined ? prefix : "") + written;
    const pattern = new RegExp(`^${path.replace(/\{\w+\}|\*/g, "[^/]+")}$`);
    return {
      path: path.replace(/\{\w+\}/g, "0"),
      fits: (other: string) => pattern.test(other),
      operations: new Map(Object.entries(operations as Record<string, Operation>)),
    };
  });
}
