/** Credentials and addresses; the same in all Plutus versions. Networks are left out. */
import { type Address, type Credential, type Pointer, readAddressHex } from "#src/cardano/address.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { type Constr, constr } from "#src/cardano/data.ts";
import { bytes, maybe } from "#src/plutus/context/forms.ts";

/** `Credential`. */
export function credentialData({ kind, hash }: Credential): Constr {
  return constr(kind === "key" ? 0 : 1, bytes(hash));
}

/** `StakingHash`: wraps the credentials of accounts in Plutus V1 and V2, and the stake part of addresses in all versions. */
export function stakingHash(credential: Credential): Constr {
  return constr(0, credentialData(credential));
}

/**
 * `Address` of an output's address (bytes in hexadecimal); undefined for a Byron address, which no version can represent.
 *
 * @throws {CborError} if the bytes are no address.
 */
export function addressData(hex: string): Constr | undefined {
  const address = addressOf(hex);
  return "payment" in address ? constr(0, credentialData(address.payment), maybe(stake(address))) : undefined;
}

/**
 * The payment credential of an address (bytes in hexadecimal); undefined for a Byron address.
 *
 * @throws {CborError} if the bytes are no address.
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

/** `StakingPtr`. The ledger keeps 32, 16 and 16 bits of its numbers; a pointer with larger numbers becomes all zeros (`mkPtrNormalized`). */
function stakingPointer({ slot, transaction, certificate }: Pointer): Constr {
  const fits = slot < 1n << 32n && transaction < 1n << 16n && certificate < 1n << 16n;
  return fits ? constr(1, slot, transaction, certificate) : constr(1, 0n, 0n, 0n);
}
