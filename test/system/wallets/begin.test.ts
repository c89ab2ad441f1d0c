/** How wallets are added to the index: once, for any number of attempts. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginner, ending, type SpecOf, type WalletLifecycleOptions } from "#src/wallets/walletLifecycle.ts";
import { origin } from "#src/cardano/block.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { SPARE } from "#src/wallets/index/begin.ts";
import type { CredentialRange } from "#src/wallets/index/types.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { deriver } from "../../support/wallets/walletIndexModel.ts";

const wallet = "a1".repeat(20);
let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;

beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("runtime", "chain/index", "wallets"));
  await store
    .sql`insert into wallet (id, life, kind, name, gap, key, birth_slot, birth_hash, one_change, selection, created_at)
    values (${wallet}, 1, 'shelley', 'W', 10, '', -1, '', false, 'per-output', now())`;
});
afterEach(async () => {
  await store?.close();
  await infra?.stop();
});

const begun = { type: "BEGUN", life: 1 };
const specOf = (gap: number): SpecOf => () =>
  Promise.resolve({
    incarnation: 1,
    start: origin,
    spec: { wallet, kind: "shelley", network: 0, gap, prefix: "1852H/1815H/0H", account: "alice" },
  });
const beginning = (more: Partial<WalletLifecycleOptions>) =>
  beginner({
    store,
    derive: deriver().derive,
    deriveSlice: () => Promise.reject(new Error("nothing is long here")),
    vault: { erase: () => Promise.resolve() },
    wake: () => {},
    ...more,
  });

it("adds a wallet to the index once, if its attempts overlap and if one comes late", async () => {
  const begin = beginning({});
  const attempts = [begin({ wallet, life: 1 }, specOf(10)), begin({ wallet, life: 1 }, specOf(10))];
  expect(await Promise.all(attempts)).toEqual([begun, begun]);
  expect(await begin({ wallet, life: 1 }, specOf(10))).toEqual(begun);
  const [row] = await store.sql<{ pools: number; addresses: number }[]>`
    select (select count(*)::int from wallet_pool) as pools, (select count(*)::int from wallet_address) as addresses`;
  expect(row).toEqual({ pools: 2, addresses: 2 * (10 + SPARE) });
});

/** Hashes that show their index. */
function hashes({ role, from, count }: CredentialRange): Uint8Array {
  const bytes = new Uint8Array(28 * count);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < count; i++) {
    view.setUint8(28 * i, role);
    view.setUint32(28 * i + 24, from + i);
  }
  return bytes;
}

const GAP = 10_000 - SPARE;

it("derives a large gap in slices, and only the missing part after an interruption", async () => {
  const made: string[] = [];
  let broken = false;
  const deriveSlice = (order: CredentialRange) => {
    if (!broken && order.from === 4_000) {
      broken = true;
      return Promise.reject(new Error("no credentials: interrupted"));
    }
    made.push(`${order.role}:${order.from}`);
    return Promise.resolve(hashes(order));
  };
  await expect(beginning({ deriveSlice })({ wallet, life: 1 }, specOf(GAP))).rejects.toThrow("interrupted");
  // Another process.
  const begin = beginning({ deriveSlice });
  await until("it has begun", async () => "type" in await begin({ wallet, life: 1 }, specOf(GAP)));
  expect(made.sort()).toEqual(
    [0, 1].flatMap((role) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((k) => `${role}:${k * 1_000}`)),
  );
  const rows = await store.sql<{ role: number; index: number; credential: string }[]>`
    select role::int as role, index::int as index, credential from wallet_address order by role, index`;
  const zeros = "00".repeat(23);
  expect(rows.map((row) => ({ ...row }))).toEqual(
    [0, 1].flatMap((role) =>
      Array.from({ length: 10_000 }, (_, index) => ({
        role,
        index,
        credential: `key-0${role}${zeros}${index.toString(16).padStart(8, "0")}`,
      }))
    ),
  );
  const [left] = await store.sql<{ slices: number; stock: number[] }[]>`
    select (select count(*)::int from wallet_slice) as slices, (select array_agg(count) from wallet_stock) as stock`;
  expect(left).toEqual({ slices: 0, stock: [10_000, 10_000] });
});

it("derives no more for a wallet that was deleted, and leaves nothing of it", async () => {
  let made = 0;
  const deriveSlice = async (order: CredentialRange) => {
    if (++made === 2) await store.sql`delete from wallet where id = ${wallet}`;
    return hashes(order);
  };
  const options = { deriveSlice };
  await until("it is left", async () => "type" in await beginning(options)({ wallet, life: 1 }, specOf(100_000)));
  expect(made).toBeLessThan(20);
  const vault = { erase: () => Promise.resolve() };
  const services = { store, derive: deriver().derive, deriveSlice, vault, wake: () => {} };
  await ending(services, { wallet, life: 1, attempt: null });
  const [left] = await store.sql<{ slices: number; wallets: number }[]>`
    select (select count(*)::int from wallet_slice) as slices, (select count(*)::int from wallet_index) as wallets`;
  expect(left).toEqual({ slices: 0, wallets: 0 });
});
