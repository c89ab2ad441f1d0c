/**
 * The pools of a network and what they would pay, kept for as long as they are good for: both go through much of a network's state, so
 * they are asked for once an epoch, pools again once others come, change or mean to go, and where somebody names one that is not among them.
 */
import { ok, type Result } from "#src/base/result.ts";
import type { ListedPool, PoolsPort, PoolsUnknown } from "#src/wallet/pools/types.ts";

export interface PoolBookOptions {
  readonly port: PoolsPort;
  /** The epoch that it is, by the index. */
  readonly epoch: () => Promise<Result<number, PoolsUnknown>>;
  /** The slot of the last block that is about pools. */
  readonly change?: () => Promise<number>;
  /** Milliseconds for which pools are not asked for again because of that. */
  readonly changeMs?: number;
  /** Milliseconds before the pools are asked for again because of a name that is not known. */
  readonly againMs?: number;
}

interface Page<T> {
  readonly epoch: number;
  readonly at: number;
  readonly value: T;
}

/** Amounts for which rankings are kept. */
const MOST_RANKINGS = 64;
const AGAIN_MS = 20_000;
/** Whoever reads years of blocks reads of many pools. */
const CHANGE_MS = 2_000;
/** No block's slot, nor that of none. */
const NEVER = -2;

export class PoolBook {
  private pools: Page<ReadonlyMap<string, ListedPool>> & { readonly change: number } | undefined;
  private readonly rankings = new Map<bigint, Page<ReadonlyMap<string, bigint>>>();
  private readonly asking = new Map<string, Promise<Result<unknown, PoolsUnknown>>>();

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
    return await this.ask(epoch.value, change);
  }

  /** A registered pool; `undefined` where there is none. */
  async find(id: string): Promise<Result<ListedPool | undefined, PoolsUnknown>> {
    const known = await this.all();
    if (!known.ok) return known;
    const { againMs = AGAIN_MS } = this.options;
    if (known.value.has(id) || Date.now() - this.pools!.at < againMs) return ok(known.value.get(id));
    const epoch = await this.options.epoch();
    if (!epoch.ok) return epoch;
    const now = await this.ask(epoch.value, await this.change());
    return now.ok ? ok(now.value.get(id)) : now;
  }

  /** Lovelace that each pool would pay a member with so much stake in an epoch. */
  async ranking(stake: bigint): Promise<Result<ReadonlyMap<string, bigint>, PoolsUnknown>> {
    const now = await this.options.epoch();
    if (!now.ok) return now;
    const epoch = now.value;
    const known = this.rankings.get(stake);
    if (known?.epoch === epoch) return ok(known.value);
    return await this.together(`ranking ${stake}`, async () => {
      const answer = await this.options.port.poolRanking(stake);
      if (!answer.ok) return answer;
      this.rankings.delete(stake);
      if (this.rankings.size >= MOST_RANKINGS) this.rankings.delete(this.rankings.keys().next().value!);
      this.rankings.set(stake, { epoch, at: Date.now(), value: answer.value.value });
      return ok(answer.value.value);
    });
  }

  private change(): Promise<number> {
    return this.options.change?.() ?? Promise.resolve(0);
  }

  private ask(epoch: number, change: number): Promise<Result<ReadonlyMap<string, ListedPool>, PoolsUnknown>> {
    return this.together("pools", async () => {
      const answer = await this.options.port.pools();
      if (!answer.ok) return answer;
      const value = new Map(answer.value.value.map((pool) => [pool.pool, pool]));
      // an answer from before the block does not know of it
      const known = answer.value.point.slot < change ? NEVER : change;
      this.pools = { epoch, change: known, at: Date.now(), value };
      return ok(value);
    });
  }

  /** Who asks while somebody else does gets the same answer. */
  private together<T>(what: string, ask: () => Promise<Result<T, PoolsUnknown>>): Promise<Result<T, PoolsUnknown>> {
    const known = this.asking.get(what) as Promise<Result<T, PoolsUnknown>> | undefined;
    if (known) return known;
    const asked = ask().finally(() => this.asking.delete(what));
    this.asking.set(what, asked);
    return asked;
  }
}
