/**
 * The eras of a chain: how slots, epochs and times map to each other, and how far ahead that is certain.
 *
 * Hypothesis: a node's history ends at its horizon. The end of the last era it states is not where that era will end but how far it
 * surely goes (the tip and the safe zone after it, up to the end of an epoch); beyond it the slot length may change by a hard fork, so nothing is said.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** Eras by their index in a history; a block's tag is one more, and 0 for an epoch boundary block. */
export const ERAS = ["Byron", "Shelley", "Allegra", "Mary", "Alonzo", "Babbage", "Conway", "Dijkstra"] as const;

type EraName = typeof ERAS[number];

/** Where an era begins or ends. */
export interface EraBound {
  /** Picoseconds since the system start. */
  readonly time: bigint;
  readonly slot: number;
  readonly epoch: number;
}

/** How time runs in an era. */
export interface EraTerms {
  /** Slots of an epoch. */
  readonly epochLength: number;
  /** Milliseconds of a slot. */
  readonly slotLength: number;
  /** Slots after the tip in which no hard fork can come; undefined: there will be none. */
  readonly safeZone: number | undefined;
  /** Slots. */
  readonly genesisWindow: number;
}

/** An era of a chain; without an end, it is the last one. */
export interface EraSummary {
  readonly start: EraBound;
  readonly end: EraBound | undefined;
  readonly terms: EraTerms;
}

/** Eras, oldest first. */
export type EraHistory = readonly EraSummary[];

type PastHorizon = Failure<"past_horizon">;

const PICOSECONDS = 1_000_000_000n;

/** How far the history goes; undefined: without end. */
export function horizon(history: EraHistory): EraBound | undefined {
  return history.at(-1)?.end;
}

/**
 * The era that contains a point: `at` gives the point's offset from a bound (negative: before it). The end of the last era
 * still counts as known, because the bound states its slot, time and epoch.
 */
function eraOf(
  history: EraHistory,
  what: string,
  at: (bound: EraBound) => number,
): Result<EraSummary, PastHorizon> {
  const end = horizon(history);
  const era = history.findLast(({ start }) => at(start) >= 0);
  if (!era) return fail("past_horizon", `${what} is before the first slot.`);
  if (!end || at(end) <= 0) return ok(era);
  const until = `slot ${end.slot} (epoch ${end.epoch})`;
  return fail("past_horizon", `${what} is past ${until}: a node does not know how time runs from there on.`);
}

const compare = (a: bigint | number, b: bigint | number) => (a < b ? -1 : a > b ? 1 : 0);

/** When a slot begins, in ms since the system start. */
export function timeOfSlot(history: EraHistory, slot: number): Result<number, PastHorizon> {
  const era = eraOf(history, `Slot ${slot}`, (bound) => compare(slot, bound.slot));
  if (!era.ok) return era;
  const { start, terms } = era.value;
  return ok(Number(start.time / PICOSECONDS) + (slot - start.slot) * terms.slotLength);
}

/** The slot in which a time lies, in ms since the system start. */
export function slotOfTime(history: EraHistory, time: number): Result<number, PastHorizon> {
  const picoseconds = BigInt(Math.floor(time)) * PICOSECONDS;
  const era = eraOf(history, `The time ${time} ms after the system start`, (bound) => compare(picoseconds, bound.time));
  if (!era.ok) return era;
  const { start, terms } = era.value;
  return ok(start.slot + Math.floor((time - Number(start.time / PICOSECONDS)) / terms.slotLength));
}

/** The epoch of a slot. */
export function epochOfSlot(history: EraHistory, slot: number): Result<number, PastHorizon> {
  const era = eraOf(history, `Slot ${slot}`, (bound) => compare(slot, bound.slot));
  if (!era.ok) return era;
  const { start, terms } = era.value;
  return ok(start.epoch + Math.floor((slot - start.slot) / terms.epochLength));
}

/** First slot of an epoch, and the first slot after it. */
export function slotsOfEpoch(
  history: EraHistory,
  epoch: number,
): Result<{ readonly first: number; readonly after: number }, PastHorizon> {
  // not the epoch of the last bound: its first slot is known, its length is not
  const era = eraOf(
    history,
    `The end of epoch ${epoch}`,
    (bound) => compare(epoch + (bound === horizon(history) ? 1 : 0), bound.epoch),
  );
  if (!era.ok) return era;
  const { start, terms } = era.value;
  const first = start.slot + (epoch - start.epoch) * terms.epochLength;
  return ok({ first, after: first + terms.epochLength });
}

/** How time runs on a chain, as far as is known at some block. */
export interface Eras {
  /** When slot 0 begins, in ms since 1970. */
  readonly systemStart: number;
  /** The era that the ledger is in. */
  readonly current: EraName;
  /** The eras that have begun, oldest first: `history[i]` is `ERAS[i]`. One that ended where it began has no slots. */
  readonly history: EraHistory;
}

/** An epoch; times are ms since 1970. */
export interface Epoch {
  readonly number: number;
  readonly firstSlot: number;
  /** Slots. */
  readonly length: number;
  /** When it begins. */
  readonly start: number;
  /** When the next one begins. */
  readonly end: number;
}

/** When a slot begins, in ms since 1970. */
export function timeAt({ systemStart, history }: Eras, slot: number): Result<number, PastHorizon> {
  const since = timeOfSlot(history, slot);
  return since.ok ? ok(systemStart + since.value) : since;
}

/** The slot in which a time lies, in ms since 1970. */
export function slotAt({ systemStart, history }: Eras, time: number): Result<number, PastHorizon> {
  return slotOfTime(history, time - systemStart);
}

/** An epoch by its number. */
export function epochTimes(eras: Eras, number: number): Result<Epoch, PastHorizon> {
  const slots = slotsOfEpoch(eras.history, number);
  if (!slots.ok) return slots;
  const { first, after } = slots.value;
  const [start, end] = [timeAt(eras, first), timeAt(eras, after)];
  if (!start.ok) return start;
  return end.ok ? ok({ number, firstSlot: first, length: after - first, start: start.value, end: end.value }) : end;
}

/** When an era began: its first epoch, and the time of it in ms since 1970. Undefined where it has not. */
export function eraStart(
  { systemStart, history }: Eras,
  name: EraName,
): { readonly epoch: number; readonly time: number } | undefined {
  const start = history[ERAS.indexOf(name)]?.start;
  return start && { epoch: start.epoch, time: systemStart + Number(start.time / PICOSECONDS) };
}
