/** Fetches pool metadata in one process at a time. */
import type { AppContext } from "#src/app/context.ts";
import { holdLease } from "#src/runtime/placement/namedLease.ts";
import type { PoolBook } from "#src/wallet/pools/book.ts";
import { keepPools } from "#src/wallet/pools/keeper.ts";
import { beginSource } from "#src/wallet/pools/source.ts";

/** Takes the source of the options unless one was ever set by `PUT /settings`, and fetches until the process stops. */
export async function startPoolKeeping({ options, store, bus, log, stops }: AppContext, book: PoolBook): Promise<void> {
  const { poolMetadata, allowPrivate } = options.outside;
  if (poolMetadata !== "none") await beginSource(store, poolMetadata);
  const lease = holdLease({
    store,
    bus,
    name: "pool-metadata",
    owner: options.worker,
    ttlMs: options.leaseMs,
    log,
    onHeld: (_, signal) =>
      keepPools({ store, book, fetch: { allowPrivate }, log: log.with({ component: "pools" }) }, signal),
  });
  stops.push(() => lease.stop());
}
