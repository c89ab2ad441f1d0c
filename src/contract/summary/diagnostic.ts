/** CBOR in diagnostic notation (RFC 8949 §8). */
import { toHex } from "#src/base/bytes.ts";
import { type Item, raw } from "#src/cardano/cbor.ts";

/** An item in diagnostic notation. An item nested too deeply to be decoded is written as its bytes. */
export function diagnostic(item: Item): string {
  switch (item.type) {
    case "int":
    case "bool":
    case "float":
      return String(item.value);
    case "bytes":
      return `h'${toHex(item.value)}'`;
    case "text":
      return JSON.stringify(item.value);
    case "array":
      return `[${item.value.map(diagnostic).join(", ")}]`;
    case "map":
      return `{${item.value.map(([key, value]) => `${diagnostic(key)}: ${diagnostic(value)}`).join(", ")}}`;
    case "tag":
      return `${item.tag}(${diagnostic(item.value)})`;
    case "simple":
      return `simple(${item.value})`;
    case "deep":
      return `h'${toHex(raw(item))}'`;
    default:
      return item.type;
  }
}
