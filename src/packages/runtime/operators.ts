/** The operator service of a runtime: its API and its pages. */
import { PAGES } from "#src/app/pages.ts";
import type { Log } from "#src/base/log.ts";
import { fail } from "#src/base/result.ts";
import { failingChecks, type Health, healthRoutes } from "#src/http/health.ts";
import { operatorApi } from "#src/operators/http/api.ts";
import { operatorApp } from "#src/operators/http/app.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import type { GuardOptions } from "#src/operators/http/guard.ts";
import { metricsRoutes } from "#src/operators/http/metrics.ts";
import { mountPages } from "#src/operators/http/pages.ts";
import { webhookRoutes } from "#src/operators/http/webhooks.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

interface OperatorService {
  readonly store: Store;
  readonly bus: Bus;
  readonly ask: Ask["ask"];
  readonly kinds: readonly ActorKind[];
  readonly events: EventLog;
  readonly health: Health;
  readonly guard: GuardOptions;
  readonly leaseMs: number;
  readonly allowPrivate: boolean;
  readonly log: Log;
}

/** Bundles nothing: a package has the bundles of its pages. */
export const builders = {
  run: () => Promise.resolve(fail("bundle_unavailable", "This package has no page of that name.")),
};

export function operatorService(options: OperatorService) {
  const { store, bus, ask, kinds, events, health, guard, leaseMs: aliveMs, allowPrivate, log } = options;
  return operatorApp({
    guard,
    parts: [
      healthRoutes({ health }),
      metricsRoutes({ store, log }),
      operatorApi({ store, bus, ask, kinds, aliveMs, log, attention: { failingChecks: failingChecks(health) } }),
      eventRoutes({ events, kinds }),
      webhookRoutes({ store, bus, kinds, allowPrivate }),
      (app) => mountPages(app, { builders, log, pages: PAGES }),
    ],
    log,
    examples: [],
    page: { builders, log, pages: PAGES },
  });
}
