/** The book of pools by the epoch where the index stands. */
import { ok } from "#src/base/result.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { eraKeeper } from "#src/edge/wallets/times.ts";
import type { Store } from "#src/store/store.ts";
import { PoolBook } from "#src/wallet/pools/book.ts";
import { readPoolChange } from "#src/wallet/pools/production.ts";

/** Opens one; who serves pools and who keeps their metadata share it. */
export function openPoolBook({ store, port }: { readonly store: Store; readonly port: ChainPort }): PoolBook {
  const eras = eraKeeper(port);
  return new PoolBook({
    port,
    change: () => readPoolChange(store.sql),
    epoch: async () => {
      const { at } = await readCursor(store.sql);
      const known = await eras(at.slot);
      return known.ok ? ok(epochsOf(known.value).of(at.slot)) : known;
    },
  });
}
