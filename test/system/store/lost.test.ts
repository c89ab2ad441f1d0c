/** Connections that are lost at any moment: every query is answered or refused soon, nothing escapes, and the next one works. */
import process from "node:process";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { isRetryable, openStore, type Store } from "#src/store/store.ts";
import { sharedInfra } from "../../support/infra.ts";
import { seeded } from "../../support/random.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let proxy: Server;
let store: Store;
const sockets = new Set<Socket>();

/** Ends every connection, in order or with a reset. */
function cut(reset: boolean): void {
  for (const socket of sockets) {
    if (reset) socket.resetAndDestroy();
    else socket.end();
  }
}

beforeAll(async () => {
  infra = await sharedInfra();
  const server = new URL(infra.databaseUrl);
  proxy = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname);
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(infra.databaseUrl);
  url.port = String((proxy.address() as { port: number }).port);
  store = openStore(url.href, { max: 4 });
  await store.sql`create table counter (n int)`;
});
afterAll(async () => {
  const closing = await timed(store.close());
  expect(closing.took).toBeLessThan(7_000);
  cut(true);
  await new Promise((resolve) => proxy.close(resolve));
  await infra?.stop();
});

/** The outcome of some work and how long it took, in ms. */
async function timed(work: Promise<unknown>): Promise<{ error: unknown; took: number }> {
  const started = performance.now();
  const error = await work.then(() => undefined, (error: unknown) => error ?? new Error("nothing"));
  return { error, took: performance.now() - started };
}

const escaped: unknown[] = [];

test.each([["in order", false], ["with a reset", true]])("connections that end %s", async (_, reset) => {
  const note = (error: unknown) => void escaped.push(error);
  process.on("uncaughtException", note);
  const random = seeded(reset ? 1 : 2);
  let lost = 0;
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
    ].map((each) => timed(each));
    await sleep(random() * 25);
    cut(reset);
    for (const { error, took } of await Promise.all(work)) {
      if (error !== undefined) {
        expect(isRetryable(error)).toBe(true);
        lost++;
      }
      expect(took).toBeLessThan(5_000);
    }
    const next = await timed(store.sql.begin(async (sql) => void await sql`select 1`));
    expect(next).toMatchObject({ error: undefined });
    expect(next.took).toBeLessThan(3_000);
  }
  process.off("uncaughtException", note);
  expect(escaped).toEqual([]);
  expect(lost).toBeGreaterThan(10);
});
