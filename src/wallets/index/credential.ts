/** Credentials that own outputs, by their addresses. */
import { toHex } from "#src/base/bytes.ts";
import { type Credential, type NetworkId, readAddressHex } from "#src/cardano/address.ts";
import type { OwnedCredential, SequentialWallet } from "#src/wallets/index/types.ts";

/**
 * The credential that owns an output at an address (bytes in hexadecimal); undefined where no key or script can spend
 * it. Keys and scripts are distinguished: an output at `script-<hash of a key>` does not belong to the key.
 */
export function credentialOf(address: string): OwnedCredential | undefined {
  const type = parseInt(address[0] ?? "", 16);
  if (type < 8) {
    return address.length < 58 ? undefined : `${(type & 1) === 1 ? "script" : "key"}-${address.slice(2, 58)}`;
  }
  if (type !== 8) return undefined;
  const read = readAddressHex(address);
  return read.ok && read.value.kind === "byron" ? `byron-${read.value.byron.root}` : undefined;
}

/** Kind of the credentials of a wallet's pools: what stands before the hash in `OwnedCredential`. */
export const CREDENTIAL_KINDS = {
  shelley: "key",
  shared: "script",
  icarus: "byron",
} as const satisfies Record<SequentialWallet["kind"], string>;

/** A credential in the form of the index. */
export function ownedCredential({ kind, hash }: Credential): OwnedCredential {
  return `${kind}-${hash}`;
}

/** The credential of `key-<hash>` or `script-<hash>`; undefined for Byron. */
export function parseCredential(text: OwnedCredential): Credential | undefined {
  const [kind, hash] = text.split("-");
  return (kind === "key" || kind === "script") && hash !== undefined ? { kind, hash } : undefined;
}

/** The address (bytes in hexadecimal) of a payment credential, with or without a stake credential (CIP-19). */
export function addressOf(payment: Credential, stake: Credential | undefined, network: NetworkId): string {
  const script = payment.kind === "script" ? 1 : 0;
  const type = stake === undefined ? 6 + script : (stake.kind === "script" ? 2 : 0) + script;
  return toHex(Uint8Array.of((type << 4) | network)) + payment.hash + (stake?.hash ?? "");
}
