/**
 * A database from before requests' ends were stored: the outcome of each is derived from its rows, and reported as
 * unknown if they do not show it.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { type PastRequest, readHistory } from "#src/tokens/index/history.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";

const TOKEN = "ab".repeat(32);
let infra: Infra;
let store: Store;

beforeAll(async () => {
  infra = await sharedInfra({ empty: true });
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("tokens/index").filter(({ id }) => id === "cage-1"));
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

const hash = (name: string) => toHex(blake2b256(utf8(name)));

async function state(name: string, from: number, to: number | null) {
  await store.sql`insert into token_state (ref, token, owner, root, output, facts, cut, from_slot, to_slot)
    values (${`${hash(name)}#0`}, ${TOKEN}, 'owner', 'root', '\\x00', 0, false, ${from}, ${to})`;
}

async function request(
  name: string,
  [type, key, old, value]: readonly [string, string, string | null, string | null],
  from: number,
  to: number | null,
) {
  const bytes = (text: string | null) => text === null ? null : utf8(text);
  await store
    .sql`insert into token_request (ref, token, owner, refund_address, fee, type, path, key, old_value, new_value,
      lovelace, output, from_slot, to_slot)
    values (${`${hash(name)}#0`}, ${TOKEN}, 'alice', 'address', 1, ${type}, ${hash(key)}, ${utf8(key)}, ${bytes(old)},
      ${bytes(value)}, 2, '\\x00', ${from}, ${to})`;
}

async function fact(key: string, value: string, from: number, to: number | null) {
  await store.sql`insert into fact (entry, token, bucket, path, key, value, digest, from_slot, to_slot)
    values (${`${TOKEN}:${hash(key)}`}, ${TOKEN}, 'bucket', ${hash(key)}, ${utf8(key)}, ${
    utf8(value)
  }, '\\x00', ${from}, ${to})`;
}

test("reports which were applied and by which transaction, which were retracted, and which are open", async () => {
  await state("boot", 1, 10);
  await state("one update", 10, 20);
  // two updates in one block
  await state("first of two", 20, 20);
  await state("second of two", 20, null);
  await request("inserted", ["insert", "a", null, "1"], 5, 10);
  await fact("a", "1", 10, 20);
  await request("taken back beside it", ["insert", "b", null, "1"], 5, 10);
  await request("taken back alone", ["insert", "b", null, "1"], 6, 15);
  await request("deleted", ["delete", "a", "1", null], 12, 20);
  await request("set as it was", ["update", "c", "1", "1"], 12, 20);
  await request("open", ["insert", "d", null, "1"], 21, null);
  // a fact that was set and removed in one block left no row
  await request("brief insert", ["insert", "e", null, "1"], 12, 20);
  await request("brief delete", ["delete", "e", "1", null], 12, 20);

  await migrate(store, migrationsOf("tokens/index"));

  const page = await readHistory(store.sql, { token: TOKEN }, undefined, 100);
  const eventsOf = (name: string) => {
    const { status, closed } = page!.requests.find(({ ref }) => ref === `${hash(name)}#0`) as PastRequest;
    return [status, closed?.slot, closed?.tx];
  };
  expect(page!.requests).toHaveLength(8);
  expect(eventsOf("inserted")).toEqual(["applied", 10, hash("one update")]);
  expect(eventsOf("taken back beside it")).toEqual(["retracted", 10, undefined]);
  expect(eventsOf("taken back alone")).toEqual(["retracted", 15, undefined]);
  expect(eventsOf("deleted")).toEqual(["applied", 20, undefined]);
  expect(eventsOf("set as it was")).toEqual(["applied", 20, undefined]);
  expect(eventsOf("brief insert")).toEqual(["applied", 20, undefined]);
  expect(eventsOf("brief delete")).toEqual(["applied", 20, undefined]);
  expect(eventsOf("open")).toEqual(["open", undefined, undefined]);
  const applied = await readHistory(store.sql, { token: TOKEN, path: hash("a"), status: "applied" }, undefined, 100);
  expect(applied!.requests.map(({ ref }) => ref)).toEqual([`${hash("deleted")}#0`, `${hash("inserted")}#0`]);
});
