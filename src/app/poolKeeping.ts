/** Keeps pools' metadata in one process of all that could. */
import type { Rooms } from "#src/app/context.ts";
import { holdLease } from "#src/runtime/placement/namedLease.ts";
import type { PoolBook } from "#src/wallet/pools/book.ts";
import { keepPools } from "#src/wallet/pools/keeper.ts";
import { beginSource } from "#src/wallet/pools/source.ts";

/** Begins with the source that the options name where nobody ever set one, and fetches until the house stops. */
export async function startPoolKeeping({ options, store, bus, log, stops }: Rooms, book: PoolBook): Promise<void> {
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
      keepPools({ store, book, fetch: { allowPrivate }, log: log.with({ room: "pools" }) }, signal),
  });
  stops.push(() => lease.stop());
}
