/** The page of the token service in a browser with a wallet, on a ledger; and on an instance that falsifies answers. */
/// <reference lib="dom" />
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import axe from "axe-core";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { Arbor } from "../../support/arbor.ts";
import { bound, type Fields, taken } from "../../support/editable_transactions.ts";
import { startBrowser } from "../../support/browser.ts";
import { type BrowserWallet, installWallet, witnessSet } from "../../support/browser_wallet.ts";
import { type Infra, sharedInfra } from "../../support/infra.ts";
import { type FalsifyingProxy, startFalsifyingProxy } from "../../support/falsifying_proxy.ts";
import { fund, http, land, User } from "../../support/user.ts";

const browser = await startBrowser();
/** Timeout for expected content on a busy machine, in milliseconds. */
const PATIENCE = 150_000;

describe.skipIf(browser === undefined)("the page of the token service", () => {
  let infra: Infra;
  let arbor: Arbor;
  let proxy: FalsifyingProxy;
  const owner = new User("base");
  const other = new User("enterprise");
  const contexts: BrowserContext[] = [];
  const faults: string[] = [];

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    proxy = await startFalsifyingProxy(arbor.tokens);
    for (const user of [owner, other]) await fund(arbor.devnet, arbor.tokens, user);
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    proxy.falsify = undefined;
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.stop();
    await arbor?.end();
    await infra?.stop();
  });

  /** The page with a user's wallet connected, at a view. */
  const open = async (
    user: User,
    hash = "#/",
    { base = arbor.tokens, networkId = 0 } = {},
  ): Promise<{ page: Page; wallet: BrowserWallet }> => {
    const context = await browser!.newContext();
    contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
    const wallet = await installWallet(context, user, { networkId });
    const page = await context.newPage();
    page.on("pageerror", (error) => void faults.push(String(error.stack)));
    page.on("request", (request) => {
      const own = [base, "data:", `${arbor.devnet}/wallet-sdk.js`, `${arbor.devnet}/api/v1/wallet/health`];
      if (!own.some((start) => request.url().startsWith(start))) faults.push(request.url());
    });
    page.on("console", (message) => {
      // A browser reports each error response; the page shows those.
      if (message.type() === "error" && !/^Failed to load resource/.test(message.text())) faults.push(message.text());
    });
    await page.goto(`${base}/${hash}`);
    await page.getByRole("button", { name: "Connect Test wallet" }).click();
    return { page, wallet };
  };
  const connected = (page: Page) => page.getByText("Connected: Test wallet.").waitFor();
  const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  /** Waits until the dialog contains a text; a refusal instead of it is an error. */
  const says = async (page: Page, text: string | RegExp) => {
    const alert = page.locator("dialog .alert:visible");
    await page.locator("dialog [role=status]", { hasText: text }).or(alert).first().waitFor();
    expect(await alert.allTextContents()).toEqual([]);
  };
  const refusal = async (page: Page) => {
    const alert = page.locator("dialog .alert:visible");
    await alert.waitFor();
    const text = await alert.textContent();
    await press(page, "Close");
    return text;
  };
  /** Signs the checked transaction and waits until a block has it. */
  const sign = async (page: Page) => {
    await says(page, "does what you requested and nothing else");
    await landed(page);
  };
  const landed = async (page: Page) => {
    await press(page, "Sign with Test wallet");
    await says(page, "On the ledger");
    await press(page, "Close");
  };
  const request = async (page: Page, type: string, key: string, values: { old?: string; new?: string }) => {
    await page.getByLabel("Change", { exact: true }).selectOption(type);
    await page.getByLabel("Key", { exact: true }).fill(key);
    if (values.old !== undefined) await page.getByLabel("Current value").fill(values.old);
    if (values.new !== undefined) await page.getByLabel("New value").fill(values.new);
    await press(page, "Request");
  };
  const panel = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  /** A token of the owner's with a fact, made over HTTP. */
  const tokenWith = async (key: string, newValue: string): Promise<string> => {
    const boot = await http(arbor.tokens, "GET", `/transaction/${owner.address}/boot-token`);
    await land(arbor.tokens, owner.sign(boot.body.unsignedTransaction));
    const token = boot.body.value as string;
    const requestBuild = await http(arbor.tokens, "POST", `/transaction/${owner.address}/request-insert/${token}`, {
      key,
      newValue,
    });
    await land(arbor.tokens, owner.sign(requestBuild.body.unsignedTransaction));
    const applied = await http(arbor.tokens, "GET", `/transaction/${owner.address}/update-token/${token}`);
    await land(arbor.tokens, owner.sign(applied.body.unsignedTransaction));
    return token;
  };

  it("boots a token, requests a fact and applies it, and checks the fact's proof", async () => {
    const { page, wallet } = await open(owner);
    await connected(page);
    await press(page, "Boot a token");
    await says(page, "does what you requested and nothing else");
    wallet.refusals.push({ code: 2, info: "declined by the test" });
    await press(page, "Sign with Test wallet");
    expect(await page.locator("dialog .alert:visible").textContent()).toBe(
      "You declined to sign. Nothing was submitted. It says: declined by the test",
    );
    await landed(page);
    expect(wallet.signRequests.map(([, partial]) => partial)).toEqual([false, false]);

    const row = page.locator("tr", { hasText: "yours" });
    await row.getByRole("link").click();
    await page.locator("#link[data-state=live]").waitFor();
    const token = new URL(page.url()).hash.replace("#/token/", "");
    await page.getByRole("heading", { name: `Token ${token}` }).waitFor();

    const key = "<img src=x onerror=alert(1)>\u202e\0";
    await request(page, "insert", key, { new: "one " });
    await page.locator("dialog .effects", { hasText: "insert <img src=x onerror=alert(1)>\\u{202e}\\x00 = one\\x20" })
      .waitFor();
    await sign(page);
    const open1 = panel(page, "Open requests");
    await open1.locator("li", { hasText: "\\u{202e}\\x00 = one\\x20" }).waitFor();
    await press(page, "Dry run");
    await page.getByText("1 would be applied, for a fee of").waitFor();
    await press(page, "Apply all that fit");
    await sign(page);

    const facts = panel(page, "Facts");
    const fact = facts.locator("li", { hasText: "\\u{202e}\\x00 = one\\x20" });
    await fact.getByRole("button", { name: "Check" }).click();
    await fact.locator(".verdict.good", { hasText: "verified" }).waitFor();
    await facts.getByLabel("Check any key").fill("nothing");
    await press(page, "Check the key");
    await facts.locator(".verdict.good", { hasText: "this key has no value" }).waitFor();
    // another provider's state
    const { body: { stateOutput } } = await http(arbor.tokens, "GET", `/token/${token}/facts/nothing`);
    await facts.getByLabel("Datum of the state output").fill(stateOutput.datum);
    await press(page, "Check the key");
    await facts.locator(".verdict.good", { hasText: "the datum that you gave" }).waitFor();
    await facts.getByLabel("Datum of the state output").fill(stateOutput.datum.replace(/..$/, "00"));
    await press(page, "Check the key");
    await facts.locator(".verdict.bad", { hasText: "NOT verified" }).waitFor();
    expect(await page.locator("img").count()).toBe(0);

    await page.evaluate(axe.source);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run({ preload: false, resultTypes: ["violations"] })
      );
      expect([colorScheme, violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])])
        .toEqual([colorScheme, []]);
    }
  });

  it("retracts a request, applies selected ones, transfers a token and ends it", async () => {
    const token = await tokenWith("k", "v");
    const { page } = await open(owner, `#/token/${token}`);
    await connected(page);
    const requests = panel(page, "Open requests");
    await request(page, "update", "k", { old: "v", new: "w" });
    await sign(page);
    await requests.getByRole("button", { name: "Take back the request to update k" }).click();
    await sign(page);
    await panel(page, "History").locator("li", { hasText: "retracted" }).waitFor();
    await request(page, "delete", "k", { old: "v" });
    await sign(page);
    await requests.getByRole("checkbox", { name: "Pick the request to delete k" }).check();
    await press(page, "Apply selected");
    await sign(page);
    await panel(page, "Facts").getByText("None.").waitFor();
    await panel(page, "History").locator("li", { hasText: "delete" }).getByRole("button").click();
    await panel(page, "History").getByText("no value from then on").waitFor();

    await page.getByLabel("Address of the new owner").fill(other.address);
    await press(page, "Transfer");
    await says(page, "does what you requested and nothing else");
    await press(page, "Sign with Test wallet");
    const handed = await page.getByLabel("The transaction with your signature").inputValue();
    await press(page, "Close");

    const next = await open(other, "#/sign");
    await connected(next.page);
    const paste = next.page.getByLabel("Transaction signed by the current token owner");
    // another person's boot cannot be signed here
    const boot = await http(arbor.tokens, "GET", `/transaction/${owner.address}/boot-token`);
    await paste.fill(boot.body.unsignedTransaction);
    await press(next.page, "Review and sign");
    expect(await refusal(next.page)).toMatch(/^Refused: .*No signature was requested from your wallet\.$/);
    expect(next.wallet.signRequests).toEqual([]);
    await paste.fill(handed);
    await press(next.page, "Review and sign");
    await says(next.page, "transfers the token to you");
    await press(next.page, "Sign with Test wallet");
    await says(next.page, "On the ledger");
    await press(next.page, "Close");
    expect(next.wallet.signRequests).toEqual([[handed, true]]);

    await next.page.goto(`${arbor.tokens}/#/token/${token}`);
    await panel(next.page, "State").getByText("yours").waitFor();
    await press(next.page, "End");
    await press(next.page, "End it");
    await sign(next.page);
    await panel(next.page, "State").getByText("ended").waitFor();
    // the first owner's page has the change as well
    await panel(page, "State").getByText("ended").waitFor();
  });

  it("refuses the false transactions of an instance, and never calls the wallet", async () => {
    const token = await tokenWith("k", "v");
    const { page, wallet } = await open(owner, `#/token/${token}`, { base: proxy.url });
    await connected(page);
    const path = `/transaction/${owner.address}/request-insert/${token}`;

    // the right request is built, but the change goes to another person; the summary shows it, or is the old one
    for (const honestSummary of [true, false]) {
      proxy.falsify = async (received, answer, honest) => {
        if (received.path !== path) return undefined;
        const edited = taken(fromHex(answer.unsignedTransaction));
        const change = (edited.body.get(1n) as (Fields | Uint8Array[])[]).at(-1)!;
        const address = CSL.Address.from_bech32(other.address).to_bytes();
        if (Array.isArray(change)) change[0] = address;
        else change.set(0n, address);
        const unsignedTransaction = toHex(bound(edited));
        const request = { transaction: unsignedTransaction, address: owner.address };
        const summary = honestSummary ? await honest("POST", "/transaction/explain", request) : answer.summary;
        return { ...answer, unsignedTransaction, summary };
      };
      await request(page, "insert", "new", { new: "value" });
      expect(await refusal(page)).toMatch(/^Refused: .*pays .*No signature was requested from your wallet\.$/);
    }
    // another value, and another transaction altogether
    proxy.falsify = async (received, _answer, honest) =>
      received.path === path ? await honest("POST", path, { key: "new", newValue: "evil" }) : undefined;
    await request(page, "insert", "new", { new: "value" });
    expect(await refusal(page)).toMatch(
      /^Refused: .*The requested change does not match the intent\..*from your wallet\.$/,
    );
    proxy.falsify = async (received, _answer, honest) =>
      received.path === path ? await honest("GET", `/transaction/${owner.address}/end-token/${token}`) : undefined;
    await request(page, "insert", "new", { new: "value" });
    expect(await refusal(page)).toMatch(/^Refused: /);
    expect(wallet.signRequests).toEqual([]);
    // the true one is signed
    proxy.falsify = undefined;
    await request(page, "insert", "new", { new: "long ".repeat(1_500) });
    await says(page, "does what you requested and nothing else");
    // nor is anything submitted that the wallet did not sign with the address's key
    wallet.odd.push(() => "a0", () => "not hexadecimal", (transaction) => witnessSet(other, transaction));
    const no = "The wallet returned an invalid witness set. Nothing was submitted.";
    for (const text of [no, no, "The wallet has not signed with the key of the address. Nothing was submitted."]) {
      await press(page, "Sign with Test wallet");
      await page.locator("dialog .alert:visible", { hasText: text }).waitFor();
    }
    await landed(page);
    expect(wallet.signRequests.length).toBe(4);
  });

  it("shows if a fact does not match the state output", async () => {
    const token = await tokenWith("k", "v");
    proxy.falsify = ({ path }, answer) => {
      if (path.startsWith(`/token/${token}/facts?`)) return Promise.resolve({ k: { ...answer.k, value: "forged" } });
      if (path !== `/token/${token}/facts/k`) return Promise.resolve(undefined);
      return Promise.resolve({ ...answer, value: "forged", valueHex: toHex(new TextEncoder().encode("forged")) });
    };
    const { page } = await open(other, `#/token/${token}`, { base: proxy.url });
    const facts = panel(page, "Facts");
    const fact = facts.locator("li", { hasText: "k = forged" });
    await fact.getByRole("button", { name: "Check" }).click();
    await fact.locator(".verdict.bad", { hasText: "NOT verified The proof does not lead to the root." }).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.setViewportSize({ width: 1280, height: 720 });
    // a valid proof does not make a list right
    const { falsify } = proxy;
    proxy.falsify = async (received, answer, honest) =>
      received.path === `/token/${token}/facts/k` ? undefined : await falsify!(received, answer, honest);
    await fact.getByRole("button", { name: "Check" }).click();
    await fact.locator(".verdict.bad", { hasText: "another value than the list" }).waitFor();
  });

  it("refuses a wallet of another network, and shows what it can without one", async () => {
    const { page } = await open(owner, "#/", { networkId: 1 });
    await page.getByText("The wallet is on the main network, and this service on a test network.").waitFor();
    await press(page, "Boot a token");
    expect(await refusal(page)).toBe("Connect a wallet first: it signs, and its address pays.");
    await page.goto(`${arbor.tokens}/#/token/${"0".repeat(64)}`);
    await page.getByText(`No token ${"0".repeat(64)} exists.`).waitFor();
    await page.goto(`${arbor.tokens}/#/nowhere`);
    await page.getByRole("heading", { name: "No such page" }).waitFor();
  });
});
