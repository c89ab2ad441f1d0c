/** The pool book of a process: its epoch is that of the block up to which the index has read. */
import { ok } from "#src/base/result.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { eraCache } from "#src/chain/provider/eraCache.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Store } from "#src/store/store.ts";
import { PoolBook } from "#src/wallets/pools/book.ts";
import { readPoolChange } from "#src/wallets/pools/production.ts";

/** A pool book. The wallet service and the keeper of pool metadata share one. */
export function openPoolBook({ store, port }: { readonly store: Store; readonly port: ChainPort }): PoolBook {
  const readEras = eraCache(port);
  return new PoolBook({
    port,
    change: () => readPoolChange(store.sql),
    epoch: async () => {
      const { at } = await readCursor(store.sql);
      const eras = await readEras(at.slot);
      return eras.ok ? ok(epochsOf(eras.value).of(at.slot)) : eras;
    },
  });
}
