/** The page beside openapi.json, in a real browser. */
import { afterAll, describe, expect, it } from "vitest";
import { type Listener, serve } from "#src/edge/serve.ts";
import { startBrowser } from "../../support/browser.ts";
import { edgeAlone } from "../../support/wallet_edge.ts";

const browser = await startBrowser();

describe.skipIf(browser === undefined)("the page beside openapi.json", () => {
  let listener: Listener | undefined;
  afterAll(async () => {
    await browser?.close();
    await listener?.stop();
  });

  it("shows every endpoint, opens the one that is linked, filters, and complains of nothing", async () => {
    const app = edgeAlone();
    listener = await serve(app, { host: "127.0.0.1", port: 0 });
    const page = await browser!.newPage();
    const complaints: string[] = [];
    const asked = new Set<string>();
    page.on("console", (message) => void complaints.push(message.text()));
    page.on("pageerror", (error) => void complaints.push(String(error)));
    page.on("request", (request) => void asked.add(new URL(request.url()).pathname));
    await page.goto(`http://127.0.0.1:${listener.port}/v2/docs#constructTransaction`, { timeout: 120_000 });
    const open = page.locator("details[open]");
    await open.locator("pre").first().waitFor({ timeout: 120_000 });
    expect(await page.title()).toBe("Arbor wallet service");
    expect(await open.locator("summary code").first().textContent()).toBe("/wallets/{walletId}/transactions-construct");
    expect(await open.locator("pre").first().textContent()).toContain("mint_burn?: ");
    const { paths } = await (await app.request("/v2/openapi.json")).json() as { paths: Record<string, object> };
    const count = Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);
    expect(await page.locator("#count").textContent()).toBe(`${count} endpoints`);
    expect(await page.locator("details").count()).toBe(count);
    await page.locator("#filter").fill("migrations plan");
    expect(await page.locator("#count").textContent()).toBe(`2 of ${count} endpoints`);
    expect(await page.locator("details:visible").count()).toBe(2);
    expect(complaints).toEqual([]);
    expect([...asked].sort()).toEqual([
      "/v2/docs",
      "/v2/docs/docs.js",
      "/v2/docs/shape.js",
      "/v2/docs/style.css",
      "/v2/openapi.json",
    ]);
  });
});
