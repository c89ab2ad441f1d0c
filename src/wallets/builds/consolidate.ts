/**
 * Consolidation: merges small coins of a wallet into few, at its own addresses.
 *
 * Assumptions: coins are packed the largest first, so that those that can pay for themselves come before those that
 * cannot; what is left then is paid for by a larger coin. A coin without assets that is worth less than its input costs
 * stays where it is. A transaction that would make as many outputs as it spends is left out.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { largestFirst } from "#src/transaction/coinPool.ts";
import { isSpendable, knownScripts } from "#src/transaction/signers.ts";
import { grow, isLoad, isWorthItsInput, type Load, packing, Queue } from "#src/wallets/builds/migrate.ts";
import type { ConsolidateInput, OwnCoin } from "#src/wallets/builds/types.ts";
import { intervalOf } from "#src/wallets/builds/validity.ts";

/** Numbers of coins that a transaction may start with: together they pay for it. */
const STARTS = [2, 4, 8, 16, 32, 64];

/** Unsigned transactions, each with the least fee that the ledger takes; `nothing_to_consolidate` where there are none. */
export function consolidate(
  input: ConsolidateInput,
): Result<readonly Uint8Array[], Failure<"nothing_to_consolidate" | "invalid_validity_bounds">> {
  const { funds, below, most, parameters } = input;
  const interval = intervalOf(input, undefined);
  if (!interval.ok) return interval;
  // other transactions may refer to the scripts of coins
  const coins = largestFirst(funds.coins.filter(isSpendable(knownScripts(funds.scripts))))
    .filter(({ utxo }) => utxo.output.script === undefined);
  const isSmall = ({ utxo }: OwnCoin) => utxo.output.value.lovelace < below;
  const small = new Queue(coins.filter(isSmall).filter((coin) => isWorthItsInput(parameters, coin)));
  const large = new Queue(coins.filter((coin) => !isSmall(coin)));
  const transactions: Uint8Array[] = [];
  let place = 0;
  while (small.left > 0 && transactions.length < most) {
    const load = packing(input, funds.change, place, [], interval.value.before);
    const first = begin(load, small, large);
    if (!first) {
      // with any other it is too large, or nothing pays for it
      small.take(1);
      continue;
    }
    const full = grow(parameters, load, first, small).load;
    if (full.outputs >= full.coins.length) continue;
    transactions.push(full.draft.transaction);
    place += full.outputs;
  }
  if (transactions.length > 0) return ok(transactions);
  return fail(
    "nothing_to_consolidate",
    "The wallet has no small outputs that could be merged into fewer: there are too few, or they are worth less than the fee.",
  );
}

/** The first coins of a transaction: small ones that pay for it together, else one with a large coin that pays. */
function begin(load: ReturnType<typeof packing>, small: Queue, large: Queue): Load | undefined {
  for (const count of STARTS) {
    const coins = small.peek(Math.min(count, small.left));
    if (coins.length < 2) break;
    const some = load(coins);
    if (isLoad(some)) {
      small.take(coins.length);
      return some;
    }
    if (some === "full" || coins.length < count) break;
  }
  const paid = large.left > 0 ? load([...large.peek(1), ...small.peek(1)]) : "short";
  if (!isLoad(paid)) return undefined;
  large.take(1);
  small.take(1);
  return paid;
}
