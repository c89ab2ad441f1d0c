/** Decodes transactions into editable parts and encodes them again. */
import { concat } from "#src/base/bytes.ts";
import { as, decodeAll, type Encodable, encode, Encoded, type Item, raw, Tagged } from "#src/cardano/cbor.ts";
import { partsOf } from "#src/cardano/transaction.ts";

/** An editable map; keys are integers, or whatever the CBOR has. */
export type Fields = Map<Encodable, Encodable>;

/** An editable transaction. Integers are `bigint`, sets are tags around arrays. */
export interface Editable {
  body: Fields;
  witnesses: Fields;
  valid: boolean;
  auxiliary: Encodable;
}

/** Converts an item to a form that can be edited and encoded again. */
export function opened(item: Item): Encodable {
  switch (item.type) {
    case "bytes":
      // chunked bytes stay chunked: data over 64 bytes has no other encoding
      return item.source[item.start] === 0x5f ? new Encoded(raw(item)) : item.value;
    case "int":
    case "text":
    case "bool":
      return item.value;
    case "null":
      return null;
    case "array":
      return item.value.map(opened);
    case "map":
      return new Map(item.value.map(([key, value]) => [opened(key), opened(value)]));
    case "tag":
      return new Tagged(Number(item.tag), opened(item.value));
    default:
      return new Encoded(raw(item));
  }
}

/** Decodes a transaction for editing. */
export function taken(transaction: Uint8Array): Editable {
  const { body, witnesses, valid, auxiliary } = partsOf(transaction);
  return {
    body: opened(body) as Fields,
    witnesses: new Map(witnesses.map(([key, value]) => [opened(key), opened(value)])),
    valid: as(valid, "bool").value,
    auxiliary: opened(auxiliary),
  };
}

/** Encodes an edited transaction as CBOR. */
export function bound({ body, witnesses, valid, auxiliary }: Editable): Uint8Array {
  return encode([body, witnesses, valid, auxiliary]);
}

/** Elements of a field that is a set, for editing; a missing set is created. */
export function elements(fields: Fields, field: bigint): Encodable[] {
  const found = fields.get(field);
  if (found instanceof Tagged) return found.value as Encodable[];
  if (Array.isArray(found)) return found as Encodable[];
  const made: Encodable[] = [];
  fields.set(field, new Tagged(258, made));
  return made;
}

/** Positions of all items within an item, the item itself first. */
export function* places(item: Item): Generator<Item> {
  yield item;
  if (item.type === "array") { for (const one of item.value) yield* places(one); }
  else if (item.type === "map") {
    for (const [key, value] of item.value) {
      yield* places(key);
      yield* places(value);
    }
  } else if (item.type === "tag") yield* places(item.value);
}

/**
 * Changes one item of some CBOR at random: another integer or other bytes, removed, duplicated, or replaced by another
 * item.
 */
export function mutated(bytes: Uint8Array, random: () => number): Uint8Array {
  const all = [...places(decodeAll(bytes))];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const target = pick(all);
  const other = pick(all);
  const instead = (value: Uint8Array) => concat(bytes.subarray(0, target.start), value, bytes.subarray(target.end));
  const kind = Math.floor(random() * 6);
  if (kind === 0) return instead(raw(other));
  if (target.type === "int" && kind < 4) {
    const by = pick([1n, -1n, 2n, 1_000n, -1_000n, 1_000_000n, 1n << 40n]);
    return instead(encode(kind === 1 ? target.value + by : kind === 2 ? -target.value : 0n));
  }
  if (target.type === "bytes" && kind < 4 && target.value.length > 0) {
    const changed = new Uint8Array(target.value);
    const at = Math.floor(random() * changed.length);
    changed[at]! ^= 1 << Math.floor(random() * 8);
    return instead(encode(kind === 3 ? changed.subarray(1) : changed));
  }
  if (target.type === "array" && target.value.length > 0 && kind < 5) {
    const list = target.value.map((one) => new Encoded(raw(one)));
    const at = Math.floor(random() * list.length);
    if (kind < 3) list.splice(at, 1);
    else list.splice(at, 0, pick(list));
    return instead(encode(list));
  }
  if (target.type === "map" && kind < 5) {
    const entries = target.value.map(([key, value]) => [new Encoded(raw(key)), new Encoded(raw(value))] as const);
    if (entries.length > 0 && kind < 3) entries.splice(Math.floor(random() * entries.length), 1);
    else entries.push([new Encoded(encode(Math.floor(random() * 24))), new Encoded(raw(other))]);
    return instead(encode(new Map(entries)));
  }
  const flipped = new Uint8Array(bytes);
  flipped[Math.floor(random() * flipped.length)]! ^= 1 << Math.floor(random() * 8);
  return flipped;
}
