/**
 * Key addresses as the contract sees them. A Plutus address carries no network, so the bytes of one come out only together
 * with a network id (0 for test networks, 1 for mainnet). Pointers as stake parts are refused (deprecated since Conway).
 */
import {
  baseAddress,
  type Credential,
  enterpriseAddress,
  type NetworkId,
  readAddressHex,
} from "#src/cardano/address.ts";
import { Constr, constr, type Data } from "#src/cardano/data.ts";
import { fromHex, isHex, toHex } from "#src/base/bytes.ts";

/** An address whose payment part is a key. */
export interface KeyAddress {
  /** Hash of the payment key, 28 bytes in hexadecimal. */
  readonly payment: string;
  readonly stake?: Credential;
}

/** Reads the bytes of an address, in hexadecimal; undefined unless it is a base or enterprise address of a key. */
export function keyAddress(hex: string): KeyAddress | undefined {
  const read = isHex(hex) ? readAddressHex(hex) : undefined;
  if (!read?.ok) return undefined;
  const address = read.value;
  if ((address.kind !== "base" && address.kind !== "enterprise") || address.payment.kind !== "key") return undefined;
  const payment = address.payment.hash;
  return address.kind === "base" ? { payment, stake: address.stake } : { payment };
}

/** The bytes of an address on a network, in hexadecimal. */
export function keyAddressHex(address: KeyAddress, network: NetworkId): string {
  const payment: Credential = { kind: "key", hash: address.payment };
  return address.stake ? baseAddress(network, payment, address.stake).hex : enterpriseAddress(network, payment).hex;
}

/** An address as Plutus data. */
export function keyAddressData(address: KeyAddress): Data {
  const { stake } = address;
  const part = stake ? constr(0, constr(0, constr(stake.kind === "key" ? 0 : 1, fromHex(stake.hash)))) : constr(1);
  return constr(0, constr(0, fromHex(address.payment)), part);
}

/** Reads `keyAddressData`; undefined on anything not exactly of that form. */
export function readKeyAddress(data: Data | undefined): KeyAddress | undefined {
  const [credential, part] = fieldsOf(data, 0, 2) ?? [];
  const payment = hash28(fieldsOf(credential, 0, 1)?.[0]);
  if (payment === undefined) return undefined;
  if (fieldsOf(part, 1, 0)) return { payment };
  const stake = fieldsOf(fieldsOf(part, 0, 1)?.[0], 0, 1)?.[0];
  const key = hash28(fieldsOf(stake, 0, 1)?.[0]);
  if (key !== undefined) return { payment, stake: { kind: "key", hash: key } };
  const script = hash28(fieldsOf(stake, 1, 1)?.[0]);
  return script === undefined ? undefined : { payment, stake: { kind: "script", hash: script } };
}

/** Fields of a constructor with exactly that tag and that many fields. */
export function fieldsOf(data: Data | undefined, tag: number, count: number): readonly Data[] | undefined {
  return data instanceof Constr && data.tag === tag && data.fields.length === count ? data.fields : undefined;
}

/** A hash of a key or a script out of data, in hexadecimal. */
export function hash28(data: Data | undefined): string | undefined {
  return data instanceof Uint8Array && data.length === 28 ? toHex(data) : undefined;
}
