/** Addresses: parsing, construction and text form (CIP-19). Runs in a browser. */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { type Byron, fromBase58, readByron, toBase58 } from "#src/cardano/byron.ts";
import { CborError } from "#src/cardano/cbor.ts";

/** Network id in an address: 0 for every test network, 1 for mainnet. */
export type NetworkId = 0 | 1;

/** A payment or stake credential: the hash of a key or of a script, 56 hexadecimal digits. */
export interface Credential {
  readonly kind: "key" | "script";
  readonly hash: string;
}

/** Place of a stake registration certificate on the chain. */
export interface Pointer {
  readonly slot: bigint;
  readonly transaction: bigint;
  readonly certificate: bigint;
}

/** An address, described. `hex` is its bytes. */
export type Address =
  & { readonly network: NetworkId; readonly hex: string }
  & (
    | { readonly kind: "base"; readonly payment: Credential; readonly stake: Credential }
    | { readonly kind: "enterprise"; readonly payment: Credential }
    | { readonly kind: "pointer"; readonly payment: Credential; readonly pointer: Pointer }
    | { readonly kind: "reward"; readonly stake: Credential }
    | { readonly kind: "byron"; readonly byron: Byron }
  );

/** An address that outputs can be sent to by someone with keys of today: all kinds but reward and Byron. */
export type PaymentAddress = Extract<Address, { payment: Credential }>;

/** Why a text or bytes are not an address (`details.reason`). */
type AddressReason = "malformed" | "checksum" | "prefix" | "length" | "kind" | "network";
type BadAddress = Failure<"bad_address"> & { readonly details: { readonly reason: AddressReason } };

function bad(reason: AddressReason, message: string): { readonly ok: false; readonly error: BadAddress } {
  return { ok: false, error: { ...fail("bad_address", message).error, details: { reason } } };
}

function credential(isScript: boolean, bytes: Uint8Array): Credential {
  return { kind: isScript ? "script" : "key", hash: toHex(bytes) };
}

/** Three variable-length numbers that fill the bytes exactly, or `undefined`. */
function readPointer(bytes: Uint8Array): Pointer | undefined {
  const numbers: bigint[] = [];
  let value = 0n;
  let open = false;
  for (const byte of bytes) {
    value = (value << 7n) | BigInt(byte & 127);
    open = byte >= 128;
    if (!open) {
      numbers.push(value);
      value = 0n;
    }
    if (value >> 64n) return undefined;
  }
  const [slot, transaction, certificate] = numbers;
  if (open || numbers.length !== 3) return undefined;
  if (slot === undefined || transaction === undefined || certificate === undefined) return undefined;
  return { slot, transaction, certificate };
}

function writeNumber(value: bigint): Uint8Array {
  const groups = [Number(value & 127n)];
  while ((value >>= 7n) > 0n) groups.unshift(Number(value & 127n) | 128);
  return Uint8Array.from(groups);
}

/** Reads the bytes of an address, strictly: every byte belongs to it. */
export function readAddress(bytes: Uint8Array): Result<Address, BadAddress> {
  const header = bytes[0];
  if (header === undefined) return bad("length", "An address cannot be empty.");
  const type = header >> 4;
  const hex = toHex(bytes);
  if (type === 8) {
    try {
      const byron = readByron(bytes);
      return ok({ kind: "byron", network: byron.magic === undefined ? 1 : 0, hex, byron });
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
      return error.message === "checksum"
        ? bad("checksum", "The checksum of this Byron address is wrong.")
        : bad("malformed", "These bytes are no Byron address.");
    }
  }
  const network = header & 15;
  if (type > 7 && type < 14) return bad("kind", `There is no kind of address with the header ${type}.`);
  if (network !== 0 && network !== 1) return bad("network", `There is no network with the id ${network}.`);
  if (bytes.length < 29) return bad("length", `An address of ${bytes.length} bytes is too short.`);
  const first = credential((type & 1) === 1, bytes.subarray(1, 29));
  const rest = bytes.subarray(29);
  if (type === 4 || type === 5) {
    const pointer = readPointer(rest);
    if (!pointer) return bad("malformed", "The pointer in this address is not three numbers.");
    return ok({ kind: "pointer", network, hex, payment: first, pointer });
  }
  if (rest.length !== (type < 4 ? 28 : 0)) {
    return bad("length", `An address of this kind cannot have ${bytes.length} bytes.`);
  }
  if (type >= 14) return ok({ kind: "reward", network, hex, stake: first });
  if (type >= 6) return ok({ kind: "enterprise", network, hex, payment: first });
  return ok({ kind: "base", network, hex, payment: first, stake: credential((type & 2) === 2, rest) });
}

/** Reads an address out of its hexadecimal form, as outputs carry it. */
export function readAddressHex(hex: string): Result<Address, BadAddress> {
  return readAddress(fromHex(hex));
}

/**
 * Reads an address in the text form of its era: bech32, or base58 for Byron. With `network`, one of another network is
 * refused (`details.reason` is `network`).
 */
export function parseAddress(text: string, network?: NetworkId): Result<Address, BadAddress> {
  const read = parse(text);
  if (read.ok && network !== undefined && read.value.network !== network) {
    return bad("network", `This is an address of ${read.value.network === 1 ? "mainnet" : "a test network"}.`);
  }
  return read;
}

function parse(text: string): Result<Address, BadAddress> {
  const bech32 = fromBech32(text);
  if (!bech32) {
    if (/^(addr|stake)(_test)?1/i.test(text)) {
      return bad("checksum", "The checksum of this address is wrong, or it is cut short.");
    }
    const bytes = fromBase58(text);
    if (!bytes || bytes[0] !== 0x82) return bad("malformed", "This is neither a bech32 nor a base58 address.");
    return readAddress(bytes);
  }
  const read = readAddress(bech32.bytes);
  if (!read.ok) return read;
  const address = read.value;
  if (
    !/^(addr|stake)(_test)?$/.test(bech32.prefix) ||
    prefixOf(address).replace("_test", "") !== bech32.prefix.replace("_test", "")
  ) {
    return bad("prefix", `The prefix "${bech32.prefix}" does not fit this kind of address.`);
  }
  return bech32.prefix === prefixOf(address)
    ? read
    : bad("network", `The prefix "${bech32.prefix}" does not fit the network that the address names.`);
}

function prefixOf(address: Address): string {
  const name = address.kind === "reward" ? "stake" : address.kind === "byron" ? "" : "addr";
  return address.network === 1 ? name : `${name}_test`;
}

/** Text of an address: base58 for Byron, bech32 for all others. */
export function addressText(address: Address): string {
  const bytes = fromHex(address.hex);
  return address.kind === "byron" ? toBase58(bytes) : toBech32(prefixOf(address), bytes);
}

/** Bytes of payment addresses of these types, all of them: with a stake credential, and without. */
const WHOLE = [57, 57, 57, 57, 0, 0, 29, 29];

/**
 * Text of a payment address out of its bytes in hexadecimal, without taking it apart; undefined for all but the common kinds of Shelley. What lists
 * addresses by the thousand asks this first.
 */
export function hexAddressText(hex: string): string | undefined {
  const [type, network] = [hex.charCodeAt(0) - 48, hex.charCodeAt(1) - 48];
  if (network !== 0 && network !== 1 || hex.length !== 2 * (WHOLE[type] ?? -1)) return undefined;
  return toBech32(network === 1 ? "addr" : "addr_test", fromHex(hex));
}

function headed(type: number, network: NetworkId, ...parts: Uint8Array[]): string {
  return toHex(concat(Uint8Array.of((type << 4) | network), ...parts));
}

const bit = (credential: Credential) => (credential.kind === "script" ? 1 : 0);

/** A payment address with neither stake nor pointer. */
export function enterpriseAddress(network: NetworkId, payment: Credential): Extract<Address, { kind: "enterprise" }> {
  return { kind: "enterprise", network, payment, hex: headed(6 + bit(payment), network, fromHex(payment.hash)) };
}

/** A payment address whose stake belongs to a credential. */
export function baseAddress(
  network: NetworkId,
  payment: Credential,
  stake: Credential,
): Extract<Address, { kind: "base" }> {
  const type = bit(payment) + 2 * bit(stake);
  return {
    kind: "base",
    network,
    payment,
    stake,
    hex: headed(type, network, fromHex(payment.hash), fromHex(stake.hash)),
  };
}

/** A payment address whose stake belongs to a registration certificate. */
export function pointerAddress(
  network: NetworkId,
  payment: Credential,
  pointer: Pointer,
): Extract<Address, { kind: "pointer" }> {
  const place = [pointer.slot, pointer.transaction, pointer.certificate].map(writeNumber);
  return {
    kind: "pointer",
    network,
    payment,
    pointer,
    hex: headed(4 + bit(payment), network, fromHex(payment.hash), ...place),
  };
}

/** The account that rewards of a stake credential go to. */
export function rewardAddress(network: NetworkId, stake: Credential): Extract<Address, { kind: "reward" }> {
  return { kind: "reward", network, stake, hex: headed(14 + bit(stake), network, fromHex(stake.hash)) };
}

/** The address of a script, without stake. */
export function scriptAddress(network: NetworkId, hash: string): Extract<Address, { kind: "enterprise" }> {
  return enterpriseAddress(network, { kind: "script", hash });
}

/** Payment key hash of an address (its bytes in hexadecimal); undefined for script, reward and Byron addresses. */
export function paymentKeyHash(hex: string): string | undefined {
  const type = parseInt(hex[0] ?? "f", 16);
  return type < 8 && type % 2 === 0 && hex.length >= 58 ? hex.slice(2, 58) : undefined;
}
