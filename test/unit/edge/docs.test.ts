/** The page beside openapi.json: its files, and how it tells what the document says. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readPages } from "#src/edge/pages.ts";
import { endpointsOf, fits, shapeOf } from "#src/edge/docs/shape.js";
import { edgeAlone } from "../../support/wallet_edge.ts";

const app = edgeAlone();
const files = readPages(new URL("../../../src/edge/docs/", import.meta.url));
type Document = { paths: Parameters<typeof endpointsOf>[0]; components: { schemas: Parameters<typeof shapeOf>[1] } };
const document = await (await app.request("/v2/openapi.json")).json() as Document;

describe("the page", () => {
  it("is served with all that it names, lets nothing else in, and is light", async () => {
    const page = await app.request("/v2/docs");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    const html = await page.text();
    const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name!)
      .filter((name) => name !== "data:,");
    expect(named).toHaveLength(3);
    for (const name of named) expect((await app.request(`/v2/${name}`)).status, name).toBe(200);
    for (const [name, { body }] of files) {
      for (const [, from] of body.matchAll(/from "\.\/([^"]+)"/g)) expect(files.has(from!)).toBe(true);
      expect([name, body.match(/https?:\/\/[^\s"'`)]+/g)]).toEqual([name, null]);
      expect(body, name).not.toMatch(/innerHTML|style=|\son[a-z]+=/);
    }
    expect([...files.values()].reduce((sum, { body }) => sum + gzipSync(body).length, 0)).toBeLessThan(8_000);
    expect((await app.request("/v2/docs/docs.ts")).status).toBe(404);
    expect((await app.request("/v2/docs", { method: "POST" })).status).toBe(405);
  });

  it("comes again only where it changed", async () => {
    const first = await app.request("/v2/docs/docs.js");
    const etag = first.headers.get("etag")!;
    expect((await app.request("/v2/docs/docs.js", { headers: { "if-none-match": etag } })).status).toBe(304);
  });
});

describe("what it shows", () => {
  it("is every endpoint with every type that the document has", () => {
    const endpoints = endpointsOf(document.paths);
    expect(endpoints.length).toBeGreaterThan(96);
    for (const { path, group, operation } of endpoints) {
      expect(path.startsWith(`/${group}`)).toBe(true);
      const contents = [operation.requestBody, ...Object.values(operation.responses)];
      const schemas = contents.flatMap((of) => Object.values(of?.content ?? {}).map(({ schema }) => schema));
      for (const schema of [...schemas, ...(operation.parameters ?? []).map((one) => one.schema)]) {
        expect(shapeOf(schema, document.components.schemas)).not.toMatch(/undefined|\[object|^$/);
      }
    }
  });

  it("is types as programmers write them", () => {
    const of = (name: string) => shapeOf({ $ref: `#/components/schemas/${name}` }, document.components.schemas);
    expect(of("SubmittedTransaction")).toBe("{\n  id: string\n}");
    const wallet = of("Wallet");
    expect(wallet).toContain("  name: string");
    expect(wallet).toContain('    status: "');
    // scripts stand in scripts
    const template = of("TemplateScript");
    expect(template.split("\n").length).toBeLessThan(40);
    const schemas = {
      Tree: {
        type: "object",
        properties: { value: { type: ["string", "null"] }, more: { type: "array", items: { $ref: "#/x/Tree" } } },
        required: ["value"],
      },
    };
    expect(shapeOf({ $ref: "#/x/Tree" }, schemas)).toBe("{\n  value: string | null\n  more?: [Tree]\n}");
    expect(shapeOf({ anyOf: [{ enum: ["a", 1] }, { type: "object", additionalProperties: { type: "integer" } }] }, {}))
      .toBe('"a" | 1 | {\n  [name]: integer\n}');
  });

  it("is filtered by words in any order, in any case", () => {
    const endpoints = endpointsOf(document.paths);
    const found = (filter: string) =>
      endpoints.filter((one) => fits(one, filter)).map(({ operation }) => operation.operationId);
    expect(found("MIGRATION byron plan")).toEqual(["createByronWalletMigrationPlan"]);
    expect(found("nothing_to_migrate")).toHaveLength(4);
    expect(found("no such words")).toEqual([]);
    expect(found("")).toHaveLength(endpoints.length);
  });
});
