/** Credentials and addresses, alike in all versions. Networks are not shown. */
import { type Address, type Credential, type Pointer, readAddressHex } from "#src/cardano/address.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { type Constr, constr } from "#src/cardano/data.ts";
import { bytes, maybe } from "#src/plutus/context/forms.ts";

/** `Credential`. */
export function credentialData({ kind, hash }: Credential): Constr {
  return constr(kind === "key" ? 0 : 1, bytes(hash));
}

/** `StakingHash`, which is around the credentials of accounts in Plutus V1 and V2 and in addresses of all versions. */
export function stakingHash(credential: Credential): Constr {
  return constr(0, credentialData(credential));
}

/**
 * `Address` of an output's address, its bytes in hexadecimal; undefined for one of Byron, which no version can be shown.
 *
 * @throws CborError where the bytes are no address.
 */
export function addressData(hex: string): Constr | undefined {
  const address = addressOf(hex);
  return "payment" in address ? constr(0, credentialData(address.payment), maybe(stake(address))) : undefined;
}

/**
 * Who may spend from an address, its bytes in hexadecimal; undefined for one of Byron.
 *
 * @throws CborError where the bytes are no address.
 */
export function paymentCredential(hex: string): Credential | undefined {
  const address = addressOf(hex);
  return "payment" in address ? address.payment : undefined;
}

function addressOf(hex: string): Address {
  const read = readAddressHex(hex);
  if (!read.ok) throw new CborError(read.error.message);
  return read.value;
}

function stake(address: Address): Constr | undefined {
  if (address.kind === "base") return stakingHash(address.stake);
  return address.kind === "pointer" ? stakingPointer(address.pointer) : undefined;
}

/** `StakingPtr`. The ledger has 32, 16 and 16 bits for its numbers; a pointer that exceeds them is all zeros (`mkPtrNormalized`). */
function stakingPointer({ slot, transaction, certificate }: Pointer): Constr {
  const fits = slot < 1n << 32n && transaction < 1n << 16n && certificate < 1n << 16n;
  return fits ? constr(1, slot, transaction, certificate) : constr(1, 0n, 0n, 0n);
}
