/** Jumps over slots: where they end, and which slots on the way get a block. Pure functions. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { slotAt, type SlotConfig, slotTime } from "#src/cardano/parameters.ts";
import { epochOf } from "#src/devnet/ledger/epoch.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";

/** Where a jump ends: so far from the present slot, or there. Times are ms since 1970; one between slots is rounded up. */
export type JumpTarget =
  | { readonly slots: number }
  | { readonly seconds: number }
  | { readonly epochs: number }
  | { readonly toSlot: number }
  | { readonly toTime: number }
  | { readonly toEpoch: number };

/** Blocks of a jump beside those of the target slot and of the first slot of each epoch that it enters. */
export const JUMP_BLOCKS = ["one", "sparse", "every"] as const;

/** `one`: no others; `sparse`: one each less than 3k/f slots; `every`: one in each slot. */
export type JumpBlocks = typeof JUMP_BLOCKS[number];

/** Slots after the newest block within which the next block may be set, and blocks with gaps may be made. */
export const MOST_SLOTS = 1_000_000;

/** Blocks that one jump may make; with short epochs most of them begin one, at 5 to 10 ms each. */
export const MOST_BLOCKS = 10_000;

/** How far a devnet's clock may run ahead: until then a time in milliseconds and its date have an exact form. */
const MOST_AHEAD_MS = 100 * 365 * 86_400_000;

/** The devnet's clock cannot run further ahead. */
export type TooFarAhead = Failure<"too_far_ahead">;

/** The devnet's clock is ahead of the machine's: there is nothing to catch up. */
export type ClockAhead = Failure<"clock_ahead">;

/** Why the clock cannot be moved to a slot. */
export type BadSlot = TooFarAhead | Failure<"too_many_slots" | "too_many_blocks" | "slot_not_after_tip">;

/** What a network's slots and epochs are. */
export interface JumpTerms {
  readonly slots: SlotConfig;
  readonly epochLength: number;
  /** 3k/f: slots within which a node can validate the next header. */
  readonly forecast: number;
}

/** The slot that begins at a time in ms since 1970, or the first one after it. */
export function slotFrom(slots: SlotConfig, time: number): number {
  const slot = slotAt(slots, time);
  return slotTime(slots, slot) < time ? slot + 1 : slot;
}

/** The slot in which a jump ends, if it begins now, in slot `now`. An epoch is entered in its first slot. */
export function targetSlot(to: JumpTarget, now: number, { slots, epochLength }: JumpTerms): number {
  if ("slots" in to) return now + to.slots;
  if ("seconds" in to) return now + Math.ceil(to.seconds * 1_000 / slots.slotLength);
  if ("epochs" in to) return (epochOf(now, epochLength) + to.epochs) * epochLength;
  if ("toSlot" in to) return to.toSlot;
  if ("toTime" in to) return slotFrom(slots, to.toTime);
  return to.toEpoch * epochLength;
}

/** The slot of the next block of a jump after one in `slot`, which is before the target. */
export function nextInJump(slot: number, target: number, blocks: JumpBlocks, terms: JumpTerms): number {
  const { epochLength, forecast } = terms;
  const step = { one: Infinity, sparse: Math.max(1, Math.ceil(forecast) - 1), every: 1 }[blocks];
  return Math.min(target, slot + step, (epochOf(Math.max(0, slot), epochLength) + 1) * epochLength);
}

/** Refuses a slot that is more than a century ahead of the clock, whose slot is `wall`. */
export function checkAhead(slot: number, wall: number, { slotLength }: SlotConfig): Result<void, TooFarAhead> {
  if ((slot - wall) * slotLength <= MOST_AHEAD_MS) return ok(undefined);
  return fail("too_far_ahead", "The devnet's clock cannot run more than 100 years ahead.");
}

/** Refuses to catch up where the devnet is ahead of the machine's clock, by so many slots. */
export function checkBehind(ahead: number): Result<void, ClockAhead> {
  if (ahead <= 0) return ok(undefined);
  const message = `The devnet is ${ahead} slots ahead of the machine's clock; a rollback or a snapshot takes it back.`;
  return fail("clock_ahead", message, { slots: ahead });
}

const notAfter = (slot: number, tip: number) =>
  fail("slot_not_after_tip", `Slot ${slot} is not after that of the newest block, ${tip}.`);

/** Refuses a jump from the newest block's slot that would make too many blocks. */
export function checkJump(tip: number, target: number, blocks: JumpBlocks, terms: JumpTerms): Result<void, BadSlot> {
  if (target <= tip) return notAfter(target, tip);
  let made = 0;
  for (let at = tip; at < target && made <= MOST_BLOCKS; made++) at = nextInJump(at, target, blocks, terms);
  if (made <= MOST_BLOCKS) return ok(undefined);
  const epochs = epochOf(target, terms.epochLength) - epochOf(Math.max(0, tip), terms.epochLength);
  const message = `The jump to slot ${target} enters ${epochs} epochs and would make more than ${MOST_BLOCKS} blocks.`;
  return fail("too_many_blocks", message, { tip, target, epochs, limit: MOST_BLOCKS });
}

/** Refuses a slot that the next block, or blocks with gaps, cannot reach in one request from the newest block's. */
export function checkReach(slot: number, tip: number): Result<void, BadSlot> {
  if (slot <= tip) return notAfter(slot, tip);
  if (slot - tip <= MOST_SLOTS) return ok(undefined);
  const message = `Slot ${slot} is more than ${MOST_SLOTS} slots after that of the newest block, ${tip}.`;
  return fail("too_many_slots", message, { tip, limit: MOST_SLOTS });
}

/** The terms of jumps over slots. */
export function jumpTerms({ network: { slots, securityParameter }, terms }: Genesis): JumpTerms {
  const { activeSlots: { numerator, denominator }, epochLength } = terms;
  return { slots, epochLength, forecast: 3 * securityParameter * Number(denominator) / Number(numerator) };
}
