/**
 * The response cache: a response is repeated while the snapshot is the same, computed again when it changes, and never
 * older than its limit.
 */
import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { cacheFor, cacheWhileUnchanged, coalesce } from "#src/http/responseCache.ts";
import type { ResponseCache } from "#src/http/route.ts";
import type { Queries } from "#src/store/store.ts";

/** A service with one endpoint, whose responses count how often they were computed. */
function service(
  keep: ResponseCache,
  answer: (made: number) => { body: string; status?: 200 | 404 } = (n) => ({ body: `${n}` }),
) {
  const app = new Hono();
  let made = 0;
  app.get("*", (c) =>
    keep(c, () => {
      const { body, status = 200 } = answer(++made);
      c.header("Link", `<${made}>`);
      return Promise.resolve(c.body(body, status, { "content-type": "text/plain" }));
    }));
  return async (path = "/one") => {
    const response = await app.request(path);
    return [await response.text(), response.headers.get("link"), response.headers.get("content-type")];
  };
}

/** A database that reports one snapshot after the other, and how often it was queried. */
function database() {
  const now = { snapshot: "10:10:", queryCount: 0 };
  const sql = () => {
    now.queryCount++;
    return Promise.resolve([{ snapshot: now.snapshot }]);
  };
  return { now, sql: sql as unknown as Queries };
}

describe("answers made from the database alone", () => {
  it("are cached from the second request on, with their headers, until the snapshot changes", async () => {
    const { now, sql } = database();
    const ask = service(cacheWhileUnchanged(sql));
    expect(await ask()).toEqual(["1", "<1>", "text/plain"]);
    expect(now.queryCount).toBe(0);
    expect(await ask()).toEqual(["2", "<2>", "text/plain"]);
    expect(await ask()).toEqual(["2", "<2>", "text/plain"]);
    expect(await ask("/one?other")).toEqual(["3", "<3>", "text/plain"]);
    now.snapshot = "10:11:10";
    expect(await ask()).toEqual(["4", "<4>", "text/plain"]);
    expect(await ask()).toEqual(["4", "<4>", "text/plain"]);
  });

  it("are not cached under a snapshot that changed while they were computed", async () => {
    const { now, sql } = database();
    const ask = service(cacheWhileUnchanged(sql), (made) => {
      if (made === 2) now.snapshot = "11:11:";
      return { body: `${made}` };
    });
    await ask();
    expect((await ask())[0]).toBe("2");
    expect((await ask())[0]).toBe("3");
    expect((await ask())[0]).toBe("3");
  });

  it("are computed again after a second, and refusals each time", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const { sql } = database();
      const ask = service(cacheWhileUnchanged(sql));
      await ask();
      await ask();
      vi.advanceTimersByTime(999);
      expect((await ask())[0]).toBe("2");
      vi.advanceTimersByTime(1);
      expect((await ask())[0]).toBe("3");
    } finally {
      vi.useRealTimers();
    }
    const refusing = service(cacheWhileUnchanged(database().sql), (made) => ({ body: `${made}`, status: 404 }));
    expect([(await refusing())[0], (await refusing())[0], (await refusing())[0]]).toEqual(["1", "2", "3"]);
  });

  it("take no more memory than the limit, and a too large one none", async () => {
    const { sql } = database();
    const large = service(cacheWhileUnchanged(sql), (made) => ({ body: `${made}`.padEnd(2 ** 21 + 1) }));
    for (const expected of ["1", "2", "3"]) expect((await large())[0]!.trim()).toBe(expected);
    const half = service(cacheWhileUnchanged(sql), (made) => ({ body: `${made}`.padEnd(2 ** 20) }));
    for (let i = 0; i < 17; i++) await half(`/${i}`);
    for (let i = 16; i > 0; i--) await half(`/${i}`);
    expect((await half("/1"))[0]!.trim()).toBe("33");
    expect((await half("/0"))[0]!.trim()).toBe("34");
  });
});

it("responses with a maximum age are computed again after it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const ask = service(cacheFor(50));
    expect((await ask())[0]).toBe("1");
    vi.advanceTimersByTime(49);
    expect((await ask())[0]).toBe("1");
    vi.advanceTimersByTime(1);
    expect((await ask())[0]).toBe("2");
  } finally {
    vi.useRealTimers();
  }
});

it("requests during a query share the next query, which starts after all of them arrived", async () => {
  const begun: ((value: number) => void)[] = [];
  const ask = coalesce(() => new Promise<number>((resolve) => begun.push(resolve)));
  const first = ask();
  const [second, third] = [ask(), ask()];
  expect(begun.length).toBe(1);
  begun[0]!(1);
  expect(await first).toBe(1);
  await vi.waitFor(() => expect(begun.length).toBe(2));
  const fourth = ask();
  begun[1]!(2);
  expect(await Promise.all([second, third])).toEqual([2, 2]);
  await vi.waitFor(() => expect(begun.length).toBe(3));
  begun[2]!(3);
  expect(await fourth).toBe(3);
});
