/**
 * Eras of the network (how slots, epochs and time relate), cached: they change with a hard fork, their horizon with
 * each epoch.
 */
import { ok, type Result } from "#src/base/result.ts";
import { type Eras, timeAt } from "#src/cardano/eras.ts";
import type { Unanswered } from "#src/chain/provider/answer.ts";
import type { LedgerPort } from "#src/chain/provider/ledgerPort.ts";

/** Gives the eras, known at least as far as a slot where the network knows them so far. */
type ReadEras = (slot?: number) => Promise<Result<Eras, Unanswered>>;

/** How long an answer is used, in milliseconds; a slot beyond its horizon asks the network at once. */
const FRESH_MS = 5_000;

/** A cache of a port's eras. The last answer serves while the network is away. */
export function eraCache(port: Pick<LedgerPort, "eras">): ReadEras {
  let last: { readonly eras: Eras; readonly at: number } | undefined;
  let pending: Promise<Result<Eras, Unanswered>> | undefined;
  const read = async (): Promise<Result<Eras, Unanswered>> => {
    const answer = await port.eras();
    if (!answer.ok) return last ? ok(last.eras) : answer;
    last = { eras: answer.value.value, at: Date.now() };
    return ok(last.eras);
  };
  return (slot = 0) => {
    const isFresh = last && timeAt(last.eras, Math.max(0, slot)).ok && Date.now() - last.at < FRESH_MS;
    if (last && isFresh) return Promise.resolve(ok(last.eras));
    return pending ??= read().finally(() => pending = undefined);
  };
}
