/** The answer with all facts of a token, whatever their number and whatever happens while it is written. */
import { Hono } from "hono";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { concat, toHex, utf8 } from "#src/base/bytes.ts";
import { cageMigrations } from "#src/cage/index/migrations.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { readCursor } from "#src/chain/cursor.ts";
import { chainMigrations } from "#src/chain/migrations.ts";
import { answerFacts } from "#src/edge/tokens/facts.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../support/infra.ts";

const TOKEN = "ab".repeat(32);
let infra: Infra;
let store: Store;
const app = new Hono();
app.get("/facts", async (c) => await answerFacts(c, store, TOKEN, (await readCursor(store.sql)).at));

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, [...chainMigrations, ...cageMigrations]);
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});
beforeEach(async () => {
  await store.sql`truncate fact, chain_block`;
  await store.sql`insert into chain_block values (10, 'ten', 1, null)`;
  await store.sql`update chain_cursor set slot = 10, hash = 'ten', height = 1`;
});

async function insert(token: string, slot: number, facts: readonly (readonly [Uint8Array, Uint8Array])[]) {
  const rows = facts.map(([key, value]) => {
    const path = toHex(blake2b256(key));
    const [entry, bucket] = [`${token}:${path}`, `${token}:${path.slice(0, 3)}`];
    return { entry, token, bucket, path, key, value, digest: blake2b256(value), from_slot: slot };
  });
  for (let i = 0; i < rows.length; i += 1_000) {
    await store.sql`insert into fact ${store.sql(rows.slice(i, i + 1_000) as never)}`;
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => [`key ${i}`, `"value" ${i}`] as const);
const asBytes = (facts: readonly (readonly [string, string])[]) =>
  facts.map(([key, value]) => [utf8(key), utf8(value)] as const);

test.each([0, 1, 999, 1_000, 1_001, 3_500])("%i facts come out exact, and no other token's", async (count) => {
  const facts = numbered(count);
  await insert(TOKEN, 5, asBytes(facts));
  await insert("aa".repeat(32), 5, asBytes(facts.slice(0, 3)));
  await insert("ac".repeat(32), 5, asBytes(facts.slice(0, 3)));
  const answer = await app.request("/facts");
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect(await answer.json()).toEqual(Object.fromEntries(facts));
});

test("odd keys and bytes that are no text survive an answer of many pages", async () => {
  const odd = [["__proto__", "p"], ["", "empty"], ["constructor", '\\"\n\u2028'], ["a\u0000b", "\u{10ffff}"]] as const;
  await insert(TOKEN, 5, [...asBytes([...odd, ...numbered(1_200)]), [
    concat(utf8("x"), Uint8Array.of(0xff)),
    utf8("y"),
  ]]);
  const read = new Map(Object.entries(await (await app.request("/facts")).json() as Record<string, string>));
  expect(read.size).toBe(1_205);
  for (const [key, value] of odd) expect(read.get(key)).toBe(value);
  expect(read.get("x\udcff")).toBe("y");
});

test("what changes after the answer began is not in it", async () => {
  await insert(TOKEN, 5, asBytes(numbered(2_500)));
  const answer = await app.request("/facts");
  await store.sql`insert into chain_block values (11, 'eleven', 2, 'ten')`;
  await store.sql`update chain_cursor set slot = 11, hash = 'eleven', height = 2`;
  await store.sql`update fact set to_slot = 11 where key < ${utf8("key 2")}`;
  await insert(TOKEN, 11, asBytes([["new", "1"], ...numbered(500).map(([key]) => [`${key} more`, "2"] as const)]));
  expect(await answer.json()).toEqual(Object.fromEntries(numbered(2_500)));
});

test("an answer whose point is rolled back breaks off", async () => {
  await insert(TOKEN, 5, asBytes(numbered(2_500)));
  const answer = await app.request("/facts");
  await store.sql`update chain_block set hash = 'other ten' where slot = 10`;
  await expect(answer.text()).rejects.toThrow("rolled back");
});
