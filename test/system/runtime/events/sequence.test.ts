/** Numbers of transitions against a plain ranking of all rows ever written, with open transactions and deletions. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { schemaMigrations } from "#src/app/schema.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { pruneEvents } from "#src/runtime/events/replay.ts";
import {
  countNumbered,
  findNumbered,
  lastNumbered,
  lastOfEach,
  numberAt,
  numberOf,
  readLogState,
  readNumbered,
} from "#src/runtime/events/sequence.ts";
import { eventId } from "#src/runtime/events/transition.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../../support/infra/infra.ts";

vi.setConfig({ testTimeout: 120_000 });

let infra: Infra;
let store: Store;
let other: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 4, application: "test" });
  other = openStore(infra.databaseUrl, { max: 4, application: "test" });
  const migrated = await migrateWhole(store, schemaMigrations);
  expect(migrated.ok).toBe(true);
});
afterAll(async () => {
  await store?.close();
  await other?.close();
  await infra?.stop();
});

const versions = new Map<string, number>();

/**
 * Writes rows of `count` transitions of random actors in one transaction, then runs `within` before the commit.
 * Transactions that overlap write different `group`s: the versions of one actor are in the order of commits.
 */
async function write(count: number, group = 0, within: () => Promise<void> = async () => {}): Promise<void> {
  await store.sql.begin(async (sql) => {
    const rows = Array.from({ length: count }, () => {
      const id = `actor${group}${Math.floor(Math.random() * 10)}`;
      const version = (versions.get(id) ?? 0) + 1;
      versions.set(id, version);
      return { kind: "thing", id, version, type: version % 2 === 0 ? "EVEN" : "ODD" };
    });
    await sql`
      insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, published)
      select kind, id, version, 0, 'a', 'b', type, 'test', '{}', now(), true
      from json_to_recordset(${rows as never}::json) as r(kind text, id text, version bigint, type text)`;
    await within();
  });
}

/** All rows that were ever written, in their order. */
const written: { readonly id: string; readonly at: number }[] = [];

/** Takes the rows that are not in `written` yet: all transactions have ended. */
async function note(): Promise<void> {
  const rows = await store.sql<{ key: string; created: Date }[]>`
    select kind || '/' || id || ':' || version as key, created from outbox order by tx, kind, id, version`;
  const known = new Set(written.map(({ id }) => id));
  for (const { key, created } of rows) if (!known.has(key)) written.push({ id: key, at: created.getTime() });
}

async function expectNumbered(): Promise<void> {
  const { first, last } = await readLogState(store);
  expect(last).toBe(written.length);
  const kept = await store.sql`select 1 from outbox`;
  expect(first).toBe(written.length - kept.length + 1);
  for (let from = 1; from <= last;) {
    const page = await readNumbered(other, NO_CONTENTS, from, last, 1 + Math.floor(Math.random() * 700));
    if (page.length === 0) break;
    expect(page[0]!.seq).toBe(Math.max(from, first));
    expect(page.map(({ transition }) => eventId(transition))).toEqual(
      written.slice(page[0]!.seq - 1, page[0]!.seq - 1 + page.length).map(({ id }) => id),
    );
    from = page.at(-1)!.seq + 1;
    if (from > last) break;
  }
  expect(await readNumbered(store, NO_CONTENTS, last + 1, last, 10)).toEqual([]);
  const at = written[Math.floor((first + last) / 2)]?.at;
  if (at !== undefined) {
    const expected = written.findIndex((row, i) => i + 1 >= first && row.at >= at) + 1;
    expect(await numberAt(store, at, last)).toBe(expected);
  }
  expect(await numberAt(store, Date.now() + 60_000, last)).toBe(last + 1);
  const isEven = ({ id }: { id: string }) => Number(id.split(":")[1]) % 2 === 0;
  const all = written.map((row, i) => ({ seq: i + 1, even: isEven(row), name: row.id.slice(6).split(":")[0]! }))
    .filter(({ seq }) => seq >= first);
  for (const id of ["actor03", "actor17", "absent"]) {
    const found = await lastNumbered(store, NO_CONTENTS, first, last, [{ kind: "thing", id, transition: "even" }]);
    expect(found?.seq).toBe(all.findLast(({ name, even }) => name === id && even)?.seq);
  }
  const filters = [{ id: "actor03" }, { kind: "thing", id: "actor17", transition: "odd" }];
  const wanted = all.filter(({ name, even }) => name === "actor03" || (name === "actor17" && !even));
  expect(await countNumbered(store, first, last, filters)).toBe(wanted.length);
  expect((await lastNumbered(store, NO_CONTENTS, first, last, filters))?.seq).toBe(wanted.at(-1)?.seq);
  expect(await lastNumbered(store, NO_CONTENTS, first, last, [{ kind: "absent" }])).toBeUndefined();
  const even = all.filter((row) => row.even);
  expect(await countNumbered(store, first, last, [{ kind: "thing", types: ["EVEN", "NONE"] }])).toBe(even.length);
  const found: number[] = [];
  for (let from = 1; from <= last;) {
    const part = await findNumbered(other, NO_CONTENTS, from, last, filters, 100);
    found.push(...part.found.map(({ seq }) => seq));
    from = part.to + 1;
  }
  expect(found).toEqual(wanted.map(({ seq }) => seq));
  const newest = new Map(all.map(({ seq, even, name }) => [`${name} ${even}`, seq]));
  expect(await lastOfEach(store, first, last, [{ kind: "thing" }], 1_000))
    .toEqual([...newest.values()].sort((a, b) => a - b));
}

it("numbers are ranks in the log, whoever computes the checkpoints, while rows are added and deleted", async () => {
  expect(await readLogState(store)).toEqual({ first: 1, last: 0 });
  for (let round = 0; round < 12; round++) {
    const writes = Array.from({ length: 8 }, (_, i) => write(1 + Math.floor(Math.random() * 400), i));
    // Checkpoints are computed by two processes while transactions are open.
    await Promise.all([...writes, readLogState(store), readLogState(other)]);
    await note();
    await expectNumbered();
    if (round % 4 === 3) {
      expect(await pruneEvents(store, 0, 3_000)).toBeGreaterThan(0);
      await expectNumbered();
    }
  }
  expect(written.length).toBeGreaterThan(10_000);
});

it("a transaction of more rows than one read is numbered", async () => {
  await write(9_000);
  await note();
  await expectNumbered();
});

it("rows of a transaction that follow an open one have no number yet", async () => {
  const { last } = await readLogState(store);
  await write(3, 0, async () => {
    await other.sql`
      insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at)
      values ('thing', 'late', 1, 0, 'a', 'b', 'ODD', 'test', '{}', now())`;
    expect((await readLogState(other)).last).toBe(last);
  });
  await note();
  expect((await readLogState(store)).last).toBe(last + 4);
  await expectNumbered();
});

it("everything deleted: the numbers go on where they were", async () => {
  await store.sql`update outbox set published = true`;
  while (await pruneEvents(store, 0) > 0);
  await expectNumbered();
  const before = written.length;
  await write(5);
  await note();
  expect(await readLogState(store)).toEqual({ first: before + 1, last: before + 5 });
  const [row] = await store.sql<{ tx: string; id: string; version: bigint }[]>`
    select tx::text, id, version from outbox order by tx, kind, id, version limit 1`;
  const place = { tx: BigInt(row!.tx), entity: { kind: "thing", id: row!.id }, version: Number(row!.version) };
  expect(await numberOf(store, place)).toBe(before + 1);
  expect(await numberOf(store, { ...place, version: 1_000_000 })).toBeUndefined();
});
