/** Opens the page of the wallet service, and does there what people do. */
/// <reference lib="dom" />
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { expectAccessible, expectAligned, expectFits, expectFocusVisible, Pages, PHONE } from "./pages.ts";
import { PASSPHRASE, Scenario, type ScenarioOptions } from "../service/scenario.ts";

/** Timeout for expected content on a busy machine, in milliseconds. */
const PATIENCE = 60_000;

/** The page of a scenario's wallet service. */
export class WalletPages {
  private readonly pages: Pages;
  /** URL of the page, without a slash at its end. */
  readonly base: string;

  constructor(browser: Browser, scenario: Scenario) {
    this.pages = new Pages(browser);
    this.base = scenario.arbor.wallets.replace("/v2", "");
  }

  /** Opens a view; `at` is another origin that has the page. */
  async open(path = "/", options: BrowserContextOptions = {}, at = this.base): Promise<Page> {
    const page = await this.pages.open(`${at}/#${path}`, options);
    page.setDefaultTimeout(PATIENCE);
    await page.locator("main h1").waitFor();
    return page;
  }

  /** Closes all pages; none of them had an error. */
  close(): Promise<void> {
    return this.pages.close();
  }
}

/** Starts a service before the tests of a suite, and ends it and the browser after them. */
export function withWalletPages(
  browser: Browser | undefined,
  options: ScenarioOptions,
  started: (scenario: Scenario, pages: WalletPages) => void,
): void {
  let scenario: Scenario | undefined;
  let pages: WalletPages | undefined;
  beforeAll(async () => {
    scenario = await Scenario.start(options);
    pages = new WalletPages(browser!, scenario);
    started(scenario, pages);
  });
  afterEach(() => pages?.close());
  afterAll(async () => {
    await browser?.close();
    await scenario?.stop();
  });
}

/** Each view has no axe violation in both themes, aligns its amounts and fits a phone; `ready` is what it shows when it is complete. */
export async function expectGoodViews(
  pages: WalletPages,
  views: readonly (readonly [path: string, ready: string])[],
): Promise<void> {
  const page = await pages.open("/");
  const phone = await pages.open("/", PHONE);
  for (const [path, ready] of views) {
    for (const one of [page, phone]) {
      await visit(one, path);
      await one.locator(ready).first().waitFor();
    }
    await expectAccessible(page, path);
    await expectAligned(page);
    await expectFits(phone);
  }
  const [[first, ready]] = views as [readonly [string, string]];
  await visit(page, first);
  await page.locator(ready).first().waitFor();
  await expectFocusVisible(page);
}

/** Joins the first pool of the list that is shown, with the deposit in the review. */
export async function joinPool(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Join pool1/ }).first().click();
  const review = panel(page, "Check before you sign");
  await review.getByText(/Delegates the stake to pool1/).waitFor();
  expect(await review.innerText()).toMatch(/Deposit\s+2\.000000 ada/);
  await sign(page, "Sign and join");
}

export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole("button", { name, exact: true }).click();

/** Views that are within a tab. */
const WITHIN: Readonly<Record<string, string>> = { Voting: "Staking", Mint: "Send", Sign: "Send", "Move all": "Send" };

/** Opens a view of the wallet that is shown. */
export async function tab(page: Page, name: string): Promise<void> {
  const open = (views: string, link: string) =>
    page.getByRole("navigation", { name: views, exact: true }).getByRole("link", { name: link, exact: true }).click();
  const group = WITHIN[name];
  await open("Views of the wallet", group ?? name);
  if (group !== undefined) await open(`Views of ${group}`, name);
}

export const panel = (page: Page, name: string): Locator => page.getByRole("region", { name, exact: true });
export const field = (page: Page, name: string): Locator => page.getByRole("textbox", { name, exact: true });
export const secret = (page: Page, name = "Passphrase of this wallet"): Locator =>
  page.getByLabel(name, { exact: true });

/** Waits until a number at the head of the overview has a text. */
export const hasStat = (page: Page, name: string, text: string): Promise<void> =>
  page.locator(".stat", { hasText: name }).getByText(text).waitFor();

/** Signs what is shown, and waits for the ledger. */
export async function sign(page: Page, verb: string): Promise<void> {
  await secret(page).fill(PASSPHRASE);
  await press(page, verb);
  await panel(page, "Sent").getByText("It is in the ledger.").waitFor();
}

/** Opens another view without a reload. */
export const visit = (page: Page, path: string): Promise<void> =>
  page.evaluate((to) => void (location.hash = to), path);

/** Nothing of these is kept by the browser, in the address or in the document. */
export async function expectNoSecret(page: Page, ...secrets: readonly string[]): Promise<void> {
  const kept = await page.evaluate(async () => {
    const storages = [localStorage, sessionStorage].map((one) => JSON.stringify({ ...one }));
    const databases = (await indexedDB.databases()).length;
    return [...storages, document.cookie, `${databases}`, location.href, document.documentElement.outerHTML].join("\n");
  });
  for (const one of secrets) expect(kept.includes(one)).toBe(false);
}

/** Goes through the phrase that is shown, and answers for its three words; returns the words. */
export async function writePhraseDown(page: Page): Promise<string[]> {
  await page.locator(".phrase li").nth(23).waitFor();
  const words = await page.locator(".phrase b").allTextContents();
  await press(page, "I have written them down");
  const fields = page.getByLabel(/^Word \d+$/);
  await fields.first().waitFor();
  expect([await fields.count(), await page.locator(".phrase").count()]).toEqual([3, 0]);
  for (const one of await fields.all()) {
    const label = await one.evaluate((element) => (element as HTMLInputElement).labels![0]!.textContent!);
    await one.fill(words[Number(label.replace(/\D/g, "")) - 1]!);
  }
  return words;
}
