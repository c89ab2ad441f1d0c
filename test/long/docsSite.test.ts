/** The site of the documentation: built from the pages, and read in a browser as services serve it. */
/// <reference lib="dom" />
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mountGuide } from "#src/http/guide.ts";
import { type Listener, serve } from "#src/http/serve.ts";
import { KINDS } from "../../docs/.vitepress/sidebar.ts";
import { until } from "../support/base/until.ts";
import { root } from "../support/docs/pages.ts";
import { sharedBrowser } from "../support/pages/sharedBrowser.ts";

interface Axe {
  readonly axe: typeof axe;
}
/** The exit code of the command where the generator cannot be fetched. */
const NOT_FETCHED = 3;
const folder = mkdtempSync(path.join(tmpdir(), "arbor-site-"));
const built = spawnSync(process.execPath, ["run", "-A", "--quiet", "test/docs/site.ts", folder], {
  cwd: root,
  encoding: "utf8",
});
if (built.status === NOT_FETCHED) console.warn("SKIPPED: the generator of the site cannot be fetched here.");
const browser = await sharedBrowser();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(built.status === NOT_FETCHED)("the site of the documentation", () => {
  it("is built, with a document for each page", () => {
    expect([built.status, built.stderr]).toEqual([0, expect.anything()]);
    const pages = KINDS.flatMap(({ pages }) => pages.map(([page]) => page.replace("README", "index")));
    expect(pages.filter((page) => !statSync(path.join(folder, `${page}.html`), { throwIfNoEntry: false }))).toEqual([]);
  });

  it("has what llms.txt names", () => {
    const named = [...readFileSync(path.join(folder, "llms.txt"), "utf8").matchAll(/\]\(([^)]+)\)/g)].map(([, name]) =>
      name!
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => !existsSync(path.join(folder, name)))).toEqual([]);
  });

  it("has the examples that its pages link to", () => {
    const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));
    const linked = pages.flatMap((name) =>
      [...readFileSync(path.join(folder, name), "utf8").matchAll(/href="\/docs\/guide\/(examples\/[^"]+)"/g)].map((
        [, example],
      ) => example!)
    );
    expect(linked).toEqual(expect.arrayContaining(["examples/notary.ts", "examples/orders/orders.ts"]));
    expect(linked.filter((example) => !existsSync(path.join(folder, example)))).toEqual([]);
  });

  it("has the licences of the libraries in its scripts", () => {
    const text = readFileSync(path.join(folder, "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const name of ["minisearch", "vitepress", "vue"]) {
      expect(text).toMatch(new RegExp(`^${name} [0-9.]+ \\(MIT\\)$`, "m"));
    }
  });

  it("has a bounded size", () => {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => path.join(folder, name));
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThan(8_000_000);
  });

  describe.skipIf(browser === undefined)("in a browser", () => {
    let listener: Listener;
    beforeAll(async () => {
      const app = mountGuide(new Hono(), pathToFileURL(`${folder}/`));
      listener = await serve(app, { host: "127.0.0.1", port: 0 });
    });
    afterAll(async () => {
      await browser?.close();
      await listener?.stop();
    });
    const url = (page: string) => `http://127.0.0.1:${listener.port}/docs/guide/${page}`;

    it.each(["light", "dark"] as const)(
      "is readable on a phone, in the %s theme, and breaks no policy",
      async (scheme) => {
        const context = await browser!.newContext({ viewport: { width: 390, height: 844 }, colorScheme: scheme });
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on("console", (message) => complaints.push(message.text()));
        page.on("pageerror", (error) => complaints.push(error.message));
        page.on("response", (answer) => {
          if (answer.status() >= 400 || !answer.url().startsWith(url(""))) complaints.push(answer.url());
        });
        for (
          const name of [
            "",
            ...KINDS.flatMap(({ pages }) => pages.map(([page]) => `${page.replace("README", "index")}.html`)),
          ]
        ) {
          await page.goto(url(name));
          await page.locator("h1").first().waitFor();
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          expect([name, wide]).toEqual([name, 0]);
          expect(await page.evaluate(() => document.documentElement.classList.contains("dark"))).toBe(
            scheme === "dark",
          );
        }
        expect(complaints).toEqual([]);
        await context.close();
      },
    );

    it.each(["light", "dark"] as const)("has no axe violations in the %s theme", async (scheme) => {
      // axe is put into the page, which its policy does not allow
      const context = await browser!.newContext({ colorScheme: scheme, bypassCSP: true });
      const page = await context.newPage();
      for (const name of ["", "concepts/requests.html", "tokens.html", "reference/commands.html"]) {
        await page.goto(url(name));
        await page.locator("h1").first().waitFor();
        await page.evaluate(axe.source);
        // the theme names its search button without the keys that it shows
        const rules = { "label-content-name-mismatch": { enabled: false } };
        const { violations } = await page.evaluate((rules) => (globalThis as unknown as Axe).axe.run({ rules }), rules);
        expect([name, violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))]).toEqual([
          name,
          [],
        ]);
      }
      await context.close();
    });

    it("finds words offline", async () => {
      const page = await browser!.newPage();
      await page.goto(url(""));
      const input = page.locator("input.search-input");
      // a page takes keys only after its scripts have run
      await until("the search is open", async () => {
        await page.keyboard.press("Control+k");
        return await input.isVisible();
      });
      await input.fill("quarantined token");
      await page.locator("a.result").first().click();
      await page.waitForURL(/\.html#/);
      expect(await page.locator("main").textContent()).toMatch(/quarantine/i);
      await page.close();
    });
  });
});
