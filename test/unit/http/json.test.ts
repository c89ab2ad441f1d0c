import { Hono } from "hono";
import { expect, test } from "vitest";
import { z } from "zod";
import { createLog } from "#src/base/log.ts";
import { fail } from "#src/base/result.ts";
import { handleErrors, refusalOf } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { readJson, respond } from "#src/http/json.ts";
import { check } from "#src/http/route.ts";

const lines: string[] = [];
const app = new Hono();
handleErrors(app, createLog("debug", {}, (line) => lines.push(line)));
app.post("/echo", async (c) => respond(c, 200, await readJson(c.req.raw)));
app.post("/small", async (c) => respond(c, 200, await readJson(c.req.raw, { bytes: 8 })));
app.post("/typed", async (c) => respond(c, 200, check(z.object({ n: z.int() }), await readJson(c.req.raw), "body")));
app.get("/refused", () => {
  throw HttpFailure.of(409, fail("taken", "Somebody has it.", { by: 7n }).error);
});
app.get("/unnamed", () => {
  throw refusalOf({ taken: 409 })({ code: "constructor", message: "a matter of the inside" });
});
app.get("/broken", () => {
  throw new TypeError("the inside");
});

const post = async (path: string, body: BodyInit) => {
  const answer = await app.request(path, { method: "POST", body });
  return [answer.status, await answer.text()] as const;
};

test("integers keep every digit in both directions", async () => {
  const text = `{"lovelace":18446744073709551615,"small":7,"less":-9007199254740993}`;
  expect(await post("/echo", text)).toEqual([200, text]);
});

test.each([
  ["", "malformed_json"],
  ["{", "malformed_json"],
  ["[1,]", "malformed_json"],
  [new Uint8Array([0x22, 0xff, 0x22]), "malformed_json"],
  ["[".repeat(33) + "]".repeat(33), "malformed_json"],
  ["[".repeat(60_000), "malformed_json"],
])("a body that is no JSON is 400 (%#)", async (body, code) => {
  const [status, text] = await post("/echo", body);
  expect([status, JSON.parse(text).code]).toEqual([400, code]);
});

test("brackets within strings are not nesting", async () => {
  const text = JSON.stringify({ a: "[".repeat(100) + '\\"{' });
  expect(await post("/echo", text)).toEqual([200, text]);
});

test("a body over the limit is 413, with and without its length in a header", async () => {
  expect((await post("/small", "[1,2,3]"))[0]).toBe(200);
  const [status, text] = await post("/small", "[1,2,3,4]");
  expect([status, JSON.parse(text)]).toEqual([413, {
    code: "body_too_large",
    error: "The body is larger than 8 bytes.",
    details: { limit: 8 },
  }]);
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1000));
    },
  });
  const request = new Request(
    "http://localhost/echo",
    { method: "POST", body: endless, duplex: "half" } as RequestInit,
  );
  expect((await app.request(request)).status).toBe(413);
  expect(pulled).toBeLessThan(100);
});

test("a schema violation is named by its position, without the value", async () => {
  const [status, text] = await post("/typed", `{"n":"hunter2"}`);
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({ code: "bad_request", details: [{ where: "body", at: "n" }] });
  expect(text).not.toContain("hunter2");
});

test("exceptions become responses, without internal details", async () => {
  const refused = await app.request("/refused");
  expect([refused.status, await refused.json()]).toEqual([409, {
    code: "taken",
    error: "Somebody has it.",
    details: { by: 7 },
  }]);
  const broken = await app.request("/broken");
  expect(broken.status).toBe(500);
  expect(await broken.text()).not.toMatch(/the inside|TypeError|json\.test/);
  expect(lines.some((line) => line.includes("the inside"))).toBe(true);
  const unnamed = await app.request("/unnamed");
  expect([unnamed.status, await unnamed.json()]).toEqual([500, {
    code: "internal_error",
    error: "Internal error; see the log of the service.",
  }]);
  expect(lines.some((line) => line.includes("a matter of the inside"))).toBe(true);
  const missing = await app.request("/missing");
  expect([missing.status, (await missing.json() as { code: string }).code]).toEqual([404, "not_found"]);
});

test("a client that disconnects in the middle of its body is no error of the service", async () => {
  for (const headers of [{}, { "content-length": "12" }]) {
    const before = lines.length;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"n":')),
      pull: (controller) => controller.error(new Error("the connection was closed")),
    });
    const answer = await app.request("/echo", { method: "POST", headers, body, duplex: "half" } as RequestInit);
    expect([answer.status, (await answer.json()).code]).toEqual([400, "body_incomplete"]);
    expect(lines.slice(before)).toEqual([]);
  }
});

test("a member that is repeated is named as the reason", async () => {
  const [status, text] = await post("/echo", `{"n":1,"n":2}`);
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({
    code: "malformed_json",
    error: "An object of the body has two members of one name, with different values.",
  });
});
