/** Requests that are not completed, on a listener with short deadlines. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { silentLog } from "#src/base/log.ts";
import { buildLimit } from "#src/http/rateLimit.ts";
import { addEndpoint, endpoint, PLAIN } from "#src/http/route.ts";
import { type Listener, serve } from "#src/http/serve.ts";
import { publicApp } from "#src/http/service.ts";
import { halfBody, halfHead, unfinished } from "../../support/infra/unfinishedRequests.ts";

/** Concurrent builds allowed for one client. */
const BUILDS = 2;
const KEY = "k".repeat(1_000);

describe("a listener", () => {
  let listener: Listener;
  const url = (path: string) => `http://127.0.0.1:${listener.port}${path}`;
  const build = (body: BodyInit) =>
    fetch(url("/build"), { method: "POST", body, headers: { "content-type": "application/json" } });

  beforeAll(async () => {
    const app = publicApp("slow", silentLog);
    const limited = buildLimit({ builds: BUILDS, proxies: 0 });
    const manner = { ...PLAIN, limits: { time: { longestMs: 10_000, rate: 1_000, graceMs: 500 } } };
    const body = z.object({ key: z.string() });
    addEndpoint(
      manner,
      app,
      "post",
      "/build",
      { summary: "Build", body, answer: z.unknown() },
      ({ body: { key }, context }) => limited(context, () => Promise.resolve({ length: key.length })),
    );
    endpoint(
      app,
      "get",
      "/read",
      { summary: "Read", query: { prefix: z.string().optional() }, answer: z.unknown() },
      ({ query }) => Promise.resolve({ prefix: query.prefix?.length ?? 0 }),
    );
    listener = await serve(app, { host: "127.0.0.1", port: 0, headersMs: 500, idleMs: 500 });
  });
  afterAll(async () => {
    await listener?.stop();
  });

  it("ends connections that send nothing, and incomplete heads, with 408", async () => {
    const [silent, half] = [
      await unfinished(listener.port, 20, () => ""),
      await unfinished(listener.port, 20, () => halfHead("/read")),
    ];
    await Promise.all([silent.ended(60_000), half.ended(60_000)]);
    for (const answer of [...silent.answers, ...half.answers]) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(half.answers).toHaveLength(20);
  });

  it("does not wait longer for a head that arrives byte by byte", async () => {
    const socket = connect(listener.port, "127.0.0.1");
    socket.write(halfHead("/read"));
    const drip = setInterval(() => socket.write("x"), 50);
    const answer = await new Promise<string>((resolve) => {
      let text = "";
      socket.on("data", (part) => text += part);
      socket.on("error", () => {});
      socket.on("close", () => resolve(text));
    });
    clearInterval(drip);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("answers bodies that do not arrive in time with 408, announced or not, and ends their connections", async () => {
    const bodies = await unfinished(listener.port, 20, (i) => halfBody("/build", i % 2 === 0 ? 100 : undefined));
    await bodies.ended(60_000);
    expect(bodies.answers).toHaveLength(20);
    for (const answer of bodies.answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      expect(answer).toContain('"code":"body_too_slow"');
    }
  });

  it("accepts a body that arrives slowly but steadily", async () => {
    const text = JSON.stringify({ key: KEY });
    const pieces = [text.slice(0, 300), text.slice(300, 600), text.slice(600)];
    const body = new ReadableStream({
      pull: async (controller) => {
        const piece = pieces.shift();
        if (piece === undefined) return controller.close();
        controller.enqueue(new TextEncoder().encode(piece));
        await new Promise((resolve) => setTimeout(resolve, 100));
      },
    });
    const answer = await fetch(url("/build"), { method: "POST", body, duplex: "half" } as RequestInit);
    expect([answer.status, await answer.json()]).toEqual([200, { length: KEY.length }]);
  });

  it("reserves a build's slot for requests whose body has arrived", async () => {
    const bodies = await unfinished(listener.port, 10 * BUILDS, () => halfBody("/build", 60_000));
    expect(bodies.open).toBe(10 * BUILDS);
    const answer = await build(JSON.stringify({ key: KEY }));
    expect([answer.status, await answer.json()]).toEqual([200, { length: KEY.length }]);
    expect(bodies.open).toBe(10 * BUILDS);
    bodies.stop();
  });

  it("ends connections that stay idle after a response", async () => {
    const idle = await unfinished(listener.port, 5, () => "GET /read HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await idle.ended(60_000);
    for (const answer of idle.answers) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("answers other clients while hundreds of requests are unfinished", async () => {
    const crowd = await unfinished(
      listener.port,
      600,
      (i) => i % 2 === 0 ? halfHead("/read") : halfBody("/build", 60_000),
    );
    for (let i = 0; i < 20; i++) {
      expect((await fetch(url("/read"))).status).toBe(200);
      expect((await build(JSON.stringify({ key: KEY }))).status).toBe(200);
    }
    crowd.stop();
  });

  it("accepts a URL that names a key of 16 kB", async () => {
    const prefix = "\u00e9".repeat(8_192);
    const answer = await fetch(url(`/read?prefix=${encodeURIComponent(prefix)}`));
    expect([answer.status, await answer.json()]).toEqual([200, { prefix: prefix.length }]);
  });
});

it("a listener that stops answers requests that wait with 503", async () => {
  const app = publicApp("waiting", silentLog);
  let waits = () => {};
  const waiting = new Promise<void>((resolve) => waits = resolve);
  app.get("/wait", () => {
    waits();
    return new Promise<never>(() => {});
  });
  const listener = await serve(app, { host: "127.0.0.1", port: 0 });
  const answer = fetch(`http://127.0.0.1:${listener.port}/wait`);
  await waiting;
  const stopped = listener.stop();
  const { status, headers } = await answer;
  expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await (await answer).json()).toMatchObject({ code: "unavailable" });
  await stopped;
});
