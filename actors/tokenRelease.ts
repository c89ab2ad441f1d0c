/** Has the follower replay tokens whose facts the index does not vouch for, where an operator wishes it. */
import { ok } from "#src/base/result.ts";
import { type Finding, readReplay, wantedRelease, writeReplay } from "#src/cage/index/release.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { type NetworkQuery, networkQuery } from "#src/chain/index/networkQueries.ts";
import type { Store } from "#src/store/store.ts";

/**
 * What the follower does about wishes (`wishRelease`). A replay reads rows at one point and asks nothing of the network; what it found is
 * written where the follower stands by then, if the token's state is the same there.
 */
export function tokenReleases(store: Store, options: { readonly cutAbove?: number } = {}): NetworkQuery {
  return networkQuery<Finding | undefined>("token releases", async (sql) => {
    const wish = await wantedRelease(sql);
    if (!wish) return undefined;
    return {
      run: async () => {
        const pace = new EventLoopPacer();
        const { at, value } = await atPoint(
          store,
          (sql) => readReplay(sql, wish.token, { ...options, pause: () => pace.step() }),
        );
        return ok({ point: { slot: at.slot, hash: at.hash }, value });
      },
      write: (sql, { point, value }, blocks) => writeReplay(sql, wish, value, blocks.at(-1)?.slot ?? point.slot),
    };
  });
}
