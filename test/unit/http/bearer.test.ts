import { expect, it } from "vitest";
import { Hono } from "hono";
import { createLog } from "#src/base/log.ts";
import { bearerCheck } from "#src/http/bearer.ts";
import { handleErrors } from "#src/http/errors.ts";

const TOKEN = "the-right-token-of-the-test";

/** A service with the token; `now` is its time in milliseconds. */
function service() {
  const lines: string[] = [];
  const time = { now: 0 };
  const log = createLog("info", {}, (line) => lines.push(line));
  const hasToken = bearerCheck(TOKEN, { log, now: () => time.now });
  const app = new Hono();
  handleErrors(app, log);
  app.get("/", (c) => c.text("", hasToken(c) ? 200 : 401));
  const get = async (address: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return await app.fetch(new Request("http://127.0.0.1/", { headers }), { address });
  };
  const status = async (address: string, token?: string) => (await get(address, token)).status;
  return { get, status, lines, time };
}

it("refuses wrong tokens of a client after ten for the rest of a minute, and of no other client", async () => {
  const { get, status, time } = service();
  for (let i = 0; i < 10; i++) expect(await status("10.0.0.1", `wrong-${i}`)).toBe(401);
  const refused = await get("10.0.0.1", "wrong-10");
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ code: "wrong_tokens" });
  expect(Number(refused.headers.get("retry-after"))).toBe(60);
  expect(await status("10.0.0.2", "wrong-11")).toBe(401);
  time.now = 60_000;
  expect(await status("10.0.0.1", "wrong-12")).toBe(401);
});

it("lets the right token pass whatever others at the same address have sent", async () => {
  const { status } = service();
  for (let i = 0; i < 15; i++) await status("10.0.0.1", `wrong-${i}`);
  expect(await status("10.0.0.1", TOKEN)).toBe(200);
  expect(await status("10.0.0.1", "wrong-15")).toBe(429);
  expect(await status("10.0.0.1")).toBe(401);
});

it("does not count requests without a token", async () => {
  const { status } = service();
  for (let i = 0; i < 30; i++) expect(await status("10.0.0.1")).toBe(401);
  expect(await status("10.0.0.1", TOKEN)).toBe(200);
});

it("logs wrong tokens with one line a minute, without the token", async () => {
  const { status, lines, time } = service();
  for (let i = 0; i < 30; i++) await status(`10.0.0.${i}`, "a-wrong-token");
  expect(lines).toHaveLength(1);
  time.now = 60_000;
  await status("10.0.0.99", "a-wrong-token");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", client: "10.0.0.0", count: 1 },
    { level: "warn", client: "10.0.0.99", count: 30 },
  ]);
  expect(lines.join()).not.toContain("a-wrong-token");
});
