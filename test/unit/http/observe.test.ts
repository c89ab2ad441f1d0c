/** What is recorded about a request: its id, its line, its metrics, and nothing that could be secret. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createLog } from "#src/base/log.ts";
import { metrics } from "#src/base/metrics.ts";
import { requestId } from "#src/base/request.ts";
import { handleErrors } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { observe } from "#src/http/observe.ts";
import { endpoint } from "#src/http/route.ts";
import { exposition } from "../../support/runtime/prometheusText.ts";

function service(name: string, level: "debug" | "info" = "info") {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(level, {}, (line) => void lines.push(JSON.parse(line)));
  const app = new OpenAPIHono();
  handleErrors(app, log);
  app.use(observe(name, log));
  const answer = z.object({ request: z.string() });
  endpoint(app, "get", "/thing/:id", { summary: "One", params: { id: z.string() }, answer }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return { request: requestId() };
  });
  endpoint(
    app,
    "post",
    "/thing",
    {
      summary: "Make",
      query: { passphrase: z.string().optional() },
      body: z.object({ secret: z.string() }),
      answer,
    },
    () => Promise.reject(new Error("it broke")),
  );
  endpoint(app, "get", "/gone", { summary: "None", answer }, () => {
    throw new HttpFailure(404, "thing_unknown", "There is none.");
  });
  app.get("/raw", () => new Response("raw"));
  app.get("/health", (c) => c.json({ status: "alive" }));
  return { app, lines };
}

const counted = async (name: string) =>
  exposition(await metrics.text()).get("arbor_http_requests_total")!.samples
    .filter(({ labels }) => labels.service === name)
    .map(({ labels, value }) => [labels.method, labels.route, labels.status, value]);

describe("a request", () => {
  it("keeps the client's id, or gets one, which its handler knows and its response has", async () => {
    const { app, lines } = service("ids");
    const own = await app.request("/thing/1", { headers: { "X-Request-Id": "mine-1" } });
    expect(own.headers.get("x-request-id")).toBe("mine-1");
    expect(await own.json()).toEqual({ request: "mine-1" });
    const odd = await app.request("/thing/1", { headers: { "X-Request-Id": "a b" } });
    const id = odd.headers.get("x-request-id");
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await odd.json()).toEqual({ request: id });
    expect((await app.request("/raw", { headers: { "X-Request-Id": "r" } })).headers.get("x-request-id")).toBe("r");
    expect((await app.request("/nowhere", { headers: { "X-Request-Id": "n" } })).headers.get("x-request-id")).toBe("n");
    expect(lines.map(({ request }) => request)).toEqual(["mine-1", id, "r", "n"]);
  });

  it("is counted by its declared route and its status", async () => {
    const { app } = service("routes");
    for (const path of ["/thing/1", "/thing/2", "/gone", "/no/such/thing", "/else"]) await app.request(path);
    await app.request("/thing", { method: "POST", body: '{"secret":"s"}' });
    await app.request("/thing", { method: "BREW" });
    expect(await counted("routes")).toEqual([
      ["GET", "/thing/:id", "200", 2],
      ["GET", "/gone", "404", 1],
      ["GET", "unmatched", "404", 2],
      ["POST", "/thing", "500", 1],
      ["OTHER", "unmatched", "405", 1],
    ]);
    const under = exposition(await metrics.text()).get("arbor_http_requests_under_way")!.samples;
    expect(under.find(({ labels }) => labels.service === "routes")?.value).toBe(0);
  });

  it("leaves a line with its id, also if it failed, without body, header or query", async () => {
    const { app, lines } = service("lines");
    await app.request("/thing?passphrase=hush", {
      method: "POST",
      body: '{"secret":"hush"}',
      headers: { "X-Request-Id": "one", authorization: "Bearer hush" },
    });
    expect(lines).toMatchObject([
      { level: "error", message: "a request failed", request: "one", reason: "it broke" },
      { level: "info", service: "lines", request: "one", method: "POST", path: "/thing", route: "/thing", status: 500 },
    ]);
    expect(JSON.stringify(lines)).not.toContain("hush");
  });

  it("of a health check leaves its line at debug level alone", async () => {
    const usual = service("quiet");
    await usual.app.request("/health");
    expect(usual.lines).toEqual([]);
    const all = service("loud", "debug");
    await all.app.request("/health");
    expect(all.lines).toMatchObject([{ level: "debug", route: "/health", status: 200 }]);
  });
});
