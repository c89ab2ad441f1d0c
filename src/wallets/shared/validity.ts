/** Validity interval of a shared wallet's transaction, chosen so that the times in its scripts hold. */
import type { PaymentIntent, ValidityBound } from "#src/wallets/builds/types.ts";
import { childrenOf } from "#src/wallets/shared/script.ts";
import type { ScriptForm } from "#src/wallets/shared/types.ts";

type Timelock = Extract<ScriptForm, { active_from: unknown }> | Extract<ScriptForm, { active_until: unknown }>;

/** Time locks in a script; with `must`, only those required on every branch. */
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

/** Time to sign and submit a transaction, in seconds. */
const DEFAULT_S = 7_200n;

/**
 * The bounds of an intent. A bound that it leaves open is set within the times of the spending scripts: from the last
 * slot that has passed (or must have), before the first slot at which a script ends. The ledger checks times only
 * against bounds that the transaction states.
 */
export function validityWithin(
  scripts: readonly ScriptForm[],
  given: PaymentIntent["validity"],
  now: { readonly slot: number; readonly slotLengthMs: number },
): PaymentIntent["validity"] {
  const must = scripts.flatMap((script) => timesIn(script, true));
  const all = scripts.flatMap((script) => timesIn(script, false));
  if (all.length === 0) return given;
  const slot = BigInt(now.slot);
  const at = (quantity: bigint): ValidityBound => ({ quantity, unit: "slot" });
  const from = most([...froms(must), ...froms(all).filter((one) => one <= slot)]);
  const byDefault = slot + DEFAULT_S * 1_000n / BigInt(now.slotLengthMs);
  const before = untils(must).reduce((a, b) => a < b ? a : b, byDefault);
  return {
    ...(given?.from ? { from: given.from } : from > 0n ? { from: at(from) } : {}),
    before: given?.before ?? at(before),
  };
}
