/**
 * Transactions and outputs in the one encoding that every machine reads.
 *
 * CBOR has many encodings of one value. The ledger's decoder reads nearly all of them, machines for scripts read fewer, and anybody can make an
 * output in an encoding of his choice. So nothing reaches a machine in the bytes in which it came, except what scripts see a hash of: the body
 * (the transaction's id), datums of the witness set and native scripts.
 */
import { fromHex } from "#src/base/bytes.ts";
import {
  as,
  asInt,
  asSet,
  CborError,
  decodeAll,
  type Encodable,
  encode,
  Encoded,
  type Item,
  raw,
  Tagged,
} from "#src/cardano/cbor.ts";
import { decodeData, encodeData } from "#src/cardano/data.ts";
import type { Output } from "#src/cardano/output.ts";
import { partsOf } from "#src/cardano/transaction.ts";
import { encodeValue } from "#src/cardano/value.ts";

/** CBOR of an output as a map of the Babbage era: the same address, value, datum and script. */
export function canonicalOutput({ address, value, datum, datumHash, script }: Output): Uint8Array {
  const fields = new Map<Encodable, Encodable>([[0, fromHex(address)], [1, encodeValue(value)]]);
  if (datum) fields.set(2, [1, new Tagged(24, encode(canonicalData(datum)))]);
  else if (datumHash !== undefined) fields.set(2, [0, fromHex(datumHash)]);
  if (script) fields.set(3, new Tagged(24, encode(canonicalScript(script))));
  return encode(fields);
}

/**
 * A transaction as machines read it: without signatures and auxiliary data, which no script sees, and with its redeemers' units at zero, for
 * a machine measures them. Its id is the same. Throws `CborError` on bytes that are no transaction.
 */
export function canonicalTransaction(transaction: Uint8Array): Uint8Array {
  const { body, witnesses, valid } = partsOf(transaction);
  const found = new Map(witnesses.map(([key, value]) => [Number(asInt(key)), value]));
  const fields = new Map<Encodable, Encodable>();
  for (const [field, write] of FIELDS) {
    const value = found.get(field);
    if (value) fields.set(field, write(value));
  }
  return encode([new Encoded(raw(body)), fields, as(valid, "bool").value, null]);
}

const asIs = (item: Item): Encodable => new Encoded(raw(item));
const bytesOf = (item: Item): Encodable => as(item, "bytes").value;
const list = (write: (item: Item) => Encodable) => (item: Item): Encodable => asSet(item).map(write);

/** Fields of the witness set that machines need, and how each is written. */
const FIELDS: readonly (readonly [number, (item: Item) => Encodable])[] = [
  [1, list(asIs)],
  [3, list(bytesOf)],
  [4, list(asIs)],
  [5, canonicalRedeemers],
  [6, list(bytesOf)],
  [7, list(bytesOf)],
];

/** Redeemers as a map in ascending order; of two with one pointer the last counts, as to the ledger. */
function canonicalRedeemers(item: Item): Encodable {
  const read = item.type === "map"
    ? item.value.map(([key, value]) => [...as(key, "array").value, ...as(value, "array").value])
    : as(item, "array").value.map((redeemer) => as(redeemer, "array").value);
  const redeemers = new Map(read.map(([tag, index, data]) => {
    const pointer = { tag: Number(asInt(tag)), index: Number(asInt(index)) };
    return [`${pointer.tag} ${pointer.index}`, { ...pointer, data: canonicalData(raw(data!)) }] as const;
  }));
  return new Map(
    [...redeemers.values()].sort((a, b) => a.tag - b.tag || a.index - b.index)
      .map(({ tag, index, data }) => [[tag, index], [data, [0, 0]]]),
  );
}

/** Plutus data; what is none stays as it is. */
function canonicalData(data: Uint8Array): Encodable {
  return unlessUnread(data, () => new Encoded(encodeData(decodeData(data))));
}

/** `[language, script]`; a native script stays as it is, for its hash is over its own bytes. */
function canonicalScript(script: Uint8Array): Encodable {
  return unlessUnread(script, () => {
    const [language, content] = as(decodeAll(script), "array").value;
    return [asInt(language), content!.type === "bytes" ? content!.value : asIs(content!)];
  });
}

function unlessUnread(bytes: Uint8Array, rewrite: () => Encodable): Encodable {
  try {
    return rewrite();
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return new Encoded(bytes);
  }
}
