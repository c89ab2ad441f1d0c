/**
 * Cached responses never hide a commit from before the request, whichever process wrote it and however transactions
 * overlap.
 */
import { Hono } from "hono";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cacheWhileUnchanged } from "#src/http/responseCache.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

const COUNTERS = 4;
const WRITES = 150;

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let reading: Store;
let writing: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  [reading, writing] = [openStore(infra.databaseUrl), openStore(infra.databaseUrl)];
  await writing.sql`create table counter (id int primary key, count int not null)`;
  await writing.sql`insert into counter select id, 0 from generate_series(0, ${COUNTERS - 1}) id`;
});
afterAll(async () => {
  await Promise.all([reading?.close(), writing?.close()]);
  await infra?.stop();
});

it("each reader sees at least everything committed before its request", async () => {
  const app = new Hono();
  const keep = cacheWhileUnchanged(reading.sql);
  app.get("/:id", (c) =>
    keep(c, async () => {
      const [row] = await reading.sql`select count from counter where id = ${Number(c.req.param("id"))}`;
      return c.json(row!.count);
    }));
  const committed = new Array<number>(COUNTERS).fill(0);
  let writers = COUNTERS;
  const write = async (id: number) => {
    for (let n = 1; n <= WRITES; n++) {
      // older transactions end after younger ones: that alone must count as a change
      await writing.sql.begin(async (sql) => {
        await sql`update counter set count = ${n} where id = ${id}`;
        if (n % 3 === id % 3) await sql.savepoint((inner) => inner`select pg_sleep(0.004)`);
      });
      committed[id] = n;
      if (n % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    writers--;
  };
  const read = async (id: number) => {
    while (writers > 0) {
      const before = committed[id]!;
      expect(await (await app.request(`/${id}`)).json()).toBeGreaterThanOrEqual(before);
    }
  };
  const ids = [...committed.keys()];
  await Promise.all([...ids.map(write), ...ids.map(read), ...ids.map(read)]);
  for (const id of ids) expect(await (await app.request(`/${id}`)).json()).toBe(WRITES);
});
