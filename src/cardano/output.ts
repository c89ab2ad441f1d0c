/** Transaction outputs and the references to them. */
import { CborError, type Item } from "#src/cardano/cbor.ts";
import { toHex } from "#src/base/bytes.ts";
import { lovelace, type Value, walkValue } from "#src/cardano/value.ts";
import { major, Walk } from "#src/cardano/walk.ts";

/** A reference to an output: its transaction's hash, in hexadecimal, and its index. */
export interface OutRef {
  readonly txHash: string;
  readonly index: number;
}

/** An output, with the parts that rules and projections use. */
export interface Output {
  /** The address, its bytes in hexadecimal. */
  readonly address: string;
  readonly value: Value;
  /** Hash of a datum that is not inline. */
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
  return walkRef(new Walk(item.source, item.start));
}

/** Reads `transaction_input` at the position of a walk. */
export function walkRef(walk: Walk): OutRef {
  const start = walk.at;
  walk.tuple("input", 2);
  const ref = { txHash: walk.hex(), index: walk.uint() };
  walk.close(start);
  return ref;
}

/** Reads an output of any era: an array until Alonzo (in Byron with an array as address), an array or a map since Babbage. */
export function readOutput(item: Item): Output {
  return walkOutput(new Walk(item.source, item.start));
}

/** Reads an output of any era at the position of a walk. */
export function walkOutput(walk: Walk): Output {
  return walk.major === major.array ? walkLegacy(walk) : walkMap(walk);
}

function walkLegacy(walk: Walk): Output {
  const start = walk.at;
  const length = walk.tuple("output", 2, 3);
  // an address of Byron is known by all of its CBOR, as bytes inside the addresses of later eras
  const byron = walk.major === major.array;
  const address = byron ? toHex(walk.raw()) : walk.hex();
  const value = byron ? lovelace(walk.int()) : walkValue(walk);
  const datumHash = length === 3 ? walk.hex() : undefined;
  walk.close(start);
  const raw = walk.source.subarray(start, walk.at);
  return datumHash === undefined ? { address, value, raw } : { address, value, datumHash, raw };
}

function walkMap(walk: Walk): Output {
  const start = walk.at;
  let address: string | undefined;
  let value: Value | undefined;
  let datum: Pick<Output, "datum" | "datumHash"> | undefined;
  let script: Uint8Array | undefined;
  const count = walk.map();
  for (let i = 0; walk.more(i, count); i++) {
    switch (walk.uint()) {
      case 0:
        address = walk.hex();
        break;
      case 1:
        value = walkValue(walk);
        break;
      case 2:
        datum = walkDatum(walk);
        break;
      case 3:
        script = walk.embedded();
        break;
      default:
        walk.skip();
    }
  }
  if (address === undefined || value === undefined) throw new CborError("an output without address or value");
  const raw = walk.source.subarray(start, walk.at);
  if (!datum && !script) return { address, value, raw };
  return { address, value, ...datum, ...(script ? { script } : {}), raw };
}

function walkDatum(walk: Walk): Pick<Output, "datum" | "datumHash"> {
  const start = walk.at;
  walk.tuple("datum", 2);
  const kind = walk.uint();
  if (kind > 1) throw new CborError(`no datum of kind ${kind}`);
  const datum = kind === 0 ? { datumHash: walk.hex() } : { datum: walk.embedded() };
  walk.close(start);
  return datum;
}
