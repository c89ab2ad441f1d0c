/** How far wallets are, as clients are told: computed when somebody asks, from where each stands. */
import type { Clock } from "#src/base/clock.ts";
import { origin, type Tip } from "#src/cardano/block.ts";
import { slotAt, type SlotConfig, slotTime } from "#src/cardano/parameters.ts";
import type { MemberPosition } from "#src/chain/index/groups.ts";

export type WireState =
  | { readonly status: "ready" }
  | {
    readonly status: "syncing";
    /** In percent, below 100. */
    readonly progress: { readonly quantity: number; readonly unit: "percent" };
  }
  | { readonly status: "not_responding" };

/** A wallet's state, and the block up to which it is read. */
export interface Standing {
  readonly state: WireState;
  readonly tip: Tip;
}

/** What decides between ready and syncing. */
export interface Tolerance {
  readonly slots: SlotConfig;
  readonly toleranceS: number;
  /** Whether a tip of long ago means that the node itself is behind. */
  readonly clocked: boolean;
  readonly clock: Clock;
}

/** How far one is who has read up to `at`, the newest block that the network told being in `tipSlot`. */
export function syncState(at: { slot: number }, tipSlot: number, tolerance: Tolerance): WireState {
  const { slots, toleranceS, clocked, clock } = tolerance;
  const goal = Math.max(tipSlot, clocked ? slotAt(slots, clock.now()) : tipSlot);
  const behindMs = slotTime(slots, Math.max(goal, at.slot)) - slotTime(slots, at.slot);
  if (behindMs <= toleranceS * 1_000) return { status: "ready" };
  // no tip of the network is known yet
  const share = goal < 0 ? 0 : Math.max(0, at.slot + 1) / (goal + 1);
  const quantity = Math.min(99.99, Math.floor(share * 10_000) / 100);
  return { status: "syncing", progress: { quantity, unit: "percent" } };
}

/** How far wallets are, by id: where they stand, and which of their actors answer nobody. */
export function standingsOf(
  { places, silent, networkTip }: {
    readonly places: ReadonlyMap<string, MemberPosition>;
    readonly silent: ReadonlySet<string>;
    readonly networkTip: { readonly slot: number };
  },
  ids: readonly string[],
  tolerance: Tolerance,
): ReadonlyMap<string, Standing> {
  return new Map(ids.map((id) => {
    const place = places.get(id);
    const tip = place?.at ?? { ...origin, height: 0 };
    if (silent.has(id)) return [id, { state: { status: "not_responding" }, tip }];
    // what is read apart lacks what others brought meanwhile, however near it is: it is ready once it is read with all others
    const joined = place !== undefined && !place.restoring;
    const state = syncState(tip, networkTip.slot, joined ? tolerance : { ...tolerance, toleranceS: -1 });
    return [id, { state, tip }];
  }));
}
