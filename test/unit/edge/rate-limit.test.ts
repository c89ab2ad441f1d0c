/** How many requests of one client are taken, and who is one client. */
import { describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { type RateLimit, rateLimit } from "#src/edge/rateLimit.ts";
import { publicApp } from "#src/edge/service.ts";

function service(limit: RateLimit) {
  let now = 0;
  const app = publicApp("tokens", silentLog);
  app.use(rateLimit(limit, () => now));
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

  it("takes four at once, then two a second, of each client by itself", async () => {
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

  it("does not take a client's word for who it is", async () => {
    const { statuses } = service(limit);
    expect(await statuses(4, "10.0.0.1", "1.1.1.1")).toEqual([200, 200, 200, 200]);
    expect(await statuses(1, "10.0.0.1", "2.2.2.2")).toEqual([429]);
    const proxied = service({ ...limit, proxies: 2 });
    expect(await proxied.statuses(4, "10.0.0.1", "9.9.9.9, 1.1.1.1, 10.0.0.2")).toEqual([200, 200, 200, 200]);
    expect(await proxied.statuses(1, "10.0.0.1", "8.8.8.8, 1.1.1.1, 10.0.0.2")).toEqual([429]);
    expect(await proxied.statuses(1, "10.0.0.1", "1.1.1.1, 2.2.2.2, 10.0.0.2")).toEqual([200]);
  });
});

it("no limit takes all", async () => {
  const { statuses } = service({ perSecond: 0, proxies: 0 });
  expect(new Set(await statuses(50, "10.0.0.1"))).toEqual(new Set([200]));
});
