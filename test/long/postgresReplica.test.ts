/**
 * A primary and its synchronous replica under load: whatever happens to them, each acknowledged command is applied once
 * on the server that takes writes afterwards. How long nothing was acknowledged is printed.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { checkServer } from "#src/store/server.ts";
import { openStore } from "#src/store/store.ts";
import { until } from "../support/base/until.ts";
import { postgresAway } from "../support/infra/postgresAway.ts";
import { onServer, type PostgresPair, startPair } from "../support/infra/postgresPair.ts";
import { findPostgres } from "../support/infra/postgresServer.ts";
import { AROUND_MS, failoverUnder } from "../support/runtime/failover.ts";

const native = findPostgres();

/** How long nothing may be acknowledged, beyond what the fault itself lasts, in milliseconds. */
const MOST_MS = 10_000;
/** How long whoever watches the primary takes to promote the replica, in milliseconds. */
const PROMOTION_MS = 1_000;

describe.skipIf(native === undefined)("a primary with a synchronous replica", () => {
  let pair: PostgresPair;
  beforeEach(async () => void (pair = await startPair(native!)));
  afterEach(() => pair?.stop());

  const under = (name: string, fault: Parameters<typeof failoverUnder>[1]) =>
    failoverUnder({ name: `${pair.name}: ${name}`, url: pair.url, mostMs: MOST_MS }, fault);

  test("the primary is killed and the replica promoted", () =>
    under("the primary is killed", async () => {
      await pair.primary.kill();
      await sleep(PROMOTION_MS);
      await pair.promote();
    }));

  test("the machine of the primary is gone without a word, and comes back when it is not the primary any more", () =>
    under("the primary's network is away", async (clients, cluster) => {
      pair.toPrimary.freeze();
      pair.replication.freeze();
      await sleep(PROMOTION_MS);
      await pair.promote();
      const count = clients.answers.size;
      await until("answers come again", async () => clients.answers.size > count + 100);
      // the former primary waits for no replica now: it would confirm what it takes
      await onServer(pair.primary, async (sql) => {
        await sql.unsafe("alter system reset synchronous_standby_names");
        await sql.unsafe("select pg_reload_conf()");
      });
      await pair.toPrimary.mend();
      const later = await cluster.start("worker3");
      await until("the new worker serves", async () => (await later.state()).owned.length > 0);
      await sleep(AROUND_MS);
      const users = await onServer(pair.primary, (sql) =>
        sql<{ name: string }[]>`
        select distinct application_name as name from pg_stat_activity where backend_type = 'client backend'`);
      expect(users.map(({ name }) => name).sort()).toEqual(["arbor primary", "test alone"]);
    }));

  test("waits for the replica are cancelled while it is away: nothing of it is acknowledged", () =>
    under("cancelled waits for the replica", async (clients) => {
      pair.replication.freeze();
      const ended = { cancelled: 0, terminated: 0 };
      await onServer(pair.primary, async (sql) => {
        const waiting = () => sql<{ pid: number }[]>`select pid from pg_stat_activity where wait_event = 'SyncRep'`;
        await until("writes wait for the replica", async () => (await waiting()).length > 0);
        const count = clients.answers.size;
        for (let i = 0; i < 40; i++) {
          for (const { pid } of await waiting()) {
            const cancel = i % 4 < 3;
            ended[cancel ? "cancelled" : "terminated"]++;
            await sql.unsafe(`select pg_${cancel ? "cancel" : "terminate"}_backend(${pid})`);
          }
          await sleep(100);
        }
        expect(clients.answers.size).toBe(count);
      });
      expect(ended.cancelled).toBeGreaterThan(10);
      console.log(JSON.stringify(ended));
      await pair.primary.kill();
      await pair.promote();
    }));

  test("the primary restarts without its replica: what the replica lacks is not acknowledged", () =>
    under("the primary restarts alone, then the replica is promoted", async (clients) => {
      pair.replication.freeze();
      await sleep(500);
      const count = clients.answers.size;
      await pair.primary.restart("SIGKILL");
      await sleep(AROUND_MS);
      expect(clients.answers.size).toBe(count);
      await pair.primary.kill();
      await pair.promote();
    }));

  test("a start on a standby alone is refused, and one without a synchronous replica warned", async () => {
    const alone = openStore(pair.replica.url, { max: 1 });
    expect(await checkServer(alone)).toMatchObject({ ok: false, error: { code: "read_only" } });
    await alone.close();
    const both = openStore(pair.url, { max: 1 });
    expect(await checkServer(both, true)).toEqual({ ok: true, value: [] });
    await onServer(pair.primary, async (sql) => {
      await sql.unsafe("alter system reset synchronous_standby_names");
      await sql.unsafe("select pg_reload_conf()");
    });
    await until("it is warned", async () => {
      const checked = await checkServer(both, true);
      return checked.ok && checked.value.some((warning) => warning.includes("no synchronous replica"));
    });
    await both.close();
  });

  test("a standby that is named first gets no statement", async () => {
    const [, user = "", hosts = ""] = /^(.*@)(.*)\/postgres$/.exec(pair.url) ?? [];
    const store = openStore(`${user}${hosts.split(",").reverse().join(",")}/postgres`);
    const answers = await Promise.all(Array.from({ length: 20 }, () =>
      store.sql<{ port: number }[]>`
        select current_setting('port')::int as port, pg_current_xact_id()`));
    expect(new Set(answers.map(([row]) => row!.port))).toEqual(new Set([pair.primary.port]));
    await store.close();
  });

  test("no answer of any service is 500", async () => {
    const found = await postgresAway({
      ...pair.primary,
      url: pair.url,
      restart: async () => {
        await pair.primary.kill();
        await sleep(PROMOTION_MS);
        await pair.promote();
      },
    }, { processes: ["edge,worker,devnet,follower"], senders: 4, awayMs: 0, aroundMs: 8_000 });
    console.log(`${pair.name}: all services:`, JSON.stringify({ ...found, statuses: [...found.statuses] }));
    expect(found.broken).toEqual([]);
    expect(found.longestGap).toBeLessThan(found.absence + MOST_MS);
  });
});
