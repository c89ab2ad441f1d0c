/**
 * Updates a token with as many of its requests as can be applied and fit into one transaction. The others are reported with
 * a reason.
 *
 * A request's size is known to within a few bytes before the transaction is built, but its execution units only afterwards.
 * So the room for requests is estimated, tried, and corrected by the actual size.
 */
import { ok, type Result } from "#src/base/result.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import { excessIn } from "#src/contract/transactions/common.ts";
import {
  buildSelected,
  type BuiltUpdate,
  updatableToken,
  type UpdateFailure,
} from "#src/contract/transactions/update.ts";
import { bytesOfRefusals, selectRequests } from "#src/contract/transactions/selectRequests.ts";
import {
  requestsFail,
  selectRefusals,
  type UnappliedRequest,
  type UpdateInput,
} from "#src/contract/transactions/updateRequests.ts";

/** An update, and the requests that it does not apply. */
export interface BuiltBatch extends BuiltUpdate {
  readonly left: readonly UnappliedRequest[];
}

/** Approximate size of a transaction without requests: state, the owner's inputs and signature, collateral. */
const BASE_BYTES = 900;
/** Maximum number of transactions to try. */
const TRIES = 6;
/** Minimum size of a request: with less room nothing more fits. */
const LEAST_BYTES = 100;

/** Like `buildUpdate`, with those requests that can be applied; `requests_fail` if none can and none is refused. */
export function buildBatch(input: UpdateInput, facts: Forestry, measure: Measure): Result<BuiltBatch, UpdateFailure> {
  const owned = updatableToken(input, facts);
  if (!owned.ok) return owned;
  const refusals = selectRefusals(input, owned.value);
  if (!refusals.ok) return refusals;
  const refused = refusals.value;
  const { parameters, reference, script } = input;
  let best: Result<BuiltBatch, UpdateFailure> | undefined;
  // bytes of requests known to fit, and known not to fit
  let [fits, over] = [0, Infinity];
  let room = parameters.maxTxSize - BASE_BYTES - (reference ? 0 : script.compiledCode.length) -
    bytesOfRefusals(refused);
  for (let tries = 0; tries < TRIES && (tries === 0 || room > fits + LEAST_BYTES && room < over); tries++) {
    const selected = selectRequests(input, owned.value, facts, room);
    const { taken, left, bytes } = selected;
    if (taken.length === 0 && (best || refused.length === 0)) return best ?? requestsFail(left);
    if (best?.ok && taken.length <= best.value.applied.length) break;
    const built = buildSelected(input, owned.value, { ...selected, refused }, measure);
    if (built.ok) {
      best = ok({ ...built.value, left });
      if (!left.some(({ code }) => code === "no_room")) break;
      fits = room;
      room = Math.min(bytes + parameters.maxTxSize - built.value.size, (room + over) / 2);
    } else {
      if (built.error.code !== "too_large") return best ?? built;
      best ??= built;
      const excess = excessIn(built.error.details);
      // without a size, as for a number of inputs, there is no better estimate
      if (!excess) return best;
      over = bytes;
      room = fits + (bytes - fits) * 0.98 * excess.limit / excess.size;
    }
  }
  if (!best) throw new Error("no transaction was tried");
  return best;
}
