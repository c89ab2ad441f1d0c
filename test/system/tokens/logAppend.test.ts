/** Transactions that append to the log of tokens are bounded, also where a block or a rollback has many entries. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { parseLeaf } from "#src/contract/logLeaf.ts";
import { migrate } from "#src/store/migrations.ts";
import { onlyRow } from "#src/store/rows.ts";
import { openStore, type Queries, type Store } from "#src/store/store.ts";
import { LOG_KEY, noteSigner } from "#src/tlog/note.ts";
import { appendFinal, hasFinal, noteRollback } from "#src/tokens/log/append.ts";
import { readEntryIndex, readSpan } from "#src/tokens/log/read.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";

const MOST = 64;
const TOKENS = 150;
const signer = noteSigner("log.example/rows", LOG_KEY, new Uint8Array(32).fill(5));

let infra: Infra;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("chain/index", "tokens/index", "tokens/log"));
  await store.sql`insert into chain_block (slot, hash, height) select i * 20, 'h' || i, i from generate_series(1, 9) i`;
  await store.sql`update chain_cursor set slot = 180, height = 9, hash = 'h9'`;
  // all tokens begin in one block, and end in another one
  await store.sql`
    insert into token_state (ref, token, owner, root, output, facts, cut, from_slot, to_slot, position)
    select repeat('0', 60) || to_char(i, 'FM0000') || '#0', to_char(i, 'FM0000'), '0c', repeat('00', 32),
      decode('82581d70' || repeat('cd', 28) || '1a000f4240', 'hex'), 0, false, 40, 80, i
    from generate_series(1, ${TOKENS}::int) i`;
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

const append = () => store.sql.begin((sql) => appendFinal(sql, { net: 42, depth: 0, signer }));

async function appendAll(): Promise<number[]> {
  const added: number[] = [];
  while (await hasFinal(store.sql, { depth: 0 })) added.push((await append()).added);
  return added;
}

async function entries() {
  const rows = await store.sql<{ entry: string }[]>`select entry from log_entry order by n`;
  return rows.map(({ entry }) => {
    const leaf = parseLeaf(utf8(entry));
    if (leaf?.token === undefined) throw new Error("the entry is not that of a token");
    return leaf;
  });
}

it("divides blocks, and has each entry once", async () => {
  const added = await appendAll();
  expect(added.reduce((a, b) => a + b)).toBe(2 * TOKENS);
  expect(Math.max(...added)).toBe(MOST);
  const all = (await entries()).map(({ token, kind, seq }) => `${token} ${kind} ${seq}`);
  const tokens = Array.from({ length: TOKENS }, (_, i) => String(i + 1).padStart(4, "0"));
  expect(all).toEqual([...tokens.map((token) => `${token} boot 0`), ...tokens.map((token) => `${token} end 1`)]);
});

it("withdraws many tokens in several transactions, also out of a block that was divided", async () => {
  const size = (await entries()).length;
  await noteRollback(store.sql, 20);
  expect((await append()).added).toBeLessThanOrEqual(MOST);
  const added = await appendAll();
  expect(Math.max(...added)).toBeLessThanOrEqual(MOST);
  const withdrawals = (await entries()).slice(size).filter(({ kind }) => kind === "rollback");
  expect(withdrawals).toHaveLength(TOKENS);
  const first = withdrawals.find(({ token }) => token === "0001");
  expect(first).toMatchObject({ token: "0001", first: 0, seq: 2, slot: 20 });

  await noteRollback(store.sql, 20);
  // until all are withdrawn, and some of the first block are there again
  while ((await entries()).at(-1)?.kind !== "boot") await append();
  const part = await store.sql`select from log_entry where not withdrawn and undoes is null`;
  expect([part.length < TOKENS, (await store.sql`select slot from log_head`)[0]?.slot]).toEqual([true, 39n]);
  await noteRollback(store.sql, 20);
  await appendAll();
  const counting = await store.sql<{ token: string; count: number }[]>`
    select token, count(*)::int as count from log_entry where not withdrawn and undoes is null group by token`;
  expect(counting).toHaveLength(TOKENS);
  expect(counting.every(({ count }) => count === 2)).toBe(true);
  const numbers = (await entries()).map(({ token, seq }) => `${token} ${seq}`);
  expect(new Set(numbers).size).toBe(numbers.length);
});

it("withdraws many entries of one token in several transactions, with one entry that says so", async () => {
  const [deep, old] = ["ffff", 3];
  await store
    .sql`insert into chain_block (slot, hash, height) select 180 + i, 'd' || i, 9 + i from generate_series(1, ${TOKENS}::int) i`;
  await store.sql`update chain_cursor set slot = 180 + ${TOKENS}::int, height = 9 + ${TOKENS}::int`;
  await store.sql`
    insert into token_state (ref, token, owner, root, output, facts, cut, from_slot, to_slot)
    select repeat('f', 60) || to_char(i, 'FM0000') || '#0', ${deep}, '0c', repeat('00', 32), (select output from token_state limit 1),
      0, false, 180 + i, case when i < ${TOKENS}::int then 181 + i end
    from generate_series(1, ${TOKENS}::int) i`;
  await appendAll();
  const own = async () => (await entries()).filter(({ token }) => token === deep);
  expect((await own()).map(({ seq }) => seq)).toEqual(Array.from({ length: TOKENS }, (_, i) => i));

  const withdrawn = async () => (await store.sql`select from log_entry where token = ${deep} and withdrawn`).length;
  await noteRollback(store.sql, 180 + old);
  const counts = [0];
  while ((await own()).at(-1)?.kind !== "rollback") {
    await append();
    counts.push(await withdrawn());
    expect(await readSpan(store.sql, { token: deep, from: 0 }, 10)).toBe("undone");
  }
  expect(counts).toEqual([0, MOST, 2 * MOST, TOKENS - old]);
  const said = (await own()).slice(TOKENS);
  expect(said).toEqual([expect.objectContaining({ kind: "rollback", first: old, seq: TOKENS, slot: 180 + old })]);
  const kept = await store.sql<{ n: bigint }[]>`select n from log_entry where token = ${deep} and seq = ${old - 1}`;
  expect(await readEntryIndex(store.sql, deep)).toBe(Number(kept[0]?.n));
});

it("reads few rows, however many entries the log and states a token has, with plans that were made for an empty table", async () => {
  await store.sql`alter table log_entry set (autovacuum_enabled = false)`;
  const many = 5_000;
  await store.sql`insert into log_entry (n, entry, token, seq, slot)
    select 1000000 + i, '', 'many', i, 1 from generate_series(0, ${many - 1}::int) i`;
  await store.sql`
    insert into token_state (ref, token, owner, root, output, facts, cut, from_slot, to_slot)
    select repeat('e', 60) || to_char(i, 'FM0000') || '#0', 'eeee', '0c', repeat('00', 32), (select output from token_state limit 1),
      0, false, 400 + i, case when i < 1000 then 401 + i end
    from generate_series(1, 1000) i`;
  await store.sql`insert into chain_block (slot, hash, height) values (1400, 'last', 1000)`;
  await store.sql`update chain_cursor set slot = 1400, height = 1000`;
  const read: number[] = [];
  const count = async (sql: Queries) =>
    (await onlyRow(sql<{ rows: number }[]>`select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
      from pg_stat_xact_user_tables where relname in ('log_entry', 'token_state')`)).rows;
  for (let more = true; more;) {
    await store.sql.begin(async (sql) => {
      const before = await count(sql);
      ({ more } = await appendFinal(sql, { net: 42, depth: 0, signer }));
      read.push(await count(sql) - before);
    });
  }
  expect(read.length).toBeGreaterThan(3);
  expect(Math.max(...read)).toBeLessThan(many);
});
