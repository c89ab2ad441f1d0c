/**
 * CBOR that different readers may read differently. The ledger refuses most of it. A signer must not depend on which of two
 * entries with the same key a reader takes.
 */
import { toHex } from "#src/base/bytes.ts";
import { type Item, raw } from "#src/cardano/cbor.ts";

/** Ambiguities in an item: duplicate keys, duplicate set elements, items nested too deeply. `name` says where it is. */
export function ambiguousEncodings(item: Item, name: string): string[] {
  switch (item.type) {
    case "deep":
      return [`${name} is nested too deeply to be looked at`];
    case "array":
      return item.value.flatMap((one) => ambiguousEncodings(one, name));
    case "map":
      return [
        ...(twice(item.value.map(([key]) => key)) ? [`${name} has a map with one key twice`] : []),
        ...item.value.flatMap(([key, value]) => [...ambiguousEncodings(key, name), ...ambiguousEncodings(value, name)]),
      ];
    case "tag":
      return [
        ...(item.tag === 258n && item.value.type === "array" && twice(item.value.value)
          ? [`${name} has a set with one element twice`]
          : []),
        ...ambiguousEncodings(item.value, name),
      ];
    default:
      return [];
  }
}

function twice(items: readonly Item[]): boolean {
  return items.length > 1 && new Set(items.map(meaning)).size < items.length;
}

/** A text that is equal for items of the same meaning, however they are encoded. */
function meaning(item: Item): string {
  switch (item.type) {
    case "bytes":
      return `h'${toHex(item.value)}'`;
    case "array":
      return `[${item.value.map(meaning).join()}]`;
    case "map":
      return `{${item.value.map(([key, value]) => `${meaning(key)}:${meaning(value)}`).join()}}`;
    case "tag":
      return `${item.tag}(${meaning(item.value)})`;
    case "int":
    case "text":
    case "bool":
    case "simple":
    case "float":
      return `${item.type} ${item.value}`;
    case "deep":
      return toHex(raw(item));
    default:
      return item.type;
  }
}
