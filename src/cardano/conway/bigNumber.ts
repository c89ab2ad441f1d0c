/** Big numbers (tags 2 and 3), which the ledger's decoder reads in some places only. */
import type { Item } from "#src/cardano/cbor.ts";

/** Whether an item contains a big number that is not the part of a fraction. */
export function hasBigNumber(item: Item): boolean {
  switch (item.type) {
    case "array":
      return item.value.some(hasBigNumber);
    case "map":
      return item.value.some(([key, value]) => hasBigNumber(key) || hasBigNumber(value));
    case "tag":
      if (item.tag === 30n && item.value.type === "array") return !item.value.value.every(isPlainInteger);
      return item.tag === 2n || item.tag === 3n || hasBigNumber(item.value);
    default:
      return false;
  }
}

/** Whether cborg's `decodeInteger` reads an item: an integer, or a big number whose tag has one byte. */
function isPlainInteger(item: Item): boolean {
  return item.type === "int" || (item.type === "tag" && item.value.start === item.start + 1);
}
