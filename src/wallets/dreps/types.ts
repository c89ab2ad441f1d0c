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

/** What the ledger has of a representative now; members that the provider does not report are undefined. */
export interface DrepStatus extends Omit<ListedDrep, "expiry" | "deposit"> {
  readonly registered: boolean;
  /** Whether its votes count. */
  readonly active: boolean;
  readonly expiry: number | undefined;
  readonly deposit: bigint | undefined;
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
  drepStatus(
    credentials: readonly Credential[],
  ): Promise<Result<{ readonly value: readonly DrepStatus[] }, DrepsUnknown>>;
}

/** Whether its votes count. */
export const isActive = ({ expiry }: ListedDrep, epoch: number): boolean => epoch <= expiry;

/** A listed representative in the form of one that was queried alone. */
export const statusOf = (listed: ListedDrep, epoch: number): DrepStatus => ({
  ...listed,
  registered: true,
  active: isActive(listed, epoch),
});
