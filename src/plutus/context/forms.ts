/** Common types of Plutus' ledger API as data. */
import { fromHex } from "#src/base/bytes.ts";
import { type Constr, constr, type Data } from "#src/cardano/data.ts";

/** `Maybe a`. */
export function maybe(data: Data | undefined): Constr {
  return data === undefined ? constr(1) : constr(0, data);
}

/** `Bool`. */
export function bool(value: boolean): Constr {
  return constr(value ? 1 : 0);
}

/** A hash or a name, given in hexadecimal. */
export function bytes(hex: string): Uint8Array {
  return fromHex(hex);
}
