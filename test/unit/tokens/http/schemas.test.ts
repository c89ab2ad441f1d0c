/** The token service's requests and responses, by its schemas: every name that a value ever had, and integers only. */
import { describe, expect, it } from "vitest";
import * as api from "#src/tokens/api/tokens.ts";
import { readOptions } from "#src/app/options.ts";
import { queryBytes } from "#src/tokens/http/factKey.ts";
import { tokenApp } from "#src/tokens/http/app.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";
import { silentLog } from "#src/base/log.ts";
import { healthRoutes } from "#src/http/health.ts";

describe("a body", () => {
  const bodies = { insert: api.insertBody, update: api.updateBody, delete: api.deleteBody } as const;
  const read = (type: keyof typeof bodies, body: unknown) => bodies[type].safeParse(body).data;

  it("names values like any version of this API, or like a request in a response", () => {
    for (const body of [{ value: "v" }, { newValue: "v" }, { value: "v", newValue: "v" }]) {
      expect(read("insert", { key: "k", ...body })).toEqual({ key: "k", newValue: "v" });
      expect(read("update", { key: "k", oldValue: "o", ...body })).toEqual({ key: "k", oldValue: "o", newValue: "v" });
    }
    for (const body of [{ value: "v" }, { oldValue: "v" }, { value: "v", oldValue: "v" }]) {
      expect(read("delete", { key: "k", ...body })).toEqual({ key: "k", oldValue: "v" });
    }
    expect(read("insert", { key: "", value: "" })).toEqual({ key: "", newValue: "" });
  });

  it("may state its kind only correctly", () => {
    for (const said of [{ type: "insert" }, { operation: "insert" }, { type: "insert", operation: "insert" }]) {
      expect(read("insert", { key: "k", value: "v", ...said })).toEqual({ key: "k", newValue: "v" });
      expect(read("delete", { key: "k", value: "v", ...said })).toBeUndefined();
    }
  });

  it("is refused without a value, with two, and if a value is missing or no text", () => {
    for (
      const body of [{}, { value: "a", newValue: "b" }, { newValue: 1 }, { value: "v", newValue: null }, {
        value: "\ud800",
      }]
    ) {
      expect(read("insert", { key: "k", ...body })).toBeUndefined();
      expect(read("update", { key: "k", oldValue: "o", ...body })).toBeUndefined();
    }
    expect(read("update", { key: "k", newValue: "v" })).toBeUndefined();
    expect(read("delete", { key: "k", value: "a", oldValue: "b" })).toBeUndefined();
  });
});

describe("the document", () => {
  it("has no number that may have a fraction", async () => {
    const dependency = () => {};
    const options = {
      networkId: 0,
      networkMagic: 42,
      log: silentLog,
      store: { sql: dependency },
      builders: {},
      events: {},
    };
    const health = healthRoutes({ health: { name: "one", roles: [], since: 0, checks: new Map() } });
    const app = tokenApp({ ...options, health } as unknown as TokenEdgeOptions);
    const document: unknown = await (await app.request("/openapi.json")).json();
    const loose: string[] = [];
    const walk = (value: unknown, at: string) => {
      if (typeof value !== "object" || value === null) return;
      const { type } = value as { type?: unknown };
      if (type === "number" || (Array.isArray(type) && type.includes("number"))) loose.push(at);
      for (const [name, one] of Object.entries(value)) walk(one, `${at}/${name}`);
    };
    walk(document, "");
    expect(Object.keys((document as { paths: object }).paths)).toContain("/token/{tokenId}/history");
    expect(loose).toEqual([]);
  });
});

it("keys in a query are any bytes, as forms encode them or in hexadecimal", () => {
  const of = (query: string, encoding: "text" | "hex" = "text") => queryBytes(`http://h/p?${query}`, "key", encoding);
  expect(of("")).toBeUndefined();
  expect(of("keys=a&akey=b")).toBeUndefined();
  expect(of("key")).toEqual(Uint8Array.of());
  expect(of("key=&key=b")).toEqual(Uint8Array.of());
  expect(of("x=1&key=a+%2B%00%ff%c3%A9%zz%2")).toEqual(
    Uint8Array.of(0x61, 0x20, 0x2b, 0, 0xff, 0xc3, 0xa9, 0x25, 0x7a, 0x7a, 0x25, 0x32),
  );
  expect(of("key=a=b")).toEqual(Uint8Array.of(0x61, 0x3d, 0x62));
  // a name may be percent-encoded too: a known one must not be overlooked here
  expect(of("%6bey=a")).toEqual(Uint8Array.of(0x61));
  expect(of("key=00fF", "hex")).toEqual(Uint8Array.of(0, 255));
  for (const odd of ["0", "0g", "%ff"]) expect(() => of(`key=${odd}`, "hex")).toThrow("hexadecimal");
});

it("facts come with slots by default if a start is configured so", () => {
  const read = (args: string[], env = {}) => readOptions(args, env);
  expect(read([])).toMatchObject({ ok: true, value: { factSlots: false } });
  expect(read(["--fact-slots", "true"])).toMatchObject({ ok: true, value: { factSlots: true } });
  expect(read([], { ARBOR_FACT_SLOTS: "true" })).toMatchObject({ ok: true, value: { factSlots: true } });
  expect(read(["--fact-slots", "yes"])).toMatchObject({ ok: false });
});
