import { describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { operatorApp } from "#src/operators/http/app.ts";
import { isLoopback } from "#src/http/sites.ts";
import type { GuardOptions } from "#src/operators/http/guard.ts";

const TOKEN = "a token, but without spaces".replaceAll(" ", "-");

/** The status that the guard gives a request; 200 if it passes. */
async function status(
  guard: GuardOptions,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  const app = operatorApp({
    guard,
    parts: [(app) => void app.all("*", (c) => c.text("through"))],
    log: silentLog,
  });
  // A plain object: a `Request` does not allow every host header.
  const request = new Request(`http://127.0.0.1:8091${path}`, { method });
  const all = new Headers(Object.entries(headers));
  const proxy = new Proxy(request, {
    get: (target, name) => name === "headers" ? all : Reflect.get(target, name, target),
  });
  return (await app.fetch(proxy)).status;
}

const here = { host: "127.0.0.1:8091" };
const loopback: GuardOptions = { loopback: true };
const open: GuardOptions = { loopback: false, token: TOKEN };
const bearer = { authorization: `Bearer ${TOKEN}` };

describe("the guard on loopback", () => {
  it.each(["127.0.0.1", "127.0.0.1:1", "127.0.0.2:8091", "localhost", "LocalHost:8091", "[::1]", "[::1]:8091"])(
    "accepts %s",
    async (host) => {
      expect(await status(loopback, "GET", "/kinds", { host })).toBe(200);
    },
  );

  it.each([
    "",
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.",
    "127.0.0.1:",
    "127.0.0.1:8091:1",
    "::1",
    "0.0.0.0",
    "127.0.0.2.evil.example",
    "128.0.0.1",
  ])(
    "refuses the host %j",
    async (host) => {
      expect(await status(loopback, "GET", "/kinds", { host })).toBe(403);
    },
  );

  it.each([
    "http://evil.example",
    "null",
    "",
    "https://127.0.0.1:8091",
    "http://127.0.0.1:8092",
    "http://localhost:8091",
  ])(
    "refuses the origin %j",
    async (origin) => {
      expect(await status(loopback, "GET", "/kinds", { ...here, origin })).toBe(403);
    },
  );

  it("accepts its own origin", async () => {
    expect(await status(loopback, "GET", "/kinds", { ...here, origin: "http://127.0.0.1:8091" })).toBe(200);
  });

  it("refuses a load from a page of another site, and accepts a link to a page", async () => {
    for (const site of ["cross-site", "same-site"]) {
      const from = (mode: string) => ({ ...here, "sec-fetch-site": site, "sec-fetch-mode": mode });
      expect(await status(loopback, "GET", "/events", from("no-cors"))).toBe(403);
      expect(await status(loopback, "GET", "/ui/assets/app.js", from("no-cors"))).toBe(403);
      expect(await status(loopback, "GET", "/actors/token/x", from("navigate"))).toBe(403);
      expect(await status(loopback, "POST", "/", from("navigate"))).toBe(403);
      expect(await status(loopback, "GET", "/ui/actors/token/x", from("navigate"))).toBe(200);
      expect(await status(open, "GET", "/kinds", { ...from("no-cors"), ...bearer })).toBe(403);
    }
    for (const site of ["same-origin", "none"]) {
      expect(await status(loopback, "GET", "/events", { ...here, "sec-fetch-site": site })).toBe(200);
    }
  });

  it.each(["POST", "PUT", "DELETE", "PATCH"])("requires the header with a %s", async (method) => {
    expect(await status(loopback, method, "/kinds", here)).toBe(403);
    expect(await status(loopback, method, "/kinds", { ...here, "arbor-operator": "" })).toBe(403);
    expect(await status(loopback, method, "/kinds", { ...here, "arbor-operator": "1" })).toBe(200);
  });

  it("requires a token if one is set", async () => {
    const guard = { loopback: true, token: TOKEN };
    expect(await status(guard, "GET", "/kinds", here)).toBe(401);
    expect(await status(guard, "GET", "/kinds", { ...here, ...bearer })).toBe(200);
    expect(await status(guard, "GET", "/kinds", { host: "evil.example", ...bearer })).toBe(403);
  });
});

describe("the guard elsewhere", () => {
  it("requires a token", () => {
    expect(() => operatorApp({ guard: { loopback: false }, parts: [], log: silentLog })).toThrow(TypeError);
  });

  it.each(["", "Bearer", TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Bearer x ${TOKEN}`])(
    "does not accept %j as a token",
    async (authorization) => {
      expect(await status(open, "GET", "/kinds", { host: "arbor.example", authorization })).toBe(401);
      expect(await status(open, "GET", "/openapi.json", { host: "arbor.example", authorization })).toBe(401);
    },
  );

  it.each(["/", "/ui", "/ui/assets/app.js", "/favicon.ico", "/health", "/ready"])(
    "gives %s to every client",
    async (path) => {
      expect(await status(open, "GET", path, { host: "arbor.example" })).toBe(200);
      expect(await status(open, "POST", path, { host: "arbor.example", "arbor-operator": "1" })).toBe(401);
    },
  );

  it.each(["/kinds", "/uix", "/health/x", "/readyx", "//", "/ui/../kinds", "/UI/x", "/metrics", "/events"])(
    "gives %s to no client",
    async (path) => {
      expect(await status(open, "GET", path, { host: "arbor.example" })).toBe(401);
    },
  );

  it("accepts the token with any host, from its own origin, plain or behind TLS", async () => {
    const host = { host: "arbor.example", ...bearer };
    expect(await status(open, "GET", "/kinds", host)).toBe(200);
    expect(await status(open, "GET", "/kinds", { ...host, origin: "https://arbor.example" })).toBe(200);
    expect(await status(open, "GET", "/kinds", { ...host, origin: "http://arbor.example" })).toBe(200);
    expect(await status(open, "GET", "/kinds", { ...host, origin: "https://evil.example" })).toBe(403);
    expect(await status(open, "POST", "/kinds", host)).toBe(403);
    expect(await status(open, "POST", "/kinds", { ...host, "arbor-operator": "yes" })).toBe(200);
  });
});

describe("loopback", () => {
  it.each(["127.0.0.1", "127.1.2.3", "localhost", "::1", "[::1]"])(
    "is %s",
    (host) => expect(isLoopback(host)).toBe(true),
  );
  it.each(["0.0.0.0", "::", "192.168.0.1", "arbor.example", "127.evil.example", ""])(
    "is not %j",
    (host) => expect(isLoopback(host)).toBe(false),
  );
});
