/** When a transaction of a shared wallet is to be valid, where nobody says: so that the times in its scripts hold. */
import type { Bound, Wish } from "#src/wallet/build/types.ts";
import { childrenOf } from "#src/wallet/shared/script.ts";
import type { ScriptForm } from "#src/wallet/shared/types.ts";

type Timelock = Extract<ScriptForm, { active_from: unknown }> | Extract<ScriptForm, { active_until: unknown }>;

/** The times in a script; with `must` only those without which it never agrees. */
function timesIn(script: ScriptForm, must: boolean): Timelock[] {
  if (typeof script === "string") return [];
  if ("active_from" in script || "active_until" in script) return [script];
  return must && !("all" in script) ? [] : childrenOf(script).flatMap((one) => timesIn(one, must));
}

const froms = (times: readonly Timelock[]) =>
  times.flatMap((one) => "active_from" in one ? [BigInt(one.active_from)] : []);
const untils = (times: readonly Timelock[]) =>
  times.flatMap((one) => "active_until" in one ? [BigInt(one.active_until)] : []);
const most = (slots: readonly bigint[]) => slots.reduce((a, b) => a > b ? a : b, 0n);

/** How long a transaction may be signed and submitted, in seconds. */
const USUAL_S = 7_200n;

/**
 * The bounds of a wish, and for those that it leaves open some within the times of the scripts that spend: from the last time that has
 * come (or that must have come), before the first at which all is over. The ledger looks at times only where the transaction states its own.
 */
export function validityWithin(
  scripts: readonly ScriptForm[],
  given: Wish["validity"],
  now: { readonly slot: number; readonly slotLengthMs: number },
): Wish["validity"] {
  const must = scripts.flatMap((script) => timesIn(script, true));
  const all = scripts.flatMap((script) => timesIn(script, false));
  if (all.length === 0) return given;
  const slot = BigInt(now.slot);
  const at = (quantity: bigint): Bound => ({ quantity, unit: "slot" });
  const from = most([...froms(must), ...froms(all).filter((one) => one <= slot)]);
  const usual = slot + USUAL_S * 1_000n / BigInt(now.slotLengthMs);
  const before = untils(must).reduce((a, b) => a < b ? a : b, usual);
  return {
    ...(given?.from ? { from: given.from } : from > 0n ? { from: at(from) } : {}),
    before: given?.before ?? at(before),
  };
}
