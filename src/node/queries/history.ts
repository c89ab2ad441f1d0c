/**
 * The history of eras: how slots, epochs and times map to each other, and how far ahead that is certain.
 *
 * Hypothesis: a node's history ends at its horizon. The end of the last era it states is not where that era will end but how far it
 * surely goes (the tip and the safe zone after it, up to the end of an epoch); beyond it the slot length may change by a hard fork, so nothing is said.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { as, type Encodable, Indefinite } from "#src/cardano/cbor.ts";
import { amount, count, nullable, record, type Shape } from "#src/node/queries/shape.ts";

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

/** An era; without an end, it goes on for ever. */
export interface EraSummary {
  readonly start: EraBound;
  readonly end: EraBound | undefined;
  readonly terms: EraTerms;
}

/** Eras, oldest first. */
export type EraHistory = readonly EraSummary[];

export type PastHorizon = Failure<"past_horizon">;

/** When the system started: year, day of the year (from 1) and picoseconds of the day, UTC. */
export interface SystemStart {
  readonly year: number;
  readonly dayOfYear: number;
  readonly picoseconds: bigint;
}

const PICOSECONDS = 1_000_000_000n;
const DAY = 86_400_000;

/** The system start in ms since 1970. */
export function startTime({ year, dayOfYear, picoseconds }: SystemStart): number {
  return Date.UTC(year, 0, 1) + (dayOfYear - 1) * DAY + Number(picoseconds / PICOSECONDS);
}

/** The system start of a time in ms since 1970. */
export function systemStart(time: number): SystemStart {
  const year = new Date(time).getUTCFullYear();
  const since = time - Date.UTC(year, 0, 1);
  return { year, dayOfYear: Math.floor(since / DAY) + 1, picoseconds: BigInt(since % DAY) * PICOSECONDS };
}

/** How far the history goes; undefined: for ever. */
export function horizon(history: EraHistory): EraBound | undefined {
  return history.at(-1)?.end;
}

/**
 * The era in which something stands: `at` says where it stands from a bound on (negative: before it). The end of the last era
 * still counts as known: the bound itself states its slot, time and epoch.
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

/** A bound; unreleased nodes state a fourth thing, which is left out. */
export const eraBound: Shape<EraBound> = record<EraBound>({ time: amount, slot: count, epoch: count }, { more: true });

/** `[0, slots, [0]]`, or `[1]`: none is needed. */
const safeZone: Shape<number | undefined> = {
  read(item, at) {
    const [kind, slots] = as(item, "array").value;
    return count.read(kind, at) === 0 ? count.read(slots, at) : undefined;
  },
  write: (slots) => (slots === undefined ? [1] : [0, slots, [0]]),
};

const era: Shape<EraSummary> = record<EraSummary>({
  start: eraBound,
  end: nullable(eraBound),
  terms: record<EraTerms>({ epochLength: count, slotLength: count, safeZone, genesisWindow: count }, { more: true }),
});

/** The history: a list of indefinite length, however short. */
export const eraHistory: Shape<EraHistory> = {
  read: (item, at) => as(item, "array").value.map((each) => era.read(each, at)),
  write: (history, at): Encodable => new Indefinite(history.map((each) => era.write(each, at))),
};
