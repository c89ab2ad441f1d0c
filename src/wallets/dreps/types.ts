/** Representatives of a network, as far as wallets show them. */
import type { Failure, Result } from "#src/base/result.ts";
import type { Credential } from "#src/cardano/address.ts";

/** A registered representative. Amounts are lovelace, hashes hexadecimal. */
export interface ListedDrep {
  readonly credential: Credential;
  /** Last epoch in which its votes count. */
  readonly expiry: number;
  readonly anchor: DrepAnchor | undefined;
  readonly deposit: bigint;
  /** Lovelace delegated to it, where the network reports it. */
  readonly stake: bigint | undefined;
}

/** Address of a representative's metadata, and its hash. */
export interface DrepAnchor {
  readonly url: string;
  readonly hash: string;
}

/** All representatives, and the epoch of the query. */
export interface ListedDreps {
  readonly epoch: number;
  readonly all: readonly ListedDrep[];
}

/** Why a query has no result. */
export type DrepsUnknown = Failure<"network_unreachable" | "query_unsupported">;

/** The part of the chain's provider port that is used here. */
export interface DrepsPort {
  dreps(): Promise<Result<{ readonly value: ListedDreps }, DrepsUnknown>>;
}

/** Whether its votes count. */
export const isActive = ({ expiry }: ListedDrep, epoch: number): boolean => epoch <= expiry;
