/** Parameters, refusals and prefixes of the Blockfrost API, without a devnet. */
import { describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { serveOperations } from "#src/devnet/serve/blockfrost/app.ts";
import { blockfrostFailure } from "#src/devnet/serve/blockfrost/failures.ts";
import { get, list, post } from "#src/devnet/serve/blockfrost/operation.ts";

const app = serveOperations([
  get("/", async () => ({ root: true })),
  get("/blocks/{hash_or_number}", async ({ hash_or_number: block }) => ({ block })),
  get("/blocks/latest", async () => ({ latest: 9007199254740993n })),
  get("/blocks/slot/{slot_number}", async ({ slot_number: slot }) => ({ slot })),
  get("/txs/{hash}", async () => undefined),
  get("/fails", () => Promise.reject(new Error("of the inside"))),
  get("/away", () => Promise.reject(Object.assign(new Error("away"), { code: "ECONNREFUSED" }))),
  get("/refuses", () => Promise.reject(blockfrostFailure(425, "Mempool is full."))),
  post("/tx/submit", async () => "submitted"),
  list("/paged", "paged", async (_, { page: { limit, offset, order } }) => ({ limit, offset, order })),
  list("/ordered", "ordered", async (_, { page: { limit, offset, order } }) => ({ limit, offset, order })),
  list("/ranged", "ranged", async (_, { page }) => page.range()),
], silentLog);

const answer = async (path: string, init?: RequestInit) => {
  const response = await app.request(path, init);
  return { status: response.status, text: await response.text(), headers: response.headers };
};
const json = async (path: string) => JSON.parse((await answer(`/api/v1${path}`)).text);
const refusal = (message: string, status = 400, error = "Bad Request") => ({ status_code: status, error, message });

describe("routes", () => {
  test.each(["/api/v0", "/api/v1"])("%s serves every operation", async (prefix) => {
    expect(await answer(`${prefix}/blocks/latest`)).toMatchObject({ status: 200, text: `{"latest":9007199254740993}` });
    expect((await answer(`${prefix}/blocks/latest/`)).status).toBe(200);
    expect((await answer(`${prefix}/tx/submit`, { method: "POST" })).text).toBe(`"submitted"`);
  });

  test("the root is there with and without a slash, and HEAD is answered like GET without a body", async () => {
    for (const path of ["/api/v0", "/api/v0/", "/api/v1/"]) expect((await answer(path)).text).toBe(`{"root":true}`);
    expect(await answer("/api/v1/blocks/latest", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  });

  test("a path may have more slashes, as Blaze sends it", async () => {
    expect(await json("//blocks/slot/7")).toEqual({ slot: 7 });
    expect(JSON.parse((await answer("//api/v0//paged?count=7&page=3")).text)).toMatchObject({ limit: 7, offset: 14 });
    expect((await answer("/api/v0//tx/submit", { method: "POST", body: "body" })).text).toBe(`"submitted"`);
    expect((await answer("/api/v0//nothing")).status).toBe(400);
  });

  test("a literal segment has precedence over a parameter", async () => {
    expect(await json("/blocks/12")).toEqual({ block: "12" });
    expect(await json("/blocks/slot/7")).toEqual({ slot: 7 });
  });

  test("an unknown path and a method without an operation are 400 as in Blockfrost", async () => {
    const invalid = refusal("Invalid path. Please check https://docs.blockfrost.io/");
    expect(await json("/nothing")).toEqual(invalid);
    expect(await json("/blocks/slot/7/more")).toEqual(invalid);
    expect(JSON.parse((await answer("/api/v0/tx/submit")).text)).toEqual(invalid);
  });

  test("pages of every origin may read and submit; the project id is accepted", async () => {
    const headers = { origin: "https://app.example", project_id: "devnetAnything" };
    const read = await answer("/api/v1/blocks/latest", { headers });
    expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
    const asked = await answer("/api/v1/tx/submit", {
      method: "OPTIONS",
      headers: {
        ...headers,
        "access-control-request-method": "POST",
        "access-control-request-headers": "project_id,content-type",
      },
    });
    expect(asked.headers.get("access-control-allow-methods")).toContain("POST");
    expect(asked.headers.get("access-control-allow-headers")).toContain("project_id");
  });
});

describe("refusals", () => {
  test("what does not exist is 404", async () => {
    expect(await json("/txs/1")).toEqual(refusal("The requested component has not been found.", 404, "Not Found"));
  });

  test("an internal error says nothing of the inside", async () => {
    const internal = "An unexpected response was received from the backend.";
    expect(await json("/fails")).toEqual(refusal(internal, 500, "Internal Server Error"));
  });

  test("a database that is away is 503 with Retry-After", async () => {
    const { status, text, headers } = await answer("/api/v1/away");
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    expect(JSON.parse(text)).toMatchObject({ status_code: 503, error: "Service Unavailable" });
  });

  test("a status of Blockfrost's own has its name", async () => {
    expect(await json("/refuses")).toEqual(refusal("Mempool is full.", 425, "Mempool Full"));
  });
});

describe("parameters", () => {
  test("of a page", async () => {
    expect(await json("/ordered")).toEqual({ limit: 100, offset: 0, order: "asc" });
    expect(await json("/ordered?count=7&page=3&order=desc")).toEqual({ limit: 7, offset: 14, order: "desc" });
    expect(await json("/ordered?page=21474836")).toMatchObject({ offset: 2_147_483_500 });
    expect(await json("/paged?order=desc&unknown=1")).toEqual({ limit: 100, offset: 0, order: "asc" });
  });

  test("of a range", async () => {
    expect(await json("/ranged")).toEqual({});
    expect(await json("/ranged?from=5&to=5:3")).toEqual({ from: { height: 5 }, to: { height: 5, index: 3 } });
    expect(await json("/ranged?from=5:3&to=5:3")).toMatchObject({ from: { height: 5, index: 3 } });
    expect(await json("/ranged?from=5:3&to=5")).toEqual({ from: { height: 5, index: 3 }, to: { height: 5 } });
  });

  test.each([
    ["/ordered?count=0", "querystring/count must be >= 1"],
    ["/ordered?count=-1", "querystring/count must be >= 1"],
    ["/ordered?count=101", "querystring/count must be <= 100"],
    ["/ordered?count=ten", "querystring/count must be integer"],
    ["/ordered?count=1.5", "querystring/count must be integer"],
    ["/ordered?count=", "querystring/count must be integer"],
    ["/ordered?count=1&count=2", "querystring/count must be integer"],
    ["/ordered?page=0", "querystring/page must be >= 1"],
    ["/ordered?page=21474837", "querystring/page must be <= 21474836"],
    ["/ordered?page=x", "querystring/page must be integer"],
    ["/ordered?order=up", "querystring/order must be equal to one of the allowed values"],
    ["/ordered?order=", "querystring/order must be equal to one of the allowed values"],
    ["/ordered?order=asc&order=desc", "querystring/order must be string"],
    ["/ordered?order=up&count=0", "querystring/count must be >= 1"],
    ["/ranged?from=1&from=2", "querystring/from must be string"],
    ["/blocks/slot/x", "params/slot_number must be integer"],
    ["/blocks/slot/1.5", "params/slot_number must be integer"],
  ])("%s is 400: %s", async (path, message) => {
    expect(JSON.parse((await answer(`/api/v0${path}`)).text)).toEqual(refusal(message));
  });

  test("the first page of Yaci Store's prefix is 0 and 1", async () => {
    for (const page of [0, 1]) expect(await json(`/ordered?page=${page}`)).toMatchObject({ offset: 0 });
    expect(await json("/ordered?page=2")).toMatchObject({ offset: 100 });
    expect(await json("/ordered?page=-1")).toEqual(refusal("querystring/page must be >= 0"));
  });

  test.each(["from=x", "to=-1", "from=1:", "from=1:2:3", "to=2147483648", "from=2&to=1", "from=5:4&to=5:3", "from="])(
    "the range %s is 400",
    async (query) => {
      expect(await json(`/ranged?${query}`)).toEqual(
        refusal("Invalid (malformed or out of range) from/to parameter(s)."),
      );
    },
  );
});
