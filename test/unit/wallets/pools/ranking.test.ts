/** Ranking of pools, and how often the network is queried. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fail, ok } from "#src/base/result.ts";
import type { StakePool } from "#src/chain/provider/ledgerPort.ts";
import { PoolBook } from "#src/wallets/pools/book.ts";
import { newcomersReward, ranked } from "#src/wallets/pools/list.ts";

const id = (n: number) => n.toString(16).padStart(56, "0");
const pool = (n: number, more: Partial<StakePool> = {}): StakePool => ({
  pool: id(n),
  vrf: "00".repeat(32),
  pledge: 0n,
  cost: 170_000_000n,
  margin: { numerator: 1n, denominator: 50n },
  rewardAccount: `e0${id(n)}`,
  owners: [],
  relays: [],
  metadata: undefined,
  future: undefined,
  retiring: undefined,
  deposit: 500_000_000n,
  share: undefined,
  stake: undefined,
  ...more,
});

describe("ranked pools", () => {
  it("are ordered by their rewards, the best first; new pools among them with the mean of the best", () => {
    const ranking = new Map([[id(1), 100n], [id(2), 300n], [id(3), 200n]]);
    const list = ranked([1, 2, 3, 4].map((n) => pool(n)), ranking, { epoch: 5, desiredPools: 2 });
    expect(list.map(({ pool, rewards }) => [pool.pool, rewards])).toEqual([
      [id(2), 300n],
      [id(4), 250n],
      [id(3), 200n],
      [id(1), 100n],
    ]);
    expect(newcomersReward(new Map(), 500)).toBe(0n);
    expect(newcomersReward(ranking, 500)).toBe(200n);
  });

  it("omit those that are retiring now or have retired, and keep those that will retire", () => {
    const pools = [pool(1, { retiring: 4 }), pool(2, { retiring: 5 }), pool(3, { retiring: 6 }), pool(4)];
    const list = ranked(pools, new Map(), { epoch: 5, desiredPools: 2 });
    expect(list.map(({ pool }) => pool.pool).sort()).toEqual([id(3), id(4)]);
  });

  it("state their share of the stake, exactly for large numbers", () => {
    const share = { numerator: 2n ** 80n, denominator: 2n ** 82n };
    const [one] = ranked([pool(1, { share })], new Map(), { epoch: 0, desiredPools: 500 });
    expect(one).toMatchObject({ relativeStake: 25, saturation: 125 });
  });

  it("have one order during a process's life, with ties in another order in another process", () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, 3n), { minLength: 1, maxLength: 40 }), fc.string(), (rewards, seed) => {
        const ranking = new Map(rewards.map((one, n) => [id(n), one]));
        const pools = rewards.map((_, n) => pool(n));
        const order = (of: readonly StakePool[], by?: string) =>
          ranked(of, ranking, { epoch: 0, desiredPools: 9, ...(by === undefined ? {} : { seed: by }) });
        const list = order(pools);
        expect(order([...pools].reverse())).toEqual(list);
        expect(order(pools, seed).map(({ rewards }) => rewards)).toEqual(list.map(({ rewards }) => rewards));
        expect(list.map(({ rewards }) => rewards)).toEqual([...rewards].sort((a, b) => a < b ? 1 : a > b ? -1 : 0));
      }),
    );
    const ties = Array.from({ length: 12 }, (_, n) => pool(n));
    const of = (seed: string) =>
      ranked(ties, new Map(), { epoch: 0, desiredPools: 9, seed }).map(({ pool }) => pool.pool);
    expect(of("a")).not.toEqual(of("b"));
  });
});

describe("the cache of pools", () => {
  function counting(answers: { pools: number; rankings: number }, pools: StakePool[], slot = 0) {
    return {
      pools: async () => {
        answers.pools++;
        return ok({ point: { slot, hash: "" }, value: [...pools] });
      },
      poolRanking: async (stake: bigint) => {
        answers.rankings++;
        return ok({ point: { slot: 0, hash: "" }, value: new Map([[id(1), stake]]) });
      },
    };
  }

  it("queries once an epoch, however many callers there are", async () => {
    const count = { pools: 0, rankings: 0 };
    let epoch = 1;
    const book = new PoolBook({ port: counting(count, [pool(1)]), epoch: async () => ok(epoch) });
    await Promise.all([book.all(), book.all(), book.ranking(5n), book.ranking(5n), book.ranking(6n)]);
    expect(count).toEqual({ pools: 1, rankings: 2 });
    await Promise.all([book.all(), book.find(id(1)), book.ranking(5n)]);
    expect(count).toEqual({ pools: 1, rankings: 2 });
    epoch = 2;
    await Promise.all([book.all(), book.ranking(5n)]);
    expect(count).toEqual({ pools: 2, rankings: 3 });
  });

  it("queries pools again some time after a block with pool certificates", async () => {
    const count = { pools: 0, rankings: 0 };
    let change = 1;
    const given = { port: counting(count, [pool(1)], 100), epoch: async () => ok(1), change: async () => change };
    for (const [changeMs, times] of [[0, 2], [60_000, 1]] as const) {
      const book = new PoolBook({ ...given, changeMs });
      count.pools = 0;
      await book.all();
      await book.ranking(5n);
      await book.all();
      expect(count.pools).toBe(1);
      change++;
      await book.all();
      await book.all();
      await book.ranking(5n);
      expect(count).toEqual({ pools: times, rankings: expect.any(Number) });
    }
    expect(count.rankings).toBe(2);

    // a result from before such a block is not used again
    const behind = new PoolBook({ ...given, port: counting(count, [pool(1)], 0), changeMs: 0 });
    count.pools = 0;
    for (let i = 0; i < 3; i++) await behind.all();
    expect(count.pools).toBe(3);
  });

  it("queries again for an unknown pool, at intervals", async () => {
    const count = { pools: 0, rankings: 0 };
    const pools = [pool(1)];
    let book = new PoolBook({ port: counting(count, pools), epoch: async () => ok(1), unknownMs: 0 });
    expect(await book.find(id(2))).toEqual(ok(undefined));
    pools.push(pool(2));
    expect(await book.find(id(2))).toEqual(ok(pool(2)));
    book = new PoolBook({ port: counting(count, pools), epoch: async () => ok(1), unknownMs: 60_000 });
    count.pools = 0;
    for (let i = 0; i < 5; i++) await book.find(id(3));
    expect(count.pools).toBe(1);
  });

  it("reports when the network gives no result, and queries again", async () => {
    let answers = 0;
    const book = new PoolBook({
      port: {
        pools: async () => {
          answers++;
          return fail("network_unreachable", "away");
        },
        poolRanking: async (stake) =>
          stake === 2n ? fail("query_unsupported", "never") : fail("network_unreachable", "away"),
      },
      epoch: async () => ok(1),
    });
    expect(await book.all()).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
    expect(await book.find(id(1))).toMatchObject({ ok: false });
    expect(await book.ranking(1n)).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
    // a provider that ranks none: pools can be listed, without what they promise
    expect(await book.ranking(2n)).toEqual(ok(new Map()));
    expect(answers).toBe(2);
  });
});
