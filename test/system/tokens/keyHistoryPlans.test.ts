/** The cost of the evidence of a key's history does not grow with the token's facts, whatever plan PostgreSQL uses. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { migrate } from "#src/store/migrations.ts";
import { onlyRow } from "#src/store/rows.ts";
import { openStore, type Queries, type Store } from "#src/store/store.ts";
import { readKeyEvidence } from "#src/tokens/index/keyHistory.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";

/** Facts of the token, of which each thirtieth has an earlier value. */
const FACTS = 30_000;
const BUCKETS = 4_096;
const TOKEN = "aa";

let infra: Infra;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  const { sql } = store;
  await migrate(store, migrationsOf("chain/index", "tokens/index", "tokens/log"));
  await sql`insert into fact (entry, token, bucket, path, key, value, digest, from_slot, to_slot)
    select token || ':' || path, token, token || ':' || left(path, 3), path, decode(path, 'hex'), '\\x01',
      decode(path, 'hex'), 10 * copy, case when copy = 1 then 20 end
    from (select ${TOKEN}::text as token, encode(sha256(int4send(n)), 'hex') as path, copy
      from generate_series(1, ${FACTS}::int) n, generate_series(case when n % 30 = 0 then 1 else 2 end, 2) copy) f`;
  await sql`insert into token_bucket (token, bucket, hash, from_slot)
    select ${TOKEN}, n, sha256(int4send(n)), 30 from generate_series(0, ${BUCKETS - 1}::int) n`;
  await sql`insert into token_state (ref, token, owner, root, output, facts, cut, from_slot)
    values ('00#0', ${TOKEN}, '', '', '', ${FACTS}, true, 60), ('11#0', ${TOKEN}, '', '', '', ${FACTS}, true, 70)`;
  await sql`analyze`;
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

/** Facts that were fetched, from the table or through its indexes. */
async function factsRead(sql: Queries): Promise<number> {
  const { rows } = await onlyRow(sql<{ rows: number }[]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables where relname = 'fact'`);
  return rows;
}

it.each(["force_generic_plan", "force_custom_plan"])("reads a few buckets with %s", async (plan_cache_mode) => {
  const own = store.beside({ max: 1, settings: { plan_cache_mode } });
  const path = fromHex("ab".repeat(32));
  const { facts, rows } = await own.sql.begin("read only", async (sql) => {
    const before = await factsRead(sql);
    const { facts } = await readKeyEvidence(sql, TOKEN, path, [{ ref: "11#0", slot: 70 }]);
    return { facts, rows: await factsRead(sql) - before };
  });
  expect(facts.cut?.buckets).toHaveLength(1);
  const leaves = facts.leaves.length / 64;
  expect(leaves).toBeGreaterThan(0);
  expect(rows).toBeLessThan(10 * leaves);
  await own.close();
});
