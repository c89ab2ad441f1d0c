/** The documentation's site: its files and nothing else, under a policy without inline scripts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Hono } from "hono";
import { afterAll, describe, expect, it } from "vitest";
import { mountGuide } from "#src/http/guide.ts";

const home = mkdtempSync(path.join(tmpdir(), "arbor-guide-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const files = {
  "secret.txt": "not a part of the site",
  "site/index.html": "<h1>Arbor</h1>",
  "site/tokens.html": "<h1>Tokens</h1>",
  "site/404.html": "<h1>Not found</h1>",
  "site/.hidden": "hidden",
  "site/assets/@words.a1b2.js": `export default ${JSON.stringify("words ".repeat(1_000))}`,
  "site/assets/picture.c3d4.svg": "<svg/>",
  "site/examples/orders/orders.ts": "export {};",
  "site/examples/page.html": "<script>",
};
for (const [name, text] of Object.entries(files)) {
  mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
  writeFileSync(path.join(home, name), text);
}
const folder = (name: string) => pathToFileURL(`${path.join(home, name)}/`);
const app = mountGuide(new Hono(), folder("site"));

describe("the guide", () => {
  it("is served by its folder's names", async () => {
    const answers = [
      "",
      "/",
      "/tokens.html",
      "/assets/@words.a1b2.js",
      "/assets/picture.c3d4.svg",
      "/examples/orders/orders.ts",
      "/examples/page.html",
    ].map(
      async (name) => {
        const answer = await app.request(`/docs/guide${name}`);
        return [answer.status, answer.headers.get("content-type")?.split(";")[0] ?? answer.headers.get("location")];
      },
    );
    expect(await Promise.all(answers)).toEqual([
      [302, "/docs/guide/"],
      [200, "text/html"],
      [200, "text/html"],
      [200, "text/javascript"],
      [200, "image/svg+xml"],
      [200, "text/plain"],
      [200, "text/plain"],
    ]);
  });

  it("allows no inline script and nothing of another origin", async () => {
    const policy = (await app.request("/docs/guide/")).headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/https?:|\*/);
    expect(policy.match(/[\w-]+ [^;]*unsafe[^;]*/g)).toEqual(["style-src-attr 'unsafe-inline'"]);
  });

  it("is revalidated in its documents, and kept in what carries a hash", async () => {
    const page = await app.request("/docs/guide/tokens.html");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const etag = page.headers.get("etag")!;
    const again = await app.request("/docs/guide/tokens.html", { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const asset = await app.request("/docs/guide/assets/@words.a1b2.js", { headers: { "accept-encoding": "gzip" } });
    expect(asset.headers.get("cache-control")).toContain("immutable");
    expect(asset.headers.get("content-encoding")).toBe("gzip");
    expect((await asset.arrayBuffer()).byteLength).toBeLessThan(1_000);
  });

  it("has no file outside of its folder, no hidden one and no folder", async () => {
    const names = [
      "../secret.txt",
      "%2e%2e/secret.txt",
      "..%2fsecret.txt",
      ".hidden",
      "assets",
      "assets//",
      "none.html",
    ];
    for (const name of [...names, "tokens.html/x", "assets/%00", `${"a".repeat(5_000)}.html`]) {
      expect([name, (await app.request(`/docs/guide/${name}`)).status]).toEqual([name, 404]);
    }
    const lost = await app.request("/docs/guide/none.html");
    expect([lost.status, await lost.text()]).toEqual([404, "<h1>Not found</h1>"]);
  });

  it("says how it is built where it was not", async () => {
    const bare = mountGuide(new Hono(), folder("nothing"));
    const answer = await bare.request("/docs/guide/");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await answer.text()).toContain("task docs:site</code> in the checkout builds it");
  });
});
