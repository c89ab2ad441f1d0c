/** Representatives as the network tells them, as far as wallets look at them. */
import type { Failure, Result } from "#src/base/result.ts";
import type { Credential } from "#src/cardano/address.ts";

/** A registered representative. Amounts are lovelace, hashes hexadecimal. */
export interface ListedDrep {
  readonly credential: Credential;
  /** Epoch after which its votes count no longer. */
  readonly expiry: number;
  readonly anchor: DrepAnchor | undefined;
  readonly deposit: bigint;
  /** Lovelace that votes with it, where the network says. */
  readonly stake: bigint | undefined;
}

/** Where a representative says what of itself, and the hash of that. */
export interface DrepAnchor {
  readonly url: string;
  readonly hash: string;
}

/** All of them, in the epoch in which they were asked for. */
export interface ListedDreps {
  readonly epoch: number;
  readonly all: readonly ListedDrep[];
}

/** Why the network does not tell. */
export type DrepsUnknown = Failure<"network_unreachable" | "query_unsupported">;

/** Who is asked: the chain's port. */
export interface DrepsPort {
  dreps(): Promise<Result<{ readonly value: ListedDreps }, DrepsUnknown>>;
}

/** Whether its votes count. */
export const isActive = ({ expiry }: ListedDrep, epoch: number): boolean => epoch <= expiry;
