/** The system start and the history of eras, as a node reports them (see `src/cardano/eras.ts`). */
import { as, type Encodable, Indefinite } from "#src/cardano/cbor.ts";
import type { EraBound, EraHistory, EraSummary, EraTerms } from "#src/cardano/eras.ts";
import { amount, type CborShape, count, nullable, record, type ShapeValue } from "#src/node/queries/shape.ts";

/** When the system started: year, day of the year (from 1) and picoseconds of the day, UTC. */
export const systemStartShape = record({ year: count, dayOfYear: count, picoseconds: amount });
export type SystemStart = ShapeValue<typeof systemStartShape>;

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

/** A bound. Unreleased nodes add a fourth field, which is ignored. */
export const eraBound: CborShape<EraBound> = record<EraBound>({ time: amount, slot: count, epoch: count }, {
  more: true,
});

/** `[0, slots, [0]]`, or `[1]`: none is needed. */
const safeZone: CborShape<number | undefined> = {
  read(item, at) {
    const [kind, slots] = as(item, "array").value;
    return count.read(kind, at) === 0 ? count.read(slots, at) : undefined;
  },
  write: (slots) => (slots === undefined ? [1] : [0, slots, [0]]),
};

const era: CborShape<EraSummary> = record<EraSummary>({
  start: eraBound,
  end: nullable(eraBound),
  terms: record<EraTerms>({ epochLength: count, slotLength: count, safeZone, genesisWindow: count }, { more: true }),
});

/** The history: a list of indefinite length, even if short. */
export const eraHistory: CborShape<EraHistory> = {
  read: (item, at) => as(item, "array").value.map((each) => era.read(each, at)),
  write: (history, at): Encodable => new Indefinite(history.map((each) => era.write(each, at))),
};
