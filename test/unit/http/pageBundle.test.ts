/** Pages that are bundled from TSX: their documents, their policy, their size, and what happens where none can be bundled. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { OpenAPIHono } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { PAGES } from "#src/app/pages.ts";
import { silentLog } from "#src/base/log.ts";
import { fail, ok } from "#src/base/result.ts";
import { bundle, type BundleFile, type BundleInput } from "#src/threads/bundle.ts";
import type { Builders } from "#src/threads/builders.ts";
import { handleErrors } from "#src/http/errors.ts";
import { mountPage, type PageSettings } from "#src/http/pageBundle.ts";
import { root } from "../../support/docs/pages.ts";

const MAX_GZIP = 60_000;
const folder = path.join(root, "src/pages");
const names = readdirSync(folder).filter((name) => existsSync(path.join(folder, name, "main.tsx")));

const FILES: readonly BundleFile[] = [
  { name: "main-A.js", text: 'import "./chunk-B.js";', initial: true },
  { name: "chunk-B.js", text: "export {};", initial: true },
  { name: "main-C.css", text: "body{}", initial: true },
  { name: "Qr-D.js", text: "export {};", initial: false },
];

function appOf(run: Builders["run"], settings: PageSettings = {}) {
  const app = new OpenAPIHono();
  handleErrors(app, silentLog);
  mountPage(app, {
    builders: { run },
    log: silentLog,
    pages: PAGES,
    name: "operator",
    title: "Some <page>",
    at: ["/", "/ui/*"],
    settings: () => settings,
  });
  return app;
}
const bundling = ((_job: string, _input: BundleInput) => Promise.resolve(ok(FILES))) as unknown as Builders["run"];
const refusing =
  (() => Promise.resolve(fail("bundle_unavailable", "no", { reason: "secret path" }))) as unknown as Builders["run"];

describe("a page", () => {
  it("sends its files compressed to browsers that take that", async () => {
    const file = "/page/operator/main-A.js";
    const answer = await appOf(bundling).request(file, { headers: { "accept-encoding": "gzip" } });
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()).toBe(FILES[0]!.text);
    expect((await appOf(bundling).request(file)).headers.get("content-encoding")).toBeNull();
  });

  it("is a document that names its styles and modules, the entry first and chunks on demand not at all", async () => {
    const answer = await appOf(bundling).request("/ui/actors/token/ab");
    const text = await answer.text();
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("cache-control")])
      .toEqual([200, "text/html; charset=utf-8", "no-cache"]);
    expect([...text.matchAll(/(?:href|src)="(\/page[^"]*)"/g)].map(([, url]) => url)).toEqual([
      "/page/operator/main-C.css",
      "/page/operator/main-A.js",
      "/page/operator/chunk-B.js",
    ]);
    expect(text).toContain("<title>Some &lt;page&gt; · Arbor</title>");
    expect(text).not.toMatch(/style=|onload=/);
  });

  it("has one script of its own, whose hash the policy has, before the styles that it would wait for", async () => {
    const answer = await appOf(bundling).request("/");
    const text = await answer.text();
    const [script, ...more] = [...text.matchAll(/<script[^>]*>([^]*?)<\/script>/g)];
    expect(more).toEqual([]);
    const hash = createHash("sha256").update(script![1]!).digest("base64");
    expect(answer.headers.get("content-security-policy")).toContain(`script-src 'self' 'sha256-${hash}';`);
    expect(script!.index).toBeLessThan(text.indexOf("stylesheet"));
  });

  it("is revalidated, while its files are kept for good", async () => {
    const app = appOf(bundling);
    const etag = (await app.request("/")).headers.get("etag")!;
    const again = await app.request("/", { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const file = await app.request("/page/operator/Qr-D.js");
    expect([file.status, file.headers.get("cache-control"), file.headers.get("content-type"), await file.text()])
      .toEqual([200, "public, max-age=31536000, immutable", "text/javascript; charset=utf-8", "export {};"]);
    expect((await app.request("/page/operator/main.tsx")).status).toBe(404);
    expect((await app.request("/page/operator/..%2f..%2fpackage.json")).status).toBe(404);
  });

  it("has a policy of its own service, and of what its settings name", async () => {
    const policyOf = async (settings: PageSettings) =>
      (await appOf(bundling, settings).request("/")).headers.get("content-security-policy")!.split("; ");
    const strict = await policyOf({});
    expect(strict).toEqual(expect.arrayContaining(["default-src 'none'", "connect-src 'self'"]));
    const scripts = strict.find((part) => part.startsWith("script-src"))!;
    expect(scripts).toMatch(/^script-src 'self' 'sha256-[\w+/]{43}='$/);
    const wider = await policyOf({
      scripts: ["http://127.0.0.1:4000/wallet-sdk.js"],
      connect: ["http://127.0.0.1:5000"],
    });
    expect(wider.filter((part) => !strict.includes(part))).toEqual([
      `${scripts} http://127.0.0.1:4000`,
      "connect-src 'self' http://127.0.0.1:4000 http://127.0.0.1:5000",
    ]);
  });

  it("writes settings as text", async () => {
    const answer = await appOf(bundling, { values: { explorer: '"><script>alert(1)</script>', none: undefined } })
      .request("/");
    const text = await answer.text();
    expect(text).toContain('<meta name="arbor-explorer" content="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">');
    expect(text).not.toContain("arbor-none");
  });

  it("is 503 where it cannot be bundled, without the reason", async () => {
    const answer = await appOf(refusing).request("/");
    const text = await answer.text();
    expect([answer.status, JSON.parse(text).code]).toEqual([503, "bundle_unavailable"]);
    expect(text).not.toContain("secret");
  });
});

describe.skipIf(names.length === 0)("the product's pages", () => {
  it.each(names)("%s loads at most 60 kB after gzip, in files whose names are their content's", async (name) => {
    const bundled = await bundle({
      entry: new URL(`../../../src/pages/${name}/main.tsx`, import.meta.url).href,
      split: true,
    });
    if (!bundled.ok) throw new Error(JSON.stringify(bundled.error));
    const initial = bundled.value.filter((file) => file.initial);
    const size = initial.reduce((sum, { text }) => sum + gzipSync(text).length, 0);
    console.log(`${name}: ${size} bytes after gzip at first, ${bundled.value.length - initial.length} files on demand`);
    expect(initial.map((file) => file.name.split(".").at(-1)).sort()).toContain("css");
    expect(bundled.value.every((file) => /^[\w.-]+-[A-Z0-9]{8}\.(js|css)$/.test(file.name))).toBe(true);
    // styles on demand would never be loaded
    expect(bundled.value.filter((file) => !file.initial && file.name.endsWith(".css"))).toEqual([]);
    expect(size).toBeLessThanOrEqual(MAX_GZIP);
  }, 60_000);
});
