/**
 * How a transaction spends outputs of the contract. Only the redeemers' constructors are read: the script has already
 * checked their fields.
 */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { asInt, decodeAll, entry, type Item } from "#src/cardano/cbor.ts";
import { constructorOf } from "#src/cardano/data.ts";
import { compareRefs, refKey } from "#src/cardano/output.ts";
import { redeemerItems, type SpendRedeemer } from "#src/contract/redeemer.ts";

const SPEND = 0n;
const REDEEMERS = 5;

/** By constructor; 4 is an update with a shared top branch ("crown" in the redeemer). From version 3 on, a number is a contribution and a negative one a refusal. */
const KINDS: readonly SpendRedeemer["type"][] = ["end", "contribute", "modify", "retract", "modify"];

/** A redeemer that is a number; undefined for any other. The ledger reads a number of any size as bytes under a tag, too. */
function numberKind(data: Item): SpendRedeemer["type"] | undefined {
  const isNumber = data.type === "int" || (data.type === "tag" && (data.tag === 2n || data.tag === 3n));
  return isNumber ? asInt(data) < 0n ? "refuse" : "contribute" : undefined;
}

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
    const kind = data && (numberKind(data) ?? KINDS[constructorOf(data)?.[0] ?? -1]);
    if (kind) found.set(refKey(input), kind);
  }
  return found;
}
