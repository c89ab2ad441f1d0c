/**
 * Delivers transitions to webhooks: at least once, and the versions of an entity in order.
 *
 * One process at a time delivers, the holder of the lease `webhooks`; its writes count only under the lease's epoch.
 * The transitions for a webhook first become delivery rows, in the statement that moves the webhook's position, so that
 * a process may die at any point: a delivery whose outcome was not recorded is sent again.
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
  /** Name of this process in the lease, unique. */
  readonly owner: string;
  readonly ttlMs: number;
}

/** Subject of the message that says that webhooks were added, removed or resumed. */
export const WEBHOOKS = "arbor.webhooks";

/** Interval at which webhooks are read, in milliseconds. */
const READ_MS = 2_000;

/**
 * Delivers while this process holds the lease.
 *
 * @example
 * ```ts
 * const events = createEventLog({ store, bus, log });
 * const webhooks = startWebhooks({ store, bus, events, log, owner: "process-1", ttlMs: 2_000, allowPrivate: false });
 * await webhooks.stop();
 * ```
 */
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
      let wake = new AbortController();
      const unsubscribe = bus.subscribe(WEBHOOKS, () => wake.abort());
      try {
        while (!signal.aborted) {
          wake = new AbortController();
          const webhooks = await listWebhooks(store).catch((error) => {
            log.warn("webhooks could not be read", { reason: reason(error) });
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
              const endpoint = endpoints.get(id);
              if (endpoint !== undefined) endpoint.wake();
              else endpoints.set(id, startEndpoint({ ...options, log, webhook, epoch, signal }));
            }
          }
          await sleep(READ_MS, wake.signal, signal);
        }
      } finally {
        unsubscribe();
        await Promise.all([...endpoints.values()].map((endpoint) => endpoint.stop()));
      }
    },
  });
}
