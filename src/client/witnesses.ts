/** What a browser's wallet (CIP-30) speaks of, as the services have it: addresses, transactions, signatures. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { as, asInt, asSet, CborError, decodeAll } from "#src/cardano/cbor.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { addWitness, type KeyWitness, transactionHash as hashOf } from "#src/cardano/transaction.ts";

/** The text of an address out of its bytes in hexadecimal. Throws a `TypeError` where they are none. */
export function addressFromHex(hex: string): string {
  const address = readAddressHex(hex);
  if (!address.ok) throw new TypeError(address.error.message);
  return addressText(address.value);
}

/** Hash of a transaction, both in hexadecimal: what is signed and what it is known by. Throws `CborError` where it is none. */
export function transactionHash(transaction: string): string {
  return hashOf(fromHex(transaction));
}

/**
 * A transaction with the signatures out of a witness set put beside those it has, which is what `signTx` of a browser's wallet (CIP-30)
 * answers. All in hexadecimal CBOR. Throws `CborError` where one of the two is not what it should be, or the set has no signature of a key.
 */
export function addWitnessSet(unsigned: string, witnessSet: string): string {
  const fields = as(decodeAll(fromHex(witnessSet)), "map").value;
  const signatures = fields.filter(([field]) => asInt(field) === 0n).flatMap(([, list]) => asSet(list));
  if (signatures.length === 0) throw new CborError("a witness set without signatures of keys");
  const witnesses = signatures.map((item): KeyWitness => {
    const [key, signature, more] = as(item, "array").value;
    if (!key || !signature || more) throw new CborError("no signature of a key");
    return { key: as(key, "bytes").value, signature: as(signature, "bytes").value };
  });
  return toHex(addWitness(fromHex(unsigned), ...witnesses));
}
