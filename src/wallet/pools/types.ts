/** Pools as the network tells them, as far as wallets look at them. */
import type { Failure, Result } from "#src/base/result.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import type { PoolParameters } from "#src/node/queries/pools.ts";

/** A registered pool. Amounts are lovelace, hashes hexadecimal. */
export interface ListedPool extends Pick<PoolParameters, "pool" | "pledge" | "cost" | "margin" | "metadata"> {
  /** The epoch with which it ends, where that was announced. */
  readonly retiring: number | undefined;
  /** Its part of all lovelace in circulation, where the network says. */
  readonly share: Ratio | undefined;
}

/** Why the network does not tell. */
export type PoolsUnknown = Failure<"network_unreachable" | "query_unsupported">;

type Told<T> = Promise<Result<{ readonly point: { readonly slot: number }; readonly value: T }, PoolsUnknown>>;

/** Who is asked: the chain's port. */
export interface PoolsPort {
  pools(): Told<readonly ListedPool[]>;
  poolRanking(stake: bigint): Told<ReadonlyMap<string, bigint>>;
}
