/**
 * How a transaction spends outputs of the contract. Only the redeemers' constructors are read: the script has already
 * checked their fields.
 */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { asInt, decodeAll, entry } from "#src/cardano/cbor.ts";
import { constructorOf } from "#src/cardano/data.ts";
import { compareRefs, refKey } from "#src/cardano/output.ts";
import { redeemerItems, type SpendRedeemer } from "#src/cage/redeemer.ts";

const SPEND = 0n;
const REDEEMERS = 5;

/** By constructor; 4 is an update with a shared top branch ("crown" in the redeemer). A number is a contribution, from version 3 on. */
const KINDS: readonly SpendRedeemer["type"][] = ["end", "contribute", "modify", "retract", "modify"];

/** Kinds of the spend redeemers, by `refKey` of their input. */
export function spendRedeemers(transaction: ScannedTransaction): Map<string, SpendRedeemer["type"]> {
  const found = new Map<string, SpendRedeemer["type"]>();
  const redeemers = entry(decodeAll(transaction.witnesses), REDEEMERS);
  if (!redeemers) return found;
  const inputs = [...transaction.inputs].sort(compareRefs);
  for (const [tag, index, data] of redeemerItems(redeemers)) {
    const input = inputs[Number(asInt(index))];
    if (asInt(tag) !== SPEND || !input) continue;
    // the fields are not read: they may be nested more deeply than this reader allows
    const kind = data?.type === "int" ? "contribute" : KINDS[(data && constructorOf(data))?.[0] ?? -1];
    if (kind) found.set(refKey(input), kind);
  }
  return found;
}
