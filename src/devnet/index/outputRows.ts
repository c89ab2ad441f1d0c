/** Rows of outputs: what they hold, who may spend them, and the datums and scripts in them. */
import { elementAt } from "#src/base/present.ts";
import { referenceScriptHash, scriptHash } from "#src/cardano/conway/script.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { Walk } from "#src/cardano/walk.ts";
import { type IndexChanges, SCRIPT_KINDS, type TransactionPlace } from "#src/devnet/index/rows.ts";
import { stakeKey } from "#src/ledger/epoch/snapshot.ts";

/** Keys of the credentials in an address (bytes in hexadecimal); none in an address of Byron. */
export function credentialsOf(address: string): { readonly payment?: string; readonly stake?: string } {
  // the first digit is the address's type (CIP-19); bit 0: the payment credential is a script
  const type = parseInt(address.charAt(0), 16);
  if (type > 7) return {};
  const stake = stakeKey({ address });
  return { payment: (type & 1 ? "s" : "k") + address.slice(2, 58), ...(stake === undefined ? {} : { stake }) };
}

/** Adds an output that a transaction, or the genesis, creates. */
export function addOutput(changes: IndexChanges, place: TransactionPlace, { ref: { index }, output }: Utxo): void {
  const { height, tx_index, tx_hash } = place;
  const { address, value, datum, script } = output;
  const datumHash = datum ? addDatum(changes, place, datum) : output.datumHash;
  if (script) {
    const walk = new Walk(script);
    walk.tuple("script", 2);
    const language = walk.uint();
    addScript(changes, place, language, language === 0 ? walk.raw() : walk.bytes());
  }
  changes.rows.output.push({
    tx_hash,
    index,
    height,
    tx_index,
    address,
    ...credentialsOf(address),
    lovelace: value.lovelace,
    ...(datumHash === undefined ? {} : { datum_hash: datumHash }),
    ...(datum ? { datum } : {}),
    ...(script ? { script_hash: referenceScriptHash(script) } : {}),
  });
  for (const [unit, quantity] of value.assets) changes.rows.asset.push({ tx_hash, index, unit, quantity, height });
}

/** Adds a datum, or the argument in a redeemer, by its CBOR; gives its hash. */
export function addDatum({ rows }: IndexChanges, { height }: TransactionPlace, cbor: Uint8Array): string {
  const hash = hash256(cbor);
  rows.datum.push({ hash, height, cbor });
  return hash;
}

/** Adds a script of a language (0 native, 1 to 3 Plutus). */
export function addScript(
  { rows }: IndexChanges,
  { height, tx_index }: TransactionPlace,
  language: number,
  bytes: Uint8Array,
): void {
  rows.script.push({
    hash: scriptHash(language, bytes),
    height,
    tx_index,
    kind: elementAt(SCRIPT_KINDS, language),
    bytes,
  });
}
