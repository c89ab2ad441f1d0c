import { OpenAPIHono } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readOptions } from "#src/app/options.ts";
import { silentLog } from "#src/base/log.ts";
import { handleErrors, retryAfter } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { page, readCursor } from "#src/operators/http/cursor.ts";
import { cursorText } from "#src/http/paging.ts";
import { memo } from "#src/http/memo.ts";
import { metricsRoutes } from "#src/operators/http/metrics.ts";
import type { Store } from "#src/store/store.ts";
import { endpoint } from "#src/http/route.ts";

describe("a cursor", () => {
  const place = z.object({ kind: z.string(), id: z.string() });

  it("is text without any character that a URL would escape", () => {
    const text = cursorText({ kind: "token", id: "ü/?&=+#% 🌳" });
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(readCursor(text, place)).toEqual({ kind: "token", id: "ü/?&=+#% 🌳" });
  });

  it.each(["", "!", "e30", "eyJ", cursorText(12), cursorText(null), cursorText({ kind: 1, id: "x" })])(
    "is not %j",
    (text) => {
      expect(() => readCursor(text, place)).toThrow(expect.objectContaining({ status: 400, code: "bad_cursor" }));
    },
  );

  it("is missing after the last page", () => {
    expect(readCursor(undefined, place)).toBeUndefined();
    expect(page([1, 2], 3, (last) => last)).toBeNull();
    expect(page([], 3, (last) => last)).toBeNull();
    expect(page([1, 2, 3], 3, (last) => last)).toBe(cursorText(3));
  });
});

describe("memo", () => {
  it("computes once for concurrent callers, and again when the value is old", async () => {
    let found = 0;
    const get = memo(20, async () => ++found);
    expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1]);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(await get()).toBe(2);
  });

  it("is not computed again during a computation, and is valid for longer if that took longer", async () => {
    let found = 0;
    const get = memo(1, async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return ++found;
    }, 1_000);
    const first = get();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await Promise.all([first, get()])).toEqual([1, 1]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await get()).toBe(1);
  });

  it("stores no failure", async () => {
    let tries = 0;
    const get = memo(60_000, async () => {
      if (++tries === 1) throw new Error("away");
      return tries;
    });
    await expect(get()).rejects.toThrow("away");
    expect(await get()).toBe(2);
  });
});

describe("metrics", () => {
  it("are served although the database does not answer, with those of rows as NaN", async () => {
    const app = new OpenAPIHono();
    const sql = Object.assign(() => new Promise(() => {}), { unsafe: () => new Promise(() => {}) });
    metricsRoutes({ store: { sql } as unknown as Store, log: silentLog })(app);
    const text = await (await app.request("/metrics")).text();
    expect(text).toMatch(/^arbor_database_reachable 0$/m);
    expect(text).toMatch(/^arbor_outbox_unpublished NaN$/m);
  });
});

describe("an answer of 503", () => {
  it("has Retry-After, and no other response does", async () => {
    const app = new OpenAPIHono();
    handleErrors(app, silentLog);
    endpoint(app, "get", "/fail/:status", {
      summary: "Fails",
      params: { status: z.coerce.number() },
      answer: z.object({}),
    }, async ({ params }) => {
      throw new HttpFailure(params.status as 503, "busy", "Busy.");
    });
    const busy = await app.request("/fail/503");
    expect(busy.status).toBe(503);
    expect(busy.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect((await app.request("/fail/409")).headers.get("retry-after")).toBeNull();
    expect([retryAfter(), retryAfter("overloaded"), retryAfter("too_many_readers")]).toEqual(["1", "1", "5"]);
  });
});

describe("an optional body", () => {
  const app = new OpenAPIHono();
  handleErrors(app, silentLog);
  const answer = z.object({ got: z.unknown() });
  const body = z.object({ to: z.string().optional() });
  endpoint(app, "post", "/may", { summary: "May", body: body.optional(), answer }, async ({ body }) => ({
    got: body ?? null,
  }));
  endpoint(app, "post", "/must", { summary: "Must", body, answer }, async ({ body }) => ({ got: body }));

  it("may be empty or an object, and nothing else", async () => {
    const post = async (path: string, text?: string) => {
      const response = await app.request(path, { method: "POST", ...(text === undefined ? {} : { body: text }) });
      return [response.status, await response.json()];
    };
    expect(await post("/may")).toEqual([200, { got: null }]);
    expect(await post("/may", " ")).toEqual([200, { got: null }]);
    expect(await post("/may", '{"to":"x"}')).toEqual([200, { got: { to: "x" } }]);
    expect(await post("/may", "{")).toMatchObject([400, { code: "malformed_json" }]);
    expect(await post("/may", "[]")).toMatchObject([400, { code: "bad_request" }]);
    expect(await post("/must")).toMatchObject([400, { code: "malformed_json" }]);
  });
});

describe("a start", () => {
  const read = (args: string[], env: Record<string, string> = {}) => readOptions(args, env);

  it("has the operator service on loopback and on its port", () => {
    expect(read([])).toMatchObject({ ok: true, value: { operatorHost: "127.0.0.1", operatorPort: 8091 } });
    expect(read([], { ARBOR_OPERATOR_PORT: "1234" })).toMatchObject({ ok: true, value: { operatorPort: 1234 } });
  });

  it("beyond loopback is refused without a token, with a message", () => {
    const refused = read(["--host", "0.0.0.0"]);
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining("--operator-token") } });
    expect(read(["--operator-host", "192.168.1.2"])).toMatchObject({ ok: false });
    expect(read(["--host", "0.0.0.0", "--operator-token", "0123456789abcdef"])).toMatchObject({
      ok: true,
      value: { operatorHost: "0.0.0.0", operatorToken: "0123456789abcdef" },
    });
    expect(read(["--host", "0.0.0.0", "--operator-host", "127.0.0.1"])).toMatchObject({ ok: true });
    // A process without the edge role serves no operators.
    expect(read(["--host", "0.0.0.0", "--roles", "worker"])).toMatchObject({ ok: true });
  });

  it("refuses a token that is short or has a space", () => {
    expect(read(["--operator-token", "0123456789abcde"])).toMatchObject({ ok: false });
    expect(read(["--operator-token", "0123456789 abcdef"])).toMatchObject({ ok: false });
  });

  it("sends webhooks to no private address and bounds mailboxes by default", () => {
    expect(read([])).toMatchObject({ value: { webhooksPrivate: false, mailbox: { entity: 1_024, all: 16_384 } } });
    expect(read(["--mailbox", "10"], { ARBOR_WEBHOOKS_PRIVATE: "true" })).toMatchObject({
      value: { webhooksPrivate: true, mailbox: { entity: 10, all: 160 } },
    });
    expect(read(["--webhooks-private", "yes"])).toMatchObject({ ok: false });
    expect(read(["--mailbox", "0"])).toMatchObject({ ok: false });
    expect(read([])).toMatchObject({ value: { actorsInMemory: 20_000, eventReaders: 1_000 } });
    expect(read(["--event-readers", "5000"], { ARBOR_ACTORS_IN_MEMORY: "7" })).toMatchObject({
      value: { actorsInMemory: 7, eventReaders: 5_000 },
    });
  });

  it("has options for retention times", () => {
    expect(read([])).toMatchObject({
      value: { keep: { results: 24, history: 720, effects: 24, deadLetters: 720 } },
    });
    expect(read(["--keep-results-hours", "48"], { ARBOR_KEEP_HISTORY_HOURS: "8760" })).toMatchObject({
      value: { keep: { results: 48, history: 8_760 } },
    });
    expect(read(["--keep-results-hours", "0"])).toMatchObject({ ok: false });
  });
});
