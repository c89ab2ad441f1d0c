/** Transactions built on outputs that nobody else was just offered, where there are others. */
import { type Failure, ok, type Result } from "#src/base/result.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { type PrioritisedOutput, reserve, TAKE_OVER } from "#src/chain/pending/spendable.ts";
import type { Store } from "#src/store/store.ts";

/** What was built. */
export interface Offering<T> {
  /** What there was to build on, as it was read. */
  readonly read: readonly PrioritisedOutput[];
  readonly spends: readonly OutRef[];
  readonly answer: T;
}

/** Times that something is built because somebody else was offered the same outputs meanwhile; the last one is answered anyway. */
const RACES = 5;

/** The last work of each name. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Builds, and offers what is spent to whoever asked. Where somebody else was quicker, `build` reads and builds anew, and those to whom that
 * happened do so one after the other: each sees what the one before was offered. `whose` is whose the outputs are.
 */
export async function offering<T>(
  store: Store,
  whose: string,
  build: () => Promise<Result<Offering<T>, Failure>>,
): Promise<Result<T, Failure>> {
  const attempt = async (last: boolean): Promise<Result<T, Failure> | undefined> => {
    const built = await build();
    if (!built.ok) return built;
    const { read, spends, answer } = built.value;
    const known = last ? spends.map((ref) => ({ utxo: { ref }, preference: TAKE_OVER })) : read;
    return await reserve(store, spends, known) ? ok(answer) : undefined;
  };
  const first = await attempt(false);
  if (first) return first;
  return await inTurn(whose, async () => {
    for (let race = 2;; race++) {
      const one = await attempt(race >= RACES);
      if (one) return one;
    }
  });
}

/** Does what is done for one name one after the other, within this process. */
export async function inTurn<T>(whose: string, work: () => Promise<T>): Promise<T> {
  const mine = (turns.get(whose) ?? Promise.resolve()).then(work, work);
  turns.set(whose, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(whose) === mine) turns.delete(whose);
  }
}
