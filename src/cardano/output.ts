/** Transaction outputs and the references to them. */
import { as, asInt, entry, type Item, raw } from "#src/cardano/cbor.ts";
import { toHex } from "#src/base/bytes.ts";
import { readValue, type Value } from "#src/cardano/value.ts";

/** Which output: hash of its transaction, in hexadecimal, and its index. */
export interface OutRef {
  readonly txHash: string;
  readonly index: number;
}

/** An output, with the parts that rules and projections ask for. */
export interface Output {
  /** The address, its bytes in hexadecimal. */
  readonly address: string;
  readonly value: Value;
  /** Hash of a datum that stands elsewhere. */
  readonly datumHash?: string;
  /** CBOR of the inline datum. */
  readonly datum?: Uint8Array;
  /** CBOR of `script`: `[language, bytes or native script]`, language 0 native, 1 to 3 Plutus V1 to V3. */
  readonly script?: Uint8Array;
  /** The output's own CBOR. */
  readonly raw: Uint8Array;
}

/** An output that can be spent. */
export interface Utxo {
  readonly ref: OutRef;
  readonly output: Output;
}

/** `<hash>#<index>`: the key of an output in maps and rows. */
export function refKey(ref: OutRef): string {
  return `${ref.txHash}#${ref.index}`;
}

/** The reference behind a key made by `refKey`. */
export function parseRefKey(key: string): OutRef {
  return { txHash: key.slice(0, 64), index: Number(key.slice(65)) };
}

/** The ledger's order of inputs: by transaction hash, then by index as a number. */
export function compareRefs(a: OutRef, b: OutRef): number {
  return a.txHash < b.txHash ? -1 : a.txHash > b.txHash ? 1 : a.index - b.index;
}

/** Reads `transaction_input`. */
export function readRef(item: Item): OutRef {
  const [hash, index] = as(item, "array").value;
  return { txHash: toHex(as(hash, "bytes").value), index: Number(asInt(index)) };
}

/** Reads an output in the form of any era: an array until Alonzo, an array or a map since Babbage. */
export function readOutput(item: Item): Output {
  if (item.type === "array") {
    const [address, value, hash] = item.value;
    return {
      address: toHex(as(address, "bytes").value),
      value: readValue(value),
      ...(hash ? { datumHash: toHex(as(hash, "bytes").value) } : {}),
      raw: raw(item),
    };
  }
  const datum = entry(item, 2);
  const script = entry(item, 3);
  const [kind, content] = datum ? as(datum, "array").value : [];
  return {
    address: toHex(as(entry(item, 0), "bytes").value),
    value: readValue(entry(item, 1)),
    ...(kind && asInt(kind) === 0n ? { datumHash: toHex(as(content, "bytes").value) } : {}),
    ...(kind && asInt(kind) === 1n ? { datum: embedded(content) } : {}),
    ...(script ? { script: embedded(script) } : {}),
    raw: raw(item),
  };
}

/** CBOR within CBOR: tag 24 around a byte string. */
function embedded(item: Item | undefined): Uint8Array {
  return as(as(item, "tag").value, "bytes").value;
}
