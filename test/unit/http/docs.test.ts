/** The API page: its files, and how they are served. */
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { edgeAlone } from "../../support/service/walletEdge.ts";

const app = edgeAlone();

describe("the API page", () => {
  it("is served with every file that it names, under a policy that allows nothing else", async () => {
    const page = await app.request("/v2/docs");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const html = await page.text();
    const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name!)
      .filter((name) => name !== "data:,");
    expect(named).toHaveLength(3);
    for (const name of named) {
      const file = await app.request(`/v2/${name}`);
      expect([name, file.status]).toEqual([name, 200]);
      const policy = file.headers.get("content-security-policy")!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/https?:|unsafe|\*/);
      if (!name.endsWith(".css")) continue;
      const loaded = [...(await file.text()).matchAll(/@import|url\(["']?([^)]*)/g)].map(([, url]) => url);
      expect(loaded.filter((url) => !/^(data:|#)/.test(url ?? ""))).toEqual([]);
    }
    expect(await (await app.request("/v2/docs/init.js")).text()).not.toMatch(/https?:/);
    expect((await app.request("/v2/docs/swagger-ui-bundle.js.map")).status).toBe(404);
    expect((await app.request("/v2/docs", { method: "POST" })).status).toBe(405);
  });

  it("is compressed, and sent again only if it changed", async () => {
    const path = "/v2/docs/swagger-ui-bundle.js";
    const plain = await app.request(path);
    const etag = plain.headers.get("etag")!;
    const compressed = await app.request(path, { headers: { "accept-encoding": "gzip" } });
    const bytes = new Uint8Array(await compressed.arrayBuffer());
    expect(bytes.length).toBeLessThan(600_000);
    expect(gunzipSync(bytes).toString()).toBe(await plain.text());
    for (const held of [etag, compressed.headers.get("etag")!]) {
      expect((await app.request(path, { headers: { "if-none-match": held } })).status).toBe(304);
    }
  });
});
