/** Lists of an address are read by an index, also where the table holds many rows of others. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { IndexChanges } from "#src/devnet/index/rows.ts";
import { noChanges } from "#src/devnet/index/rows.ts";
import {
  countTransactionsOf,
  type Holder,
  isUsed,
  readHeldOutputs,
  readSum,
  readTransactionsOf,
  type TransactionHolder,
} from "#src/devnet/index/reads/addresses.ts";
import { credentialsOf } from "#src/devnet/index/outputRows.ts";
import { undoIndex, writeChanges } from "#src/devnet/index/write.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { devnetStore } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

/** Transactions of others, one a block. */
const OTHERS = 400;
const page = { limit: 100, offset: 0, order: "asc" } as const;
const hashOf = (height: number) => height.toString(16).padStart(64, "0");
/** A base address of Shelley, and one of Byron (its bytes are not read here). */
const shelley = (n: number) => `01${n.toString(16).padStart(56, "0")}${n.toString(16).padStart(56, "f")}`;
const byron = (n: number) => `82d818${n.toString(16).padStart(60, "0")}`;

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;

/** A transaction with one output, which spends that of `spends`. */
function addPayment({ rows, spent }: IndexChanges, height: number, address: string, spends?: number): void {
  const place = { height, tx_index: 0, tx_hash: hashOf(height) };
  rows.output.push({ ...place, index: 0, address, ...credentialsOf(address), lovelace: 5n });
  rows.address.push({ ...place, address, ...credentialsOf(address) });
  const hash = place.tx_hash;
  rows.tx.push({
    height,
    tx_index: 0,
    hash,
    fee: 1n,
    deposit: 0n,
    size: 1,
    valid: true,
    cbor: new Uint8Array([height]),
  });
  if (spends === undefined) return;
  spent.push({ tx_hash: hashOf(spends), index: 0, spent_height: height, spent_index: 0, spent_tx: hash });
}

beforeAll(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  const changes = noChanges();
  for (let i = 0; i < OTHERS; i++) addPayment(changes, i, i % 2 ? shelley(100 + i) : byron(100 + i));
  [shelley(1), byron(1)].forEach((address, i) => addPayment(changes, OTHERS + i, address));
  await writeChanges(store.sql, changes, { height: OTHERS + 1, hash: "" });
});
afterAll(async () => {
  await store.close();
  await infra.stop();
});

/** Rows of the index that some work reads, when a scan of a whole table is the last choice. */
async function rowsRead(work: (sql: Queries) => Promise<unknown>): Promise<number> {
  return await store.sql.begin(async (sql) => {
    await sql`set local enable_seqscan = off`;
    const read = async () =>
      (await onlyRow(sql<{ count: bigint }[]>`
        select sum(seq_tup_read + idx_tup_fetch)::bigint as count from pg_stat_xact_user_tables
        where relname in ('devnet_index_output', 'devnet_index_address')`)).count;
    const before = await read();
    await work(sql);
    return Number(await read() - before);
  });
}

type Read<Of> = (sql: Queries, holder: Of) => Promise<unknown>;

const ofAll: readonly [string, Read<TransactionHolder>][] = [
  ["unspent outputs", (sql, holder) => readHeldOutputs(sql, holder, page)],
  ["transactions", (sql, holder) => readTransactionsOf(sql, holder, page)],
];
const ofHolders: readonly [string, Read<Holder>][] = [
  ...ofAll,
  ["the number of transactions", countTransactionsOf],
  ["whether it is used", isUsed],
  ["sums", (sql, holder) => readSum(sql, holder, "held")],
];
const { payment = "", stake = "" } = credentialsOf(shelley(1));

test.each([
  ...ofHolders.map(([what, read]) =>
    [what, "an address", (sql: Queries) => read(sql, { address: shelley(1) })] as const
  ),
  ...ofHolders.map(([what, read]) =>
    [what, "an address of Byron", (sql: Queries) => read(sql, { address: byron(1) })] as const
  ),
  ...ofHolders.map(([what, read]) => [what, "a payment credential", (sql: Queries) => read(sql, { payment })] as const),
  ...ofAll.map(([what, read]) => [what, "an account", (sql: Queries) => read(sql, { stake })] as const),
])("%s of %s", async (_what, _name, read) => {
  expect(await rowsRead(read)).toBeLessThan(10);
});

test("an output that its own blocks spend, and one that later blocks spend, until a rollback", async () => {
  const changes = noChanges();
  addPayment(changes, 1000, shelley(7), OTHERS);
  addPayment(changes, 1001, shelley(8), 1000);
  await writeChanges(store.sql, changes, { height: 1001, hash: "" });
  const spends = async () =>
    await store.sql`
      select tx_hash, spent_height, spent_index, spent_tx from devnet_index_output where spent_tx is not null
      order by height`;
  const earlier = { tx_hash: hashOf(OTHERS), spent_height: 1000n, spent_index: 0, spent_tx: hashOf(1000) };
  const own = { tx_hash: hashOf(1000), spent_height: 1001n, spent_index: 0, spent_tx: hashOf(1001) };
  expect([...await spends()]).toEqual([earlier, own]);
  await store.sql.begin((sql) => undoIndex(sql, 999, [{ txHash: hashOf(OTHERS), index: 0 }]));
  expect([...await spends()]).toEqual([]);
  expect(await readHeldOutputs(store.sql, { address: shelley(1) }, page)).toHaveLength(1);
  expect(await isUsed(store.sql, { address: shelley(7) })).toBe(false);
});
