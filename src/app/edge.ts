/** The role `edge`: the services that listen for people and programs. */
import { tokenBoot } from "#actors/token.ts";
import { healthRoutes } from "#src/edge/health.ts";
import { operatorApi } from "#src/edge/operator/api.ts";
import { asyncApi } from "#src/edge/operator/asyncapi.ts";
import { operatorApp, type OperatorPart } from "#src/edge/operator/app.ts";
import { eventRoutes } from "#src/edge/operator/events.ts";
import { isLoopback } from "#src/edge/operator/guard.ts";
import { metricsRoutes } from "#src/edge/operator/metrics.ts";
import { mountPages } from "#src/edge/operator/pages.ts";
import { releaseEndpoints } from "#src/edge/operator/releases.ts";
import { webhookRoutes } from "#src/edge/operator/webhooks.ts";
import { tokenApp } from "#src/edge/tokens/app.ts";
import { PREFIX } from "#src/edge/wallets/route.ts";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { createEventLog, type EventLog } from "#src/runtime/events/eventLog.ts";
import { startWebhooks } from "#src/runtime/webhooks/deliverer.ts";
import { servedCheck } from "#src/app/health.ts";
import { actorKinds, buildOptions, listen, NETWORK_ID, type Place, type Rooms, urlOf } from "#src/app/context.ts";
import { walletKinds, walletService } from "#src/app/wallets.ts";

/** Starts the token service, the wallet service and the operator service. */
export async function edgeRole(rooms: Rooms): Promise<Place[]> {
  const { store, bus, options, log, stops } = rooms;
  const ask = createAsk({ bus, store, log });
  stops.push(() => Promise.resolve(ask.close()));
  rooms.health.checks.set("partitions", () => servedCheck(store));
  const boot = tokenBoot(buildOptions(rooms));
  const health = healthRoutes({ health: rooms.health });
  const events = createEventLog({ store, bus, log });
  const { builders, port } = rooms;
  const app = tokenApp({
    store,
    networkId: NETWORK_ID,
    networkMagic: options.networkMagic,
    factSlots: options.factSlots,
    sites: { hosts: [...options.hosts, options.host], origins: options.origins },
    rateLimit: options.rateLimit,
    ask: ask.ask,
    build: ask.build,
    boot,
    builders,
    health,
    log,
    port,
    events,
  });
  const tokens = await listen(rooms, app, {
    service: "the token service",
    port: options.tokenPort,
    option: "--token-port",
  });
  const operator = await listen(rooms, operatorService(rooms, ask, events), {
    service: "the operator service",
    host: options.operatorHost,
    port: options.operatorPort,
    option: "--operator-port",
  });
  const walletEdge = await listen(rooms, await walletService(rooms, { ask, events, health }), {
    service: "the wallet service",
    host: options.walletHost,
    port: options.walletPort,
    option: "--wallet-port",
  });
  // Before the listener, which waits for the streams to end.
  stops.push(() => Promise.resolve(events.close()));
  const webhooks = startWebhooks({
    store,
    clock: rooms.clock,
    bus,
    events,
    owner: options.worker,
    ttlMs: options.leaseMs,
    log,
    allowPrivate: options.webhooksPrivate,
  });
  stops.push(() => webhooks.stop());
  return [
    { name: "token service", at: urlOf(tokens) },
    { name: "wallet service", at: `${urlOf(walletEdge)}${PREFIX}` },
    { name: "operator service", at: urlOf(operator) },
  ];
}

function operatorService(rooms: Rooms, { ask }: Ask, events: EventLog) {
  const { options, store, bus, log } = rooms;
  const kinds = [...actorKinds(rooms), ...walletKinds(rooms)];
  const parts: OperatorPart[] = [
    healthRoutes({ health: rooms.health }),
    metricsRoutes({ store, log }),
    operatorApi({ store, bus, ask, kinds, aliveMs: options.leaseMs, log }),
    eventRoutes({ events }),
    asyncApi({ kinds, withToken: options.operatorToken !== undefined }),
    releaseEndpoints({ store }),
    webhookRoutes({ store, bus, allowPrivate: options.webhooksPrivate }),
    (app) => mountPages(app),
  ];
  return operatorApp({
    guard: {
      loopback: isLoopback(options.operatorHost),
      ...(options.operatorToken === undefined ? {} : { token: options.operatorToken }),
    },
    parts,
    log,
  });
}
