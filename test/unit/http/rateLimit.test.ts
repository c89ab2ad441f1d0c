/** How many requests of one client are accepted, and how clients are distinguished. */
import { describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { buildLimit, type RateLimit, rateLimit } from "#src/http/rateLimit.ts";
import { publicApp } from "#src/http/service.ts";

function service(limit: Omit<RateLimit, "builds">) {
  let now = 0;
  const app = publicApp("tokens", silentLog);
  app.use(rateLimit({ ...limit, builds: 0 }, () => now));
  app.get("/", (c) => c.text("taken"));
  const ask = async (address: string, forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
    return await app.request("/", { headers }, { address });
  };
  const statuses = async (count: number, address: string, forwarded?: string) => {
    const all = [];
    for (let i = 0; i < count; i++) all.push((await ask(address, forwarded)).status);
    return all;
  };
  return { ask, statuses, pass: (ms: number) => void (now += ms) };
}

describe("a limit of two requests a second", () => {
  const limit = { perSecond: 2, proxies: 0 };

  it("accepts four at once, then two a second, for each client separately", async () => {
    const { ask, statuses, pass } = service(limit);
    expect(await statuses(6, "10.0.0.1")).toEqual([200, 200, 200, 200, 429, 429]);
    const refused = await ask("10.0.0.1");
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toEqual({
      code: "rate_limited",
      error: expect.any(String),
      details: { perSecond: 2 },
    });
    expect(await statuses(1, "10.0.0.2")).toEqual([200]);
    pass(1_000);
    expect(await statuses(3, "10.0.0.1")).toEqual([200, 200, 429]);
    pass(3_600_000);
    expect(await statuses(5, "10.0.0.1")).toEqual([200, 200, 200, 200, 429]);
  });

  it("counts an IPv6 network of 64 bits as one client, and IPv4 in either form", async () => {
    const { statuses } = service(limit);
    expect(await statuses(4, "2001:db8:1:2::1")).toEqual([200, 200, 200, 200]);
    expect(await statuses(1, "2001:db8:1:2:ffff::2")).toEqual([429]);
    expect(await statuses(1, "2001:0db8:0001:0002::3")).toEqual([429]);
    expect(await statuses(1, "2001:db8:1:3::1")).toEqual([200]);
    expect(await statuses(4, "::ffff:10.0.0.9")).toEqual([200, 200, 200, 200]);
    expect(await statuses(1, "10.0.0.9")).toEqual([429]);
  });

  it("does not trust a client's claim of its address", async () => {
    const { statuses } = service(limit);
    expect(await statuses(4, "10.0.0.1", "1.1.1.1")).toEqual([200, 200, 200, 200]);
    expect(await statuses(1, "10.0.0.1", "2.2.2.2")).toEqual([429]);
    const proxied = service({ ...limit, proxies: 2 });
    expect(await proxied.statuses(4, "10.0.0.1", "9.9.9.9, 1.1.1.1, 10.0.0.2")).toEqual([200, 200, 200, 200]);
    expect(await proxied.statuses(1, "10.0.0.1", "8.8.8.8, 1.1.1.1, 10.0.0.2")).toEqual([429]);
    expect(await proxied.statuses(1, "10.0.0.1", "1.1.1.1, 2.2.2.2, 10.0.0.2")).toEqual([200]);
  });
});

it("without a limit all are accepted", async () => {
  const { statuses } = service({ perSecond: 0, proxies: 0 });
  expect(new Set(await statuses(50, "10.0.0.1"))).toEqual(new Set([200]));
});

it("two builds of one client run at a time, however many it requests; other clients are not delayed", async () => {
  const app = publicApp("tokens", silentLog);
  app.use("/build/:address/*", buildLimit({ builds: 2, proxies: 0 }));
  const ends: (() => void)[] = [];
  app.get("/build/:address/boot", async (c) => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return c.text("built");
  });
  app.get("/read", (c) => c.text("read"));
  const ask = async (address: string, path = "/build/a/boot") => await app.request(path, {}, { address });
  const [first, second] = [ask("10.0.0.1"), ask("10.0.0.1")];
  const refused = await ask("10.0.0.1");
  expect([refused.status, refused.headers.get("retry-after"), (await refused.json()).code])
    .toEqual([429, "1", "too_many_builds"]);
  expect((await ask("10.0.0.1", "/read")).status).toBe(200);
  const other = ask("10.0.0.2");
  await expect.poll(() => ends.length).toBe(3);
  ends[0]!();
  expect((await first).status).toBe(200);
  const third = ask("10.0.0.1");
  await expect.poll(() => ends.length).toBe(4);
  ends.forEach((end) => end());
  expect(await Promise.all([second, other, third]).then((all) => all.map(({ status }) => status))).toEqual([
    200,
    200,
    200,
  ]);
});
