/**
 * Updating a token with as many of its requests as can be applied and as fit into one transaction: those that cannot are left where they are,
 * with the reason.
 *
 * What a request takes of a transaction is known but for a few bytes before it is built, and what it takes of the execution limits only
 * afterwards. So the room for requests is reckoned, tried, and set right by what the transaction turned out to take.
 */
import { ok, type Result } from "#src/base/result.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import {
  buildWalked,
  type BuiltUpdate,
  type RefusedRequest,
  requestsFail,
  updatable,
  type UpdateFailure,
  type UpdateInput,
  walk,
} from "#src/cage/transactions/update.ts";

/** An update, and the requests that it leaves. */
export interface BuiltBatch extends BuiltUpdate {
  readonly left: readonly RefusedRequest[];
}

/** What a transaction without requests takes, about: state, owner's money and signature, collateral. */
const BASE_BYTES = 900;
/** Transactions that are tried. */
const TRIES = 6;
/** Below this room nothing more would go in: the least that a request takes. */
const LEAST_BYTES = 100;

/** As `buildUpdate`, with those requests that can be applied; `requests_fail` where none can. */
export function buildBatch(input: UpdateInput, facts: Forestry, measure: Measure): Result<BuiltBatch, UpdateFailure> {
  const owned = updatable(input, facts);
  if (!owned.ok) return owned;
  const { parameters, reference, script } = input;
  let best: Result<BuiltBatch, UpdateFailure> | undefined;
  // bytes of requests that fit, and that do not
  let [fits, over] = [0, Infinity];
  let room = parameters.maxTxSize - BASE_BYTES - (reference ? 0 : script.compiledCode.length);
  for (let tries = 0; tries < TRIES && (tries === 0 || room > fits + LEAST_BYTES && room < over); tries++) {
    const walked = walk(input, owned.value, facts, room);
    const { taken, left, bytes } = walked;
    if (taken.length === 0) return best ?? requestsFail(left);
    if (best?.ok && taken.length <= best.value.applied.length) break;
    const built = buildWalked(input, owned.value, walked, measure);
    if (built.ok) {
      best = ok({ ...built.value, left });
      if (!left.some(({ code }) => code === "no_room")) break;
      fits = room;
      room = Math.min(bytes + parameters.maxTxSize - built.value.size, (room + over) / 2);
    } else {
      if (built.error.code !== "too_large") return best ?? built;
      best ??= built;
      over = bytes;
      room = fits + (bytes - fits) * share(built.error.details);
    }
  }
  return best!;
}

/** How much of what was too large would have fitted, by the limit that it broke. */
function share(details: unknown): number {
  const { size, limit } = details as { readonly size: number | bigint; readonly limit: number | bigint };
  return 0.98 * Number(limit) / Number(size);
}
