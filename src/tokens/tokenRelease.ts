/** Replays quarantined tokens in the indexer when an operator requests it. */
import { ok } from "#src/base/result.ts";
import { nextReleaseRequest, readReplay, type ReplayFinding, writeReplay } from "#src/tokens/index/release.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { type NetworkQuery, networkQuery } from "#src/chain/index/networkQueries.ts";
import type { Store } from "#src/store/store.ts";

/**
 * The indexer's work on release requests (`requestRelease`). A replay reads rows at one point and does not query the
 * network. Its result is written at the indexer's current block, if the token's state is still the same there.
 */
export function tokenReleases(store: Store, options: { readonly cutAbove?: number } = {}): NetworkQuery {
  return networkQuery<ReplayFinding | undefined>("token releases", async (sql) => {
    const request = await nextReleaseRequest(sql);
    if (!request) return undefined;
    return {
      run: async () => {
        const pace = new EventLoopPacer();
        const { at, value } = await atPoint(
          store,
          (sql) => readReplay(sql, request.token, { ...options, pause: () => pace.step() }),
        );
        return ok({ point: { slot: at.slot, hash: at.hash }, value });
      },
      write: (sql, { point, value }, blocks) => writeReplay(sql, request, value, blocks.at(-1)?.slot ?? point.slot),
    };
  });
}
