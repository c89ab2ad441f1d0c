/** How far wallets are read, and whether that counts as ready: computed at the time of a request. */
import type { Clock } from "#src/base/clock.ts";
import { origin, type Tip } from "#src/cardano/block.ts";
import { currentSlot, type SlotClock, slotTime } from "#src/cardano/parameters.ts";

/** The state of a wallet as the API has it. */
type SyncState =
  | { readonly status: "ready" }
  | {
    readonly status: "syncing";
    /** In percent, below 100. */
    readonly progress: { readonly quantity: number; readonly unit: "percent" };
  }
  | { readonly status: "not_responding" };

/** A wallet's state, and the block up to which it is read. */
export interface WalletStatus {
  readonly state: SyncState;
  readonly tip: Tip;
}

/** What decides between ready and syncing. */
export interface SyncTolerance extends SlotClock {
  /** So many seconds behind, a wallet is ready. */
  readonly toleranceS: number;
  /** Whether the network makes blocks by the clock: an old tip then means that the node itself is behind. */
  readonly clocked: boolean;
  readonly clock: Clock;
}

/** Where the index has read a wallet to; `restoring`: apart from all others. */
interface ReadPlace {
  readonly at: Tip;
  readonly restoring: boolean;
}

/**
 * The state of a reader at slot `at`, where the newest block that the network announced is in `tipSlot` (-1: none yet).
 */
export function syncState(at: { readonly slot: number }, tipSlot: number, tolerance: SyncTolerance): SyncState {
  const { slots, toleranceS, clocked, clock } = tolerance;
  const goal = Math.max(tipSlot, clocked ? currentSlot(tolerance, clock.now()) : tipSlot);
  const behindMs = slotTime(slots, Math.max(goal, at.slot)) - slotTime(slots, at.slot);
  if (behindMs <= toleranceS * 1_000) return { status: "ready" };
  const share = goal < 0 ? 0 : Math.max(0, at.slot + 1) / (goal + 1);
  const quantity = Math.min(99.99, Math.floor(share * 10_000) / 100);
  return { status: "syncing", progress: { quantity, unit: "percent" } };
}

/** Status of wallets by id. `silent` are those whose actors do not answer. */
export function walletStatuses(
  { places, silent, networkTip }: {
    readonly places: ReadonlyMap<string, ReadPlace>;
    readonly silent: ReadonlySet<string>;
    readonly networkTip: { readonly slot: number };
  },
  ids: readonly string[],
  tolerance: SyncTolerance,
): ReadonlyMap<string, WalletStatus> {
  return new Map(ids.map((id) => {
    const place = places.get(id);
    const tip = place?.at ?? { ...origin, height: 0 };
    if (silent.has(id)) return [id, { state: { status: "not_responding" }, tip }];
    // A wallet that is read apart lacks what transactions of other wallets brought meanwhile: it is ready once it is
    // read with them.
    const isJoined = place !== undefined && !place.restoring;
    const state = syncState(tip, networkTip.slot, isJoined ? tolerance : { ...tolerance, toleranceS: -1 });
    return [id, { state, tip }];
  }));
}
