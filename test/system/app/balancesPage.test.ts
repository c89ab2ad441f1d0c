/** The page with the wallets' balances, at its own port: what it shows, and that nothing can be changed through it. */
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser } from "../../support/browser.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/scenario.ts";
import { until } from "../../support/until.ts";
import { http } from "../../support/user.ts";

let scenario: Scenario;
let page: string;
let browser: Browser | undefined;

beforeAll(async () => {
  [scenario, browser] = await Promise.all([Scenario.start({ env: { ARBOR_WALLET_UI_PORT: "0" } }), startBrowser()]);
  page = scenario.arbor.places.get("wallet page")!;
});
afterAll(() => Promise.all([scenario?.stop(), browser?.close()]));

describe("the page of balances", () => {
  it("reads wallets and addresses, and nothing else, by GET alone", async () => {
    const { id } = await scenario.createWallet({ coins: [ADA] });
    const statuses = async (method: "GET" | "POST" | "PUT" | "DELETE", ...paths: string[]) =>
      await Promise.all(
        paths.map(async (path) => (await http(page, method, path, method === "GET" ? undefined : {})).status),
      );
    expect(
      await statuses("GET", "/v2/wallets", "/v2/byron-wallets", "/v2/shared-wallets", `/v2/wallets/${id}/addresses`),
    )
      .toEqual([200, 200, 200, 200]);
    expect(
      await statuses(
        "GET",
        `/v2/wallets/${id}`,
        `/v2/wallets/${id}/transactions`,
        "/v2/settings",
        "/v2/docs",
        "/page/tokens/app.js",
      ),
    )
      .toEqual([404, 404, 404, 404, 404]);
    const refused = [
      ...await statuses("POST", "/v2/wallets", `/v2/wallets/${id}/transactions`, "/"),
      ...await statuses("PUT", `/v2/wallets/${id}`),
      ...await statuses("DELETE", `/v2/wallets/${id}`),
    ];
    expect(refused.filter((status) => status !== 404 && status !== 405)).toEqual([]);
    // a block may come between two reads, which changes the tip alone
    const read = async (base: string, path: string) => (await http(base, "GET", path)).body as { tip: unknown }[];
    await until("both answers are of one tip", async () => {
      const [shown, there] = [await read(page, "/v2/wallets"), await read(scenario.arbor.wallets, "/wallets")];
      expect(shown.map((wallet) => ({ ...wallet, tip: {} }))).toEqual(there.map((wallet) => ({ ...wallet, tip: {} })));
      return JSON.stringify(shown) === JSON.stringify(there);
    });
  });

  it("shows balances exactly, addresses on demand, and new wallets as they come", async (context) => {
    if (!browser) return context.skip();
    const tab = await browser.newPage();
    const wrong: string[] = [];
    tab.on("pageerror", (error) => wrong.push(error.message));
    tab.on("console", (line) => line.type() === "error" && wrong.push(line.text()));
    await tab.goto(page);
    // a name that is markup stays text
    const name = "<b>Bold</b> & Co";
    const { id } = await scenario.createWallet({ name, coins: [999_999_999_999n, 234_568n * ADA] });
    const section = tab.locator("section", { hasText: id });
    await section.waitFor();
    expect(await section.locator("h2").innerText()).toBe(name);
    expect(await section.innerText()).toContain("Total 1,234,567.999999 ada");
    await section.locator("summary").click();
    const [first] = await scenario.client.addresses(id);
    await section.getByText(first!.id).waitFor();
    await tab.evaluate(axe.source);
    const violations = await tab.evaluate(async () => {
      const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
      return (await run({ preload: false })).violations.map((violation) => violation.id);
    });
    expect(violations).toEqual([]);
    expect(wrong).toEqual([]);
    expect(await tab.content()).not.toContain(PASSPHRASE);
    await tab.close();
  });
});
