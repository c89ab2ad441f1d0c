/** Conversions between browser wallets (CIP-30) and the services: addresses, transactions, signatures. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { as, asInt, asSet, CborError, decodeAll, type Item } from "#src/cardano/cbor.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { addWitness, type KeyWitness, transactionHash as hashOf } from "#src/cardano/transaction.ts";

/**
 * An address as text, from its bytes in hexadecimal, which browser wallets give.
 *
 * @throws {TypeError} where the hexadecimal is no address.
 *
 * @example
 * ```ts
 * import { addressFromHex } from "./src/client/witnesses.ts";
 *
 * console.log(addressFromHex("60" + "ab".repeat(28)).slice(0, 10)); // addr_test1
 * ```
 */
export function addressFromHex(hex: string): string {
  const address = readAddressHex(hex);
  if (!address.ok) throw new TypeError(address.error.message);
  return addressText(address.value);
}

/**
 * Hash of a transaction, its id and what is signed; both in hexadecimal.
 *
 * @throws {TypeError} where the text is not hexadecimal.
 * @throws {CborError} where the bytes are no transaction.
 *
 * @example
 * ```ts
 * import { transactionHash } from "./src/client/witnesses.ts";
 *
 * console.log(transactionHash("84a3008001800200a0f5f6").length); // 64
 * ```
 */
export function transactionHash(transaction: string): string {
  return hashOf(fromHex(transaction));
}

/**
 * A transaction with the key signatures of a witness set added, which is what `signTx` of a browser wallet (CIP-30)
 * gives. All in hexadecimal CBOR.
 *
 * @throws {TypeError} where one of the two is not hexadecimal.
 * @throws {CborError} where one of the two is malformed, or the set has no signature of a key.
 *
 * @example
 * ```ts
 * import { addWitnessSet } from "./src/client/witnesses.ts";
 *
 * interface BrowserWallet {
 *   signTx(transaction: string, partial: boolean): Promise<string>;
 * }
 *
 * export async function signedBy(wallet: BrowserWallet, unsigned: string): Promise<string> {
 *   return addWitnessSet(unsigned, await wallet.signTx(unsigned, true));
 * }
 * ```
 */
export function addWitnessSet(unsigned: string, witnessSet: string): string {
  const witnesses = keyWitnesses(as(decodeAll(fromHex(witnessSet)), "map").value);
  return toHex(addWitness(fromHex(unsigned), ...witnesses));
}

/** The key signatures of a witness set. @throws {CborError} where it has none. */
export function keyWitnesses(fields: readonly (readonly [Item, Item])[]): readonly KeyWitness[] {
  const signatures = fields.filter(([field]) => asInt(field) === 0n).flatMap(([, list]) => asSet(list));
  if (signatures.length === 0) throw new CborError("the witness set has no key signatures");
  return signatures.map((item): KeyWitness => {
    const [key, signature, more] = as(item, "array").value;
    if (!key || !signature || more) throw new CborError("not a key signature");
    return { key: as(key, "bytes").value, signature: as(signature, "bytes").value };
  });
}
