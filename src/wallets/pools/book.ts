/**
 * Cache of a network's pools and their rankings. Both queries read much of the ledger state, so they run once an epoch.
 * Pools are queried again after a block with a pool certificate, and when a request names an unknown pool.
 */
import { setBounded } from "#src/base/maps.ts";
import { ok, type Result } from "#src/base/result.ts";
import type { ListedPool, PoolsPort, PoolsUnknown } from "#src/wallets/pools/types.ts";

interface PoolBookOptions {
  readonly port: PoolsPort;
  /** Present epoch, from the index. */
  readonly epoch: () => Promise<Result<number, PoolsUnknown>>;
  /** Slot of the last block with a pool certificate. */
  readonly change?: () => Promise<number>;
  /** Milliseconds after a query during which certificates cause no new one. */
  readonly changeMs?: number;
  /** Milliseconds after a query during which an unknown pool causes no new one. */
  readonly unknownMs?: number;
}

/** A query result and its time. */
interface CachedResult<T> {
  readonly epoch: number;
  readonly at: number;
  readonly value: T;
}

/** Stakes for which rankings are cached. */
const MOST_RANKINGS = 64;
const UNKNOWN_MS = 20_000;
/** The initial sync reads many pool certificates. */
const CHANGE_MS = 2_000;
/** Differs from every slot and from -1, the value for no block. */
const NEVER = -2;

export class PoolBook {
  private pools: CachedResult<ReadonlyMap<string, ListedPool>> & { readonly change: number } | undefined;
  private readonly rankings = new Map<bigint, CachedResult<ReadonlyMap<string, bigint>>>();
  private readonly runningPools = new Map<"all", Promise<Result<ReadonlyMap<string, ListedPool>, PoolsUnknown>>>();
  private readonly runningRankings = new Map<bigint, Promise<Result<ReadonlyMap<string, bigint>, PoolsUnknown>>>();

  constructor(private readonly options: PoolBookOptions) {}

  /** Every registered pool, by id in hexadecimal. */
  async all(): Promise<Result<ReadonlyMap<string, ListedPool>, PoolsUnknown>> {
    const epoch = await this.options.epoch();
    if (!epoch.ok) return epoch;
    const change = await this.change();
    const { pools, options: { changeMs = CHANGE_MS } } = this;
    if (pools?.epoch === epoch.value && (pools.change === change || Date.now() - pools.at < changeMs)) {
      return ok(pools.value);
    }
    return await this.query(epoch.value, change);
  }

  /** A registered pool; `undefined` where there is none. */
  async find(id: string): Promise<Result<ListedPool | undefined, PoolsUnknown>> {
    const known = await this.all();
    if (!known.ok) return known;
    const { unknownMs = UNKNOWN_MS } = this.options;
    const isRecent = this.pools !== undefined && Date.now() - this.pools.at < unknownMs;
    if (known.value.has(id) || isRecent) return ok(known.value.get(id));
    const epoch = await this.options.epoch();
    if (!epoch.ok) return epoch;
    const now = await this.query(epoch.value, await this.change());
    return now.ok ? ok(now.value.get(id)) : now;
  }

  /** Lovelace that each pool would pay in an epoch to a member with this stake; of none where the provider ranks no pools. */
  async ranking(stake: bigint): Promise<Result<ReadonlyMap<string, bigint>, PoolsUnknown>> {
    const now = await this.options.epoch();
    if (!now.ok) return now;
    const epoch = now.value;
    const known = this.rankings.get(stake);
    if (known?.epoch === epoch) return ok(known.value);
    return await shared(this.runningRankings, stake, async () => {
      const answer = await this.options.port.poolRanking(stake);
      if (!answer.ok) return answer.error.code === "query_unsupported" ? ok(new Map()) : answer;
      this.rankings.delete(stake);
      setBounded(this.rankings, stake, { epoch, at: Date.now(), value: answer.value.value }, MOST_RANKINGS);
      return ok(answer.value.value);
    });
  }

  private change(): Promise<number> {
    return this.options.change?.() ?? Promise.resolve(0);
  }

  private query(epoch: number, change: number): Promise<Result<ReadonlyMap<string, ListedPool>, PoolsUnknown>> {
    return shared(this.runningPools, "all", async () => {
      const answer = await this.options.port.pools();
      if (!answer.ok) return answer;
      const value = new Map(answer.value.value.map((pool) => [pool.pool, pool]));
      // a result from before the block does not contain its certificates
      const known = answer.value.point.slot < change ? NEVER : change;
      this.pools = { epoch, change: known, at: Date.now(), value };
      return ok(value);
    });
  }
}

/** Callers at the same time share one query of a key. */
function shared<K, T>(running: Map<K, Promise<T>>, key: K, query: () => Promise<T>): Promise<T> {
  const known = running.get(key);
  if (known) return known;
  const result = query().finally(() => running.delete(key));
  running.set(key, result);
  return result;
}
