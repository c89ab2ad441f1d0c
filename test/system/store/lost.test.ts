/**
 * Connections that are lost at any moment: every query is answered or refused soon, no error is unhandled, and the next
 * one works.
 */
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { isRetryable, openStore, type Store } from "#src/store/store.ts";
import { outputOf } from "../../support/base/processes.ts";
import type { CutTransactions } from "../../support/infra/cutTransactionsProcess.ts";
import { type CutWay, startCutWay } from "../../support/infra/cuttingProxy.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { seeded } from "../../support/base/seededRandom.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let way: CutWay;
let store: Store;

beforeAll(async () => {
  infra = await sharedInfra();
  const url = new URL(infra.databaseUrl);
  way = await startCutWay(url);
  url.port = String(way.port);
  store = openStore(url.href, { max: 4 });
  await store.sql`create table counter (n int)`;
});
afterAll(async () => {
  await store?.close();
  await way?.close();
  await infra?.stop();
});

const escaped: unknown[] = [];

test.each(["end", "reset"] as const)("connections that are lost at any moment (%s)", async (how) => {
  const note = (error: unknown) => void escaped.push(error);
  process.on("uncaughtException", note);
  const random = seeded(how === "reset" ? 1 : 2);
  let lost = 0;
  const expectLost = (error: unknown) => {
    lost++;
    expect(isRetryable(error)).toBe(true);
    // The error for a connection that hangs.
    expect(error).not.toMatchObject({ code: "CONNECT_TIMEOUT" });
  };
  for (let round = 0; round < 25; round++) {
    const work = [
      ...Array.from({ length: 4 }, () =>
        store.sql.begin(async (sql) => {
          await sql`select pg_sleep(${random() / 100})`;
          await sql`insert into counter values (${round})`;
          await sleep(random() * 10);
          await sql`select 1`;
        })),
      ...Array.from({ length: 4 }, () => store.sql`select pg_sleep(${random() / 100})`),
    ];
    const settled = Promise.allSettled(work);
    await sleep(random() * 25);
    way.cutAll(how);
    for (const each of await settled) if (each.status === "rejected") expectLost(each.reason);
    // Its connection may have been cut while it was idle, which the client notices only now.
    const again = async () => await store.sql.begin(async (sql) => void await sql`select 1`);
    await again().catch((error) => {
      expectLost(error);
      return again();
    });
  }
  process.off("uncaughtException", note);
  expect(escaped).toEqual([]);
  expect(lost).toBeGreaterThan(10);
});

test("a transaction whose connection is cut fails alone, whatever it does about it", async () => {
  const rounds = 2;
  const { outcomes, ...rest } = JSON.parse(
    await outputOf("infra/cutTransactionsProcess.ts", "CUT_TRANSACTIONS", { databaseUrl: infra.databaseUrl, rounds }),
  ) as CutTransactions;
  expect(Object.keys(outcomes)).toHaveLength(36);
  for (const [moment, counts] of Object.entries(outcomes)) expect(counts, moment).toEqual({ lost: rounds });
  const { done, lost, ...other } = rest.bystanders;
  expect(other).toEqual({});
  expect(done).toBeGreaterThan(lost ?? 0);
  expect(rest).toMatchObject({ strays: 0, together: 3, left: 3, closed: 0 });
});

test("a server that ends each connection at its start is away: statements wait for seconds, not for ever", async () => {
  const url = new URL(infra.databaseUrl);
  url.port = String(way.port);
  const away = openStore(url.href, { max: 2 });
  way.cutAt("client", "user\0", "end");
  const refused = await Promise.allSettled([away.sql`select 1`, away.sql.begin((sql) => sql`select 1`)]);
  for (const one of refused) {
    expect(one.status).toBe("rejected");
    expect(one).toMatchObject({ reason: expect.toSatisfy(isRetryable) });
  }
  way.spare();
  expect([...await away.sql`select 1 as x`]).toEqual([{ x: 1 }]);
  await away.close();
});
