/** Which origins may change a devnet: pages of this machine, configured origins, and clients that are not browsers. */
import { Hono } from "hono";
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { readOptions } from "#src/app/options.ts";
import { guardOrigins } from "#src/devnet/serve/admin/origins.ts";
import { handleErrors } from "#src/http/errors.ts";

const statusOf = async (
  method: string,
  headers: Record<string, string>,
  origins: readonly string[] = [],
): Promise<number> => {
  const app = new Hono();
  handleErrors(app, silentLog);
  app.use(guardOrigins(origins));
  app.all("/rollback", (c) => c.text("done"));
  return (await app.request("/rollback", { method, headers })).status;
};
const host = "127.0.0.1:10000";

test.each([
  "http://localhost:5173",
  "https://localhost",
  "http://127.0.0.1:3000",
  "http://[::1]:3000",
  "http://app.localhost:3000",
  "HTTP://LOCALHOST:3000",
])("a page of %s may", async (origin) => {
  expect(await statusOf("POST", { origin, host })).toBe(200);
});

test.each([
  "https://example.org",
  "http://localhost.example.org",
  "http://127.0.0.1.example.org",
  "http://notlocalhost",
  "null",
  "file://",
  "nonsense",
])("a page of %s may not, and may read", async (origin) => {
  expect(await statusOf("POST", { origin, host })).toBe(403);
  expect(await statusOf("DELETE", { origin, host })).toBe(403);
  expect(await statusOf("GET", { origin, host })).toBe(200);
});

test("a page of the requested address may, one of a name that resolves to this machine may not", async () => {
  expect(await statusOf("POST", { origin: "http://192.168.1.7:3000", host: "192.168.1.7:10000" })).toBe(200);
  expect(await statusOf("POST", { origin: "http://[fd00::7]:3000", host: "[fd00::7]:10000" })).toBe(200);
  expect(await statusOf("POST", { origin: "http://192.168.1.8", host: "192.168.1.7:10000" })).toBe(403);
  expect(await statusOf("POST", { origin: "http://rebound.example:10000", host: "rebound.example:10000" })).toBe(403);
});

test("a client that is not a browser may, from anywhere", async () => {
  expect(await statusOf("POST", { host: "devnet.example:10000" })).toBe(200);
});

test("pages of configured origins may, and all with *", async () => {
  const origin = "https://app.example";
  expect(await statusOf("POST", { origin, host }, [origin])).toBe(200);
  expect(await statusOf("POST", { origin: "https://other.example", host }, [origin])).toBe(403);
  expect(await statusOf("POST", { origin: "https://other.example", host }, ["*"])).toBe(200);
  expect(await statusOf("POST", { origin: "null", host }, ["null"])).toBe(200);
});

test("the option accepts origins and nothing else", () => {
  const read = (list: string) => readOptions(["--devnet-origins", list], {});
  expect(read("https://app.example, http://10.0.0.1:8080")).toMatchObject({
    ok: true,
    value: { devnetOrigins: ["https://app.example", "http://10.0.0.1:8080"] },
  });
  expect(read("*")).toMatchObject({ ok: true, value: { devnetOrigins: ["*"] } });
  for (const wrong of ["app.example", "https://app.example/", "https://app.example/path"]) {
    expect(read(wrong)).toMatchObject({ ok: false, error: { code: "bad_option" } });
  }
});
