/**
 * Delivers transitions to webhooks: at least once, and to each the versions of an entity in their order.
 *
 * One process at a time does it, the holder of the lease `webhooks`; whatever it writes counts only under the lease's epoch. A
 * webhook's transitions become rows first, together with how far it has come, so that a process may die at any point: what
 * was sent and not noted is sent again.
 */
import { sleep } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { holdLease, type Lease } from "#src/runtime/placement/namedLease.ts";
import { type DeliveryOptions, type Endpoint, startEndpoint } from "#src/runtime/webhooks/endpoint.ts";
import { WEBHOOKS_LEASE } from "#src/runtime/webhooks/queue.ts";
import { listWebhooks } from "#src/runtime/webhooks/rows.ts";

export interface WebhooksOptions extends DeliveryOptions {
  readonly bus: Bus;
  /** Who asks for the lease, unique among processes. */
  readonly owner: string;
  readonly ttlMs: number;
}

/** Subject of the message that says that webhooks were added, removed or resumed. */
export const WEBHOOKS = "arbor.webhooks";

const LOOK_MS = 2_000;

/** Delivers while this process holds the lease. */
export function startWebhooks(options: WebhooksOptions): Lease {
  const { store, bus, owner, ttlMs } = options;
  const log = options.log.with({ component: "webhooks" });
  return holdLease({
    store,
    name: WEBHOOKS_LEASE,
    owner,
    ttlMs,
    log,
    onHeld: async (epoch, signal) => {
      const endpoints = new Map<string, Endpoint>();
      let bell = new AbortController();
      const unsubscribe = bus.subscribe(WEBHOOKS, () => bell.abort());
      try {
        while (!signal.aborted) {
          bell = new AbortController();
          const webhooks = await listWebhooks(store).catch((error) => {
            log.warn("webhooks not read yet", { reason: reason(error) });
            return undefined;
          });
          if (webhooks !== undefined) {
            const live = new Map(webhooks.filter(({ status }) => status !== "disabled").map((one) => [one.id, one]));
            for (const [id, endpoint] of endpoints) {
              if (live.has(id) && !endpoint.ended()) continue;
              await endpoint.stop();
              endpoints.delete(id);
            }
            for (const [id, webhook] of live) {
              if (endpoints.has(id)) endpoints.get(id)!.wake();
              else endpoints.set(id, startEndpoint({ ...options, log, webhook, epoch, signal }));
            }
          }
          await Promise.race([sleep(LOOK_MS, bell.signal), sleep(LOOK_MS, signal)]);
        }
      } finally {
        unsubscribe();
        await Promise.all([...endpoints.values()].map((endpoint) => endpoint.stop()));
      }
    },
  });
}
