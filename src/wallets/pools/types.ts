/** Pools of a network, as far as wallets show them. */
import type { Failure, Result } from "#src/base/result.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import type { PoolParameters } from "#src/node/queries/pools.ts";

/** A registered pool. Amounts are lovelace, hashes hexadecimal. */
export interface ListedPool extends Pick<PoolParameters, "pool" | "pledge" | "cost" | "margin" | "metadata"> {
  /** Epoch of its retirement, where announced. */
  readonly retiring: number | undefined;
  /** Its share of all lovelace in circulation, where the network reports it. */
  readonly share: Ratio | undefined;
}

/** Why a query has no result. */
export type PoolsUnknown = Failure<"network_unreachable" | "query_unsupported">;

/** A query result and its point. */
type QueryResult<T> = Promise<Result<{ readonly point: { readonly slot: number }; readonly value: T }, PoolsUnknown>>;

/** The part of the chain's provider port that is used here. */
export interface PoolsPort {
  pools(): QueryResult<readonly ListedPool[]>;
  poolRanking(stake: bigint): QueryResult<ReadonlyMap<string, bigint>>;
}
