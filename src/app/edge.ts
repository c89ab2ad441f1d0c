/** The role `edge`: the services that listen for people and programs. */
import { tokenBoot } from "#actors/token.ts";
import { operatorApi } from "#src/edge/operator/api.ts";
import { operatorApp, type OperatorPart } from "#src/edge/operator/app.ts";
import { eventRoutes } from "#src/edge/operator/events.ts";
import { isLoopback } from "#src/edge/operator/guard.ts";
import { metricsRoutes } from "#src/edge/operator/metrics.ts";
import { mountPages } from "#src/edge/operator/pages.ts";
import { tokenApp } from "#src/edge/tokens/app.ts";
import { type Ask, createAsk } from "#src/runtime/ask.ts";
import { createEventLog } from "#src/runtime/eventLog.ts";
import { actorKinds, buildOptions, listen, NETWORK_ID, type Place, type Rooms, urlOf } from "#src/app/rooms.ts";

/** Starts the token service and the operator service. */
export async function edgeRole(rooms: Rooms): Promise<Place[]> {
  const { store, bus, options, log, stops } = rooms;
  const ask = createAsk({ bus, store, log });
  stops.push(() => Promise.resolve(ask.close()));
  const boot = tokenBoot(buildOptions(rooms));
  const app = tokenApp({ store, networkId: NETWORK_ID, ask: ask.ask, build: ask.build, boot, log });
  const tokens = await listen(rooms, app, {
    service: "the token service",
    port: options.tokenPort,
    option: "--token-port",
  });
  const operator = await listen(rooms, operatorService(rooms, ask), {
    service: "the operator service",
    host: options.operatorHost,
    port: options.operatorPort,
    option: "--operator-port",
  });
  return [
    { name: "token service", at: urlOf(tokens) },
    { name: "operator service", at: urlOf(operator) },
  ];
}

function operatorService(rooms: Rooms, { ask }: Ask) {
  const { options, store, bus, log, stops } = rooms;
  const events = createEventLog({ store, bus, log });
  stops.push(() => Promise.resolve(events.close()));
  const parts: OperatorPart[] = [
    metricsRoutes({ store, log }),
    operatorApi({ store, bus, ask, kinds: actorKinds(rooms), aliveMs: options.leaseMs, log }),
    eventRoutes({ events }),
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
