/** Builds transactions on outputs that no other build has just reserved, as long as there are others. */
import { type Failure, ok, type Result } from "#src/base/result.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { type PrioritisedOutput, reserve, TAKE_OVER } from "#src/chain/pending/spendable.ts";
import type { Store } from "#src/store/store.ts";

/** A built transaction. */
export interface Offering<T> {
  /** The outputs that were available when the build read them. */
  readonly read: readonly PrioritisedOutput[];
  readonly spends: readonly OutRef[];
  readonly answer: T;
}

/** Most builds when others reserve the same outputs meanwhile; the last one is returned in any case. */
const RACES = 5;

/** The last work by name. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Builds a transaction and reserves the outputs that it spends. When another build has reserved one of them first,
 * `build` reads and builds again; such repetitions run one after the other, so that each sees the reservations of the
 * one before. `whose` names the owner of the outputs.
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

/** Runs work for the same name one after the other, within this process. */
export async function inTurn<T>(whose: string, work: () => Promise<T>): Promise<T> {
  const mine = (turns.get(whose) ?? Promise.resolve()).then(work, work);
  turns.set(whose, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(whose) === mine) turns.delete(whose);
  }
}
