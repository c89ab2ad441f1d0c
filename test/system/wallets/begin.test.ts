/** How wallets come into the index: once, however often it is tried. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginner, type SpecOf } from "#actors/walletLife.ts";
import { origin } from "#src/cardano/block.ts";
import { chainMigrations } from "#src/chain/migrations.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { walletIndexMigrations } from "#src/wallet/index/migrations.ts";
import type { StockOrder } from "#src/wallet/index/types.ts";
import { walletMigrations } from "#src/wallet/rows.ts";
import { runtimeMigrations } from "#src/runtime/migrations.ts";
import { sharedInfra } from "../../support/infra.ts";
import { deriver } from "../../support/wallet_index_model.ts";

const wallet = "a1".repeat(20);
let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;

beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, [...runtimeMigrations, ...chainMigrations, ...walletIndexMigrations, ...walletMigrations]);
  await store
    .sql`insert into wallet (id, life, kind, name, gap, key, birth_slot, birth_hash, one_change, selection, created_at)
    values (${wallet}, 1, 'shelley', 'W', 10, '', -1, '', false, 'per-output', now())`;
});
afterEach(async () => {
  await store?.close();
  await infra?.stop();
});

it("derives the pools of a wallet once, when its attempts overlap and when one comes late", async () => {
  const { derive } = deriver();
  const orders: StockOrder[] = [];
  const open = Promise.withResolvers<void>();
  const slow = async (order: StockOrder) => {
    orders.push(order);
    await open.promise;
    return await derive(order);
  };
  const specOf: SpecOf = () =>
    Promise.resolve({
      life: 1,
      birth: origin,
      spec: { wallet, kind: "shelley", network: 0, gap: 10, prefix: "1852H/1815H/0H", account: "alice" },
    });
  const begin = beginner({ store, derive: slow, vault: { erase: () => Promise.resolve() }, wake: () => {} });
  const attempts = [begin({ wallet, life: 1 }, specOf), begin({ wallet, life: 1 }, specOf)];
  open.resolve();
  expect(await Promise.all(attempts)).toEqual([{ type: "BEGUN", life: 1 }, { type: "BEGUN", life: 1 }]);
  expect(await begin({ wallet, life: 1 }, specOf)).toEqual({ type: "BEGUN", life: 1 });
  expect(orders.map(({ role }) => role)).toEqual([0, 1]);
  const [row] = await store.sql<{ n: number }[]>`select count(*)::int as n from wallet_pool where wallet = ${wallet}`;
  expect(row!.n).toBe(2);
});
