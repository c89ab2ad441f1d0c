/** The API pages of the four services, in a real browser. */
/// <reference lib="dom" />
import axe from "axe-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Arbor } from "../../support/arbor.ts";
import { startBrowser } from "../../support/browser.ts";
import { type Infra, sharedInfra } from "../../support/infra.ts";

const browser = await startBrowser();

/** What axe finds in Swagger UI itself, which is not ours to change. */
const KNOWN_VIOLATIONS: readonly string[] = [
  "color-contrast",
  "heading-order",
  "nested-interactive",
  "region",
  "scrollable-region-focusable",
  "select-name",
];

describe.skipIf(browser === undefined)("the API page", () => {
  let infra: Infra;
  let arbor: Arbor;
  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
  });
  afterAll(async () => {
    await browser?.close();
    await arbor?.end();
    await infra?.stop();
  });

  it.each(
    [
      ["tokens", ""],
      ["wallets", "/v2"],
      ["operator", ""],
      ["devnet", ""],
    ] as const,
  )("of %s shows every operation, complains of nothing and asks no other origin", async (service, prefix) => {
    const base = arbor[service].replace(/\/v2\/?$/, "") + prefix;
    const page = await browser!.newPage();
    const complaints: string[] = [];
    const origins = new Set<string>();
    page.on("console", (message) => void complaints.push(message.text()));
    page.on("pageerror", (error) => void complaints.push(String(error)));
    page.on("requestfailed", (request) => void complaints.push(`${request.url()} failed`));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol !== "data:") origins.add(url.origin);
    });
    await page.goto(`${base}/docs`);
    const { info, paths } = await (await fetch(`${base}/openapi.json`)).json() as {
      info: { title: string };
      paths: Record<string, Record<string, { summary: string }>>;
    };
    await page.locator(".info .title", { hasText: info.title }).waitFor();
    const operations = Object.values(paths).flatMap((item) =>
      Object.entries(item).flatMap(([method, { summary }]) =>
        method === "servers" || method === "parameters" ? [] : [summary]
      )
    );
    expect(operations.length).toBeGreaterThan(10);
    const blocks = page.locator(".opblock");
    await blocks.nth(operations.length - 1).waitFor();
    expect(await blocks.count()).toBe(operations.length);
    const shown = await page.locator(".opblock-summary-description").allTextContents();
    expect(shown.sort()).toEqual(operations.sort());
    // an operation opened shows its parts
    await blocks.first().locator(".opblock-summary-control").click();
    await blocks.first().locator(".responses-wrapper").waitFor();
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: typeof axe }).axe.run({ preload: false, resultTypes: ["violations"] })
    );
    expect(violations.map(({ id }) => id).filter((id) => !KNOWN_VIOLATIONS.includes(id))).toEqual([]);
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([new URL(base).origin]);
    await page.close();
  });
});
