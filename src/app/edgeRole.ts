/** The role `edge`: token service, wallet service and operator service. */
import { tokenBoot } from "#src/tokens/builds/boot.ts";
import { readQuarantined } from "#src/tokens/index/release.ts";
import { failingChecks, healthRoutes } from "#src/http/health.ts";
import { indexLookups } from "#src/operators/http/lookups.ts";
import { operatorApi } from "#src/operators/http/api.ts";
import { asyncApi } from "#src/operators/http/asyncapi.ts";
import { operatorApp, type OperatorPart } from "#src/operators/http/app.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import { mountGuide } from "#src/http/guide.ts";
import { isLoopback } from "#src/http/sites.ts";
import { metricsRoutes } from "#src/operators/http/metrics.ts";
import { mountPages } from "#src/operators/http/pages.ts";
import { rebuildEndpoints } from "#src/operators/http/rebuild.ts";
import { rollbackEndpoint } from "#src/operators/http/rollback.ts";
import { releaseEndpoints } from "#src/operators/http/releases.ts";
import { restoredEndpoints } from "#src/operators/http/restored.ts";
import { webhookRoutes } from "#src/operators/http/webhooks.ts";
import { followerUtxoRoot } from "#src/chain/index/outputSet.ts";
import type { UtxoRootReads } from "#src/chain/utxoRoot/reads.ts";
import { devnetUtxoRoot } from "#src/devnet/utxoRoot.ts";
import { tokenApp } from "#src/tokens/http/app.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";
import { PREFIX } from "#src/wallets/http/route.ts";
import { readTls } from "#src/embedded/postgres/tlsFiles.ts";
import { createAsk } from "#src/runtime/bus/ask.ts";
import { contentsOf } from "#src/runtime/events/content.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import { startWebhooks } from "#src/runtime/webhooks/deliverer.ts";
import { CLIENT, GUIDE, PAGES } from "#src/app/pages.ts";
import { isDevnet } from "#src/app/network.ts";
import { tokenLogOf, tokenLogReads } from "#src/app/tokenLog.ts";
import { partitionsCheck } from "#src/http/checks.ts";
import { TOKENS_OFF, tokensServed } from "#src/app/mainnet.ts";
import { type AppContext, listen, tokenBuildOptions, urlOf, WAKE_FOLLOWER } from "#src/app/context.ts";
import { operatorPort, tokenPort, walletPort, walletUiPort } from "#src/app/ports.ts";
import { type EdgeServices, walletService } from "#src/app/walletRole.ts";

/** Starts the three services, the event log that their streams read, and the delivery of webhooks. */
export async function startEdgeRole(context: AppContext): Promise<void> {
  const { store, bus, kinds, options, log, listening, stops } = context;
  const ask = createAsk({ bus, store, log });
  stops.push(() => Promise.resolve(ask.close()));
  context.health.checks.set("partitions", () => partitionsCheck(store));
  const events = createEventLog({
    store,
    bus,
    log,
    contents: contentsOf(kinds),
    mostReaders: options.eventReaders,
  });
  context.restores.add(events);
  const shared = { ask, events, health: healthRoutes({ health: context.health }) };
  const tokens = await listen(context, mountGuide(tokenService(context, shared), GUIDE), tokenPort(options));
  const operator = await listen(context, mountGuide(operatorService(context, shared), GUIDE), operatorPort(options));
  const walletRoutes = mountGuide(await walletService(context, shared), GUIDE);
  const tls = options.walletTls && await readTls(options.walletTls);
  const wallets = await listen(context, walletRoutes, { ...walletPort(options), tls });
  // the page calls the API of its own origin, so its port has the whole service, with the same guards and limits
  const uiPort = walletUiPort(options);
  const walletPage = uiPort && await listen(context, walletRoutes, { ...uiPort, tls });
  if (tokensServed(context)) context.links.tokens ??= tokens;
  context.links.wallet ??= wallets;
  context.links.operator ??= operator;
  // Stops before the listeners, which wait for their streams to end.
  stops.push(() => Promise.resolve(events.close()));
  const webhooks = startWebhooks({
    store,
    clock: context.clock,
    bus,
    events,
    owner: options.worker,
    ttlMs: options.leaseMs,
    log,
    allowPrivate: options.webhooksPrivate,
  });
  stops.push(() => webhooks.stop());
  listening.push(
    { name: tokensServed(context) ? "token service" : "token service (off)", at: urlOf(tokens) },
    { name: "wallet service", at: `${urlOf(wallets)}${PREFIX}` },
    ...(walletPage ? [{ name: "wallet page", at: urlOf(walletPage) }] : []),
    { name: "operator service", at: urlOf(operator) },
  );
}

function tokenService(context: AppContext, shared: EdgeServices) {
  const { options } = context;
  return tokenApp({
    ...tokenEdgeOptions(context, shared),
    sites: { hosts: [...options.hosts, options.host], origins: options.origins },
    rateLimit: options.rateLimit,
    ...(tokensServed(context) ? {} : { off: TOKENS_OFF }),
    devnetWallet: context.devnetWallet.port,
    pageConnect: options.pageConnect,
  });
}

/** What the token service and a signing service depend on. */
export function tokenEdgeOptions(context: AppContext, { ask, events, health }: EdgeServices): TokenEdgeOptions {
  const { store, bus, options, builders, port, log } = context;
  return {
    store,
    networkId: context.networkId,
    networkMagic: options.networkMagic,
    factSlots: options.factSlots,
    tokenLog: tokenLogOf(options),
    utxoRoot: utxoRootOf(context),
    ask: ask.ask,
    build: ask.build,
    boot: tokenBoot(tokenBuildOptions(context)),
    builders,
    client: CLIENT,
    pages: PAGES,
    links: context.links,
    health,
    log,
    port,
    events,
    wake: () => bus.publish(WAKE_FOLLOWER, null),
  };
}

/** The root of all unspent outputs: the devnet's, or that of a follower that keeps one. */
function utxoRootOf({ options, store }: AppContext): UtxoRootReads | undefined {
  if (isDevnet(options)) return options.devnetWithout.has("utxo-root") ? undefined : devnetUtxoRoot(store);
  return options.utxoRoot === undefined ? undefined : followerUtxoRoot(store);
}

function operatorService(context: AppContext, { ask: { ask }, events, health }: EdgeServices) {
  const { options, store, bus, kinds, log } = context;
  const index = indexLookups(store);
  const tokenLog = tokenLogReads(context);
  const parts: OperatorPart[] = [
    health,
    metricsRoutes({ store, log, index, tokenLog }),
    operatorApi({
      store,
      bus,
      ask,
      kinds,
      aliveMs: options.leaseMs,
      log,
      index,
      tokenLog,
      attention: {
        quarantined: () => readQuarantined(store.sql),
        failingChecks: failingChecks(context.health),
      },
    }),
    rollbackEndpoint(bus),
    rebuildEndpoints({ store, bus, log, contents: contentsOf(kinds), maxAgeMs: options.keep.history * 3_600_000 }),
    restoredEndpoints({ store, bus }),
    eventRoutes({ events, kinds }),
    asyncApi({ kinds, withToken: options.operatorToken !== undefined }),
    releaseEndpoints({ store }),
    webhookRoutes({ store, bus, kinds, allowPrivate: options.webhooksPrivate }),
    (app) => mountPages(app, page),
  ];
  const page = { builders: context.builders, log, pages: PAGES, links: context.links };
  return operatorApp({
    page,
    guard: {
      loopback: isLoopback(options.operatorHost),
      proxies: options.rateLimit.proxies,
      ...(options.operatorToken === undefined ? {} : { token: options.operatorToken }),
    },
    parts,
    log,
  });
}
