/** What counts towards a spending limit, at slots that a test chooses: the window of 24 hours, expiry, rollback. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { schemaMigrations } from "#src/app/schema.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { readSpending, releaseSpend, reserveSpends, type Spend } from "#src/wallets/spending.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

const WALLET = "ab".repeat(20);
const DAY = 100;
const hash = (n: number) => n.toString(16).padStart(64, "0");

describe("what counts towards a spending limit", () => {
  let infra: Infra;
  let store: Store;
  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl, { max: 12 });
    await migrate(store, schemaMigrations);
  });
  afterAll(async () => {
    await store?.close();
    await infra?.stop();
  });

  const limited = async (perDay: number) => {
    await store.sql`delete from wallet_spend`;
    await store.sql`delete from wallet_transaction`;
    await store.sql`insert into wallet_limit (wallet, per_day) values (${WALLET}, ${perDay})
      on conflict (wallet) do update set per_day = excluded.per_day`;
  };
  const spend = (n: number, amount: bigint, validTo?: number): Spend => ({ hash: hash(n), amount, validTo });
  const reserve = (slot: number, ...spends: readonly Spend[]) =>
    store.sql.begin((sql) => reserveSpends(sql, WALLET, spends, { slot, day: DAY }));
  const spent = async (slot: number) => (await readSpending(store.sql, WALLET, { slot, day: DAY }))?.spent;
  /** Puts a transaction into a block; `undone` removes it again. */
  const land = async (n: number, slot: number) => {
    await store
      .sql`insert into wallet_transaction (wallet, hash, height, index, block_hash, era, valid, body, witnesses, net,
      deposit_taken, deposit_returned, addresses, from_slot) values (${WALLET}, ${
      hash(n)
    }, 1, 0, '', 7, true, ''::bytea, ''::bytea,
      0, 0, 0, '{}', ${slot})`;
  };

  it("is what is in the ledger for a day, and what a block can still include", async () => {
    await limited(10);
    expect(await reserve(1_000, spend(1, 6n, 1_050))).toEqual({ ok: true, value: null });
    expect(await reserve(1_000, spend(2, 5n, 1_050))).toMatchObject({ error: { code: "spending_limit_exceeded" } });
    // the same signature again, and with another transaction: all or none
    expect((await reserve(1_000, spend(1, 6n, 1_050))).ok).toBe(true);
    expect((await reserve(1_000, spend(3, 2n, 1_050), spend(4, 3n, 1_050))).ok).toBe(false);
    expect(await spent(1_000)).toBe(6n);
    expect([await spent(1_049), await spent(1_050)]).toEqual([6n, 0n]);
    // in a block it counts for a day from there on
    await land(1, 1_040);
    expect([await spent(1_050), await spent(1_139), await spent(1_140)]).toEqual([6n, 6n, 0n]);
    expect((await reserve(1_139, spend(5, 5n, 1_200))).ok).toBe(false);
    expect((await reserve(1_140, spend(5, 5n, 1_200))).ok).toBe(true);
    // a rollback takes it out of its block: a block can include it again, if it is early enough
    await store.sql`delete from wallet_transaction`;
    expect([await spent(1_039), await spent(1_060)]).toEqual([11n, 5n]);
  });

  it("is a transaction without an end until it is in a block", async () => {
    await limited(10);
    await reserve(1_000, spend(1, 6n));
    expect(await spent(9_000_000)).toBe(6n);
    await land(1, 2_000);
    expect(await spent(2_100)).toBe(0n);
    await releaseSpend(store.sql, WALLET, hash(1));
    await store.sql`delete from wallet_transaction`;
    expect(await spent(2_000)).toBe(0n);
  });

  it("never passes the limit when many sign at once", async () => {
    await limited(10);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => reserve(1, spend(n, 3n, 50))));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(3);
    expect(await spent(1)).toBe(9n);
  });

  it("is forgotten long after its end, and not before", async () => {
    await limited(1_000);
    for (const validTo of [900, 801, 800, 700]) await reserve(0, spend(validTo, 1n, validTo));
    await reserve(1_000, spend(1, 1n, 1_100));
    const kept = await store.sql<{ valid_to: bigint }[]>`select valid_to from wallet_spend order by valid_to`;
    expect(kept.map(({ valid_to: at }) => Number(at))).toEqual([801, 900, 1_100]);
  });
});
