/** Spend redeemers of a transaction, by the input that each belongs to. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { as, asInt, decode, entry, type Item } from "#src/cardano/cbor.ts";
import { readData } from "#src/cardano/data.ts";
import { compareRefs, refKey } from "#src/cardano/output.ts";
import { readSpend, type SpendRedeemer } from "#src/cage/redeemer.ts";

const SPEND = 0n;
const REDEEMERS = 5;

/** The cage's redeemers by `refKey` of their input; what is no redeemer of the cage is left out. */
export function spendRedeemers(transaction: ScannedTransaction): Map<string, SpendRedeemer> {
  const found = new Map<string, SpendRedeemer>();
  const redeemers = entry(decode(transaction.witnesses), REDEEMERS);
  if (!redeemers) return found;
  const inputs = [...transaction.inputs].sort(compareRefs);
  for (const [tag, index, data] of triples(redeemers)) {
    const input = inputs[Number(asInt(index))];
    if (asInt(tag) !== SPEND || !input) continue;
    const redeemer = readSpend(readData(data));
    if (redeemer) found.set(refKey(input), redeemer);
  }
  return found;
}

/** Redeemers stand as an array of quadruples, or since Conway as a map. */
function triples(redeemers: Item): [tag: Item, index: Item, data: Item][] {
  if (redeemers.type === "map") {
    return redeemers.value.map(([key, value]) => {
      const [tag, index] = as(key, "array").value;
      return [tag!, index!, as(value, "array").value[0]!];
    });
  }
  return as(redeemers, "array").value.map((one) => {
    const [tag, index, data] = as(one, "array").value;
    return [tag!, index!, data!];
  });
}
