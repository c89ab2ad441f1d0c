/** Servers of others that misbehave, beside good ones: every function goes on for what the good ones serve. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { DrepBook } from "#src/wallets/dreps/book.ts";
import { fetchOutside } from "#src/base/outsideFetch.ts";
import { OutsideTurns } from "#src/base/outsideTurns.ts";
import { fetchDelisted, fetchMetadata, smashHealth } from "#src/wallets/pools/metadata.ts";
import { TokenServer } from "#src/wallets/tokenMetadata.ts";
import { cases } from "../../support/base/longTests.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { until } from "../../support/base/until.ts";
import { outsideServer } from "../../support/infra/externalServers.ts";
import { hostileServer, MISDEEDS, SILENCES } from "../../support/infra/hostileServer.ts";

const seed = Number(process.env.ARBOR_TEST_SEED ?? Date.now() % 1_000_000);
const here = { allowPrivate: true, timeoutMs: 250, maxBytes: 50_000 };
const anchor = (url: string, text: string) => ({ url, hash: hash256(utf8(text)) });
const nameOf = (name: string) => JSON.stringify({ body: { givenName: name } });

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
let misdeeds: string[];
let hostile: string;
/** What the hostile server does when `misdeeds` is empty. */
let last: string;
beforeEach(async () => {
  [misdeeds, last] = [[], "nothing"];
  const server = await hostileServer(() => misdeeds.shift() ?? last);
  ends.push(server.stop);
  hostile = server.url;
});

test("a request has a result, whatever the server does", async () => {
  await Promise.all(MISDEEDS.map(async (misdeed) => {
    const server = await hostileServer(() => misdeed);
    ends.push(server.stop);
    const pool = { pool: "ab".repeat(28), url: server.url, hash: "00".repeat(32) };
    const { ok } = await fetchOutside(server.url, here);
    expect([misdeed, typeof ok]).toEqual([misdeed, "boolean"]);
    for (const source of ["direct", server.url] as const) {
      expect([misdeed, (await fetchMetadata(source as "direct", pool, here)).ok]).toEqual([misdeed, false]);
    }
    expect(["unavailable", "unreachable"]).toContain(await smashHealth(server.url, here));
    const delisted = await fetchDelisted(server.url, here);
    expect(delisted.ok ? delisted.value : []).toEqual([]);
  }));
});

test(`assets have their metadata again after each misdeed of the server (seed ${seed})`, async () => {
  const random = seeded(seed);
  const server = await outsideServer(({ body }) => {
    const { subjects } = body as { subjects: readonly string[] };
    const named = subjects.map((subject) => ({
      subject,
      name: { value: subject.slice(-4) },
      description: { value: "" },
    }));
    return { body: { subjects: named } };
  });
  ends.push(server.stop);
  const ways: string[] = [];
  // the hostile server and the good one take turns behind one address
  const front = await outsideServer(() => {
    const way = ways.shift() ?? server.url;
    return { status: 307, headers: { location: way === server.url ? `${way}/metadata/query` : way } };
  });
  ends.push(front.stop);
  const tokens = new TokenServer({ url: front.url, fetch: here, log: silentLog, keepFailedMs: 0 });
  const ending = MISDEEDS.filter((one) => !SILENCES.includes(one));
  for (let round = 0; round < cases(20, 200); round++) {
    misdeeds = [ending[Math.floor(random() * ending.length)]!];
    ways.push(hostile);
    const subject = `${"ab".repeat(28)}${round.toString(16).padStart(4, "0")}`;
    const first = (await tokens.find([subject])).get(subject);
    expect([misdeeds, first?.metadata]).toEqual([[], undefined]);
    const again = await tokens.find([subject]);
    expect(again.get(subject)).toMatchObject(first?.error ? { metadata: { name: subject.slice(-4) } } : {});
  }
});

test("an asset whose metadata is too large fails alone", async () => {
  const large = "ff".repeat(28);
  const server = await outsideServer(({ body }) => {
    const { subjects } = body as { subjects: readonly string[] };
    const description = (one: string) => ({ value: one === large ? "x".repeat(17_000_000) : "" });
    return {
      body: {
        subjects: subjects.map((one) => ({
          subject: one,
          name: { value: one.slice(-4) },
          description: description(one),
        })),
      },
    };
  });
  ends.push(server.stop);
  const tokens = new TokenServer({ url: server.url, fetch: { allowPrivate: true }, log: silentLog });
  const good = ["aa", "bb", "cc"].map((one) => one.repeat(28));
  const found = await tokens.find([good[0]!, large, ...good.slice(1)]);
  expect(good.map((one) => found.get(one)?.metadata?.name)).toEqual(good.map((one) => one.slice(-4)));
  expect(found.get(large)).toEqual({ error: "fetch" });
});

test("DReps whose servers never respond, and those that misbehave, delay no other", async () => {
  const good = await outsideServer(({ path }) => ({ body: nameOf(path.slice(1)) }));
  ends.push(good.stop);
  // more than there are places, before the others, and none of them ever ends
  last = "no answer";
  misdeeds = MISDEEDS.filter((one) => !SILENCES.includes(one));
  const bad = Array.from({ length: 60 }, (_, i) => anchor(`${hostile}/${i}`, "x"));
  const others = Array.from({ length: 20 }, (_, i) => anchor(`${good.url}/${i}`, nameOf(String(i))));
  const unused = () => Promise.reject(new Error("unused"));
  const port = { dreps: unused, drepStatus: unused };
  const book = new DrepBook({ port, fetch: { allowPrivate: true, timeoutMs: 3_600_000 }, slowMs: 1 });
  const waited = book.fetchMissing([...bad, ...others], 3_600_000);
  await until("the others have names", async () => others.every((one) => book.cached(one) !== undefined));
  expect(others.map((one) => book.cached(one)?.name)).toEqual(others.map((_, i) => String(i)));
  let over = false;
  void waited.then(() => over = true);
  await Promise.resolve();
  expect(over).toBe(false);
});

test("turns: in order, and what is slow leaves its place", async () => {
  const turns = new OutsideTurns({ most: 1, slowMs: 1 });
  const begun: number[] = [];
  const never = new Promise<never>(() => {});
  void turns.run(() => (begun.push(0), never));
  const failed = turns.run(() => (begun.push(1), Promise.reject(new Error("no"))));
  const done = turns.run(() => (begun.push(2), Promise.resolve("done")));
  await expect(failed).rejects.toThrow("no");
  expect(await done).toBe("done");
  expect(begun).toEqual([0, 1, 2]);
});
