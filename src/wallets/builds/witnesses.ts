/** Reads witness sets, as far as builds and decoding need them. */
import { concat, toHex } from "#src/base/bytes.ts";
import { as, asInt, asSet, CborError, decode, decodeAll, type Item, raw } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { nativeHash } from "#src/cardano/nativeScript.ts";
import { scanTransaction } from "#src/cardano/scan.ts";

/**
 * A script. Language 0 is native, and `bytes` is its CBOR; 1 to 3 are Plutus, and `bytes` is the content of the byte
 * string.
 */
export interface TransactionScript {
  readonly language: 0 | 1 | 2 | 3;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Signatures and scripts of a witness set. */
export interface WitnessSummary {
  /** Number of signatures by Shelley keys and by Byron keys. */
  readonly keys: number;
  readonly bootstraps: number;
  readonly scripts: readonly TransactionScript[];
}

/** Field of the witness set for each language of Plutus. */
const PLUTUS = new Map<bigint, 1 | 2 | 3>([[3n, 1], [6n, 2], [7n, 3]]);

function plutus(language: 1 | 2 | 3, bytes: Uint8Array): TransactionScript {
  return { language, bytes, hash: hash224(concat(Uint8Array.of(language), bytes)) };
}

function native(item: Item): TransactionScript {
  return { language: 0, bytes: raw(item), hash: nativeHash(raw(item)) };
}

/**
 * Reads a witness set.
 *
 * @throws CborError on malformed bytes.
 */
export function witnessesOf(bytes: Uint8Array): WitnessSummary {
  let keys = 0;
  let bootstraps = 0;
  const scripts: TransactionScript[] = [];
  for (const [field, value] of as(decodeAll(bytes), "map").value) {
    const number = asInt(field);
    const language = PLUTUS.get(number);
    if (number === 0n) keys = asSet(value).length;
    else if (number === 1n) scripts.push(...asSet(value).map(native));
    else if (number === 2n) bootstraps = asSet(value).length;
    else if (language) scripts.push(...asSet(value).map((one) => plutus(language, as(one, "bytes").value)));
  }
  return { keys, bootstraps, scripts };
}

/**
 * Reads the reference script of an output: CBOR of `[language, script]`.
 *
 * @throws CborError on malformed bytes.
 */
export function scriptIn(bytes: Uint8Array): TransactionScript {
  const [language, content] = as(decode(bytes), "array").value;
  const number = Number(asInt(language));
  if (!content) throw new CborError("a script without content");
  return number === 0 ? native(content) : plutus(number as 1 | 2 | 3, as(content, "bytes").value);
}

/**
 * Public keys (hexadecimal) that signed a transaction of any era since Shelley, and the number of Byron keys that did.
 *
 * @throws CborError on bytes that are not a transaction.
 */
export function signaturesOf(
  transaction: Uint8Array,
): { readonly keys: readonly string[]; readonly bootstraps: number } {
  const witnesses = as(decodeAll(scanTransaction(transaction).witnesses), "map").value;
  const list = (field: bigint) =>
    witnesses.filter(([key]) => asInt(key) === field).flatMap(([, value]) => [...asSet(value)]);
  return {
    keys: list(0n).map((witness) => toHex(as(as(witness, "array").value[0], "bytes").value)),
    bootstraps: list(2n).length,
  };
}
