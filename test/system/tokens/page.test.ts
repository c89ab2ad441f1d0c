/** The page of the token service in a browser with a wallet, on a ledger; and on an instance that falsifies answers. */
/// <reference lib="dom" />
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { OWN_DEVNET, startService } from "../../support/service/provider.ts";
import { bound, type Fields, taken } from "../../support/ledger/editableTransactions.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { type BrowserWallet, installWallet, witnessSet } from "../../support/pages/browserWallet.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { type FalsifyingProxy, startFalsifyingProxy } from "../../support/infra/falsifyingProxy.ts";
import { itLong } from "../../support/base/longTests.ts";
import { expectAccessible, expectFits, expectFocusVisible, PHONE } from "../../support/pages/pages.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

const browser = await sharedBrowser();
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
    arbor = await startService({ infra, mining: "submit" });
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

  /** A page that may send requests to its own service and to the devnet's wallet alone. */
  const newPage = async (base: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser!.newContext(options);
    contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
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
    return page;
  };
  /** The page with a user's wallet connected, at a view. */
  const open = async (
    user: User,
    hash = "#/",
    { base = arbor.tokens, networkId = 0 } = {},
  ): Promise<{ page: Page; wallet: BrowserWallet }> => {
    const page = await newPage(base);
    const wallet = await installWallet(page.context(), user, { networkId });
    await page.goto(`${base}/${hash}`);
    await press(page, "Connect wallet");
    await press(page, "Connect Test wallet");
    return { page, wallet };
  };
  const connected = async (page: Page) => {
    await page.getByText("Connected: Test wallet.").waitFor();
    await press(page, "Done");
  };
  const press = (page: Page, name: string | RegExp) =>
    page.getByRole("button", { name, exact: typeof name === "string" }).click();
  /** Waits until the dialog contains a text; a refusal instead of it is an error. */
  const says = async (page: Page, text: string | RegExp) => {
    const alert = page.locator("dialog [role=alert]:visible");
    await page.locator("dialog [role=status]", { hasText: text }).or(alert).first().waitFor();
    expect(await alert.allTextContents()).toEqual([]);
  };
  const refusal = async (page: Page) => {
    const alert = page.locator("dialog [role=alert]:visible");
    await alert.waitFor();
    const text = await alert.textContent();
    await press(page, "Done");
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
    await press(page, "Done");
  };
  const tab = (page: Page, name: string) =>
    page.getByRole("navigation", { name: "Parts of the token" }).getByRole("link", { name }).click();
  const request = async (page: Page, type: string, key: string, values: { old?: string; new?: string }) => {
    const change = page.getByLabel("Change", { exact: true });
    if (!await change.isVisible()) await press(page, "Request a change");
    await change.selectOption(type);
    await page.getByLabel("Key", { exact: true }).fill(key);
    if (values.old !== undefined) await page.getByLabel("Current value").fill(values.old);
    if (values.new !== undefined) await page.getByLabel("New value").fill(values.new);
    await press(page, "Request");
  };
  const panel = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
  const live = (page: Page) => page.locator("#link[data-state=live]").waitFor();

  /** A token of the owner's with a fact, made over HTTP. */
  const tokenWith = async (key: string, newValue: string, encoding = "text"): Promise<string> => {
    const boot = await http(arbor.tokens, "GET", `/transaction/${owner.address}/boot-token`);
    await land(arbor.tokens, owner.sign(boot.body.unsignedTransaction));
    const token = boot.body.value as string;
    const requestBuild = await http(
      arbor.tokens,
      "POST",
      `/transaction/${owner.address}/request-insert/${token}?encoding=${encoding}`,
      {
        key,
        newValue,
      },
    );
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
    await expectAccessible(page, "the summary of a transaction");
    wallet.refusals.push({ code: 2, info: "declined by the test" });
    await press(page, "Sign with Test wallet");
    expect(await page.locator("dialog [role=alert]:visible").textContent()).toBe(
      "You declined to sign. Nothing was submitted. It says: declined by the test",
    );
    await press(page, "Sign with Test wallet");
    await says(page, "On the ledger");
    expect(wallet.signRequests.map(([, partial]) => partial)).toEqual([false, false]);
    await page.getByRole("link", { name: "Open the token" }).click();
    await live(page);
    const token = new URL(page.url()).hash.replace("#/token/", "");
    const facts = panel(page, "Facts");
    await facts.getByText("No facts yet").waitFor();
    // the browser's Back takes the dialog with its view
    await request(page, "insert", "left", { new: "x" });
    await says(page, "does what you requested and nothing else");
    await page.goBack();
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.goForward();
    await facts.getByText("No facts yet").waitFor();

    const key = "<img src=x onerror=alert(1)>\u202e\0";
    await request(page, "insert", key, { new: "one " });
    await page.locator("dialog .effects", { hasText: "insert <img src=x onerror=alert(1)>\\u{202e}\\x00 = one\\x20" })
      .waitFor();
    await sign(page);
    await tab(page, "Open requests 1");
    const open1 = panel(page, "Open requests").getByRole("listitem").filter({ hasText: "\\u{202e}\\x00 = one\\x20" });
    await open1.getByText("can be applied now").waitFor();
    await open1.getByText("deposit").waitFor();
    await expectAccessible(page, "open requests");
    await press(page, "Dry run");
    await page.getByText("1 would be applied, for a fee of").waitFor();
    await press(page, "Apply all that fit");
    await sign(page);

    await tab(page, "Facts 1");
    await facts.locator(".fact-value", { hasText: "one\\x20" }).waitFor();
    await press(page, /^Verify the proof of <img/);
    await facts.getByText("✓ Verified").waitFor();
    await facts.locator(".fact-key").click();
    await facts.getByText("The proof leads from key and value to the state output").waitFor();
    await facts.getByText("Check a key that is not listed").click();
    await facts.getByLabel("Key, whether it has a value or not").fill("nothing");
    await press(page, "Check the key");
    await facts.locator(".verdict.good", { hasText: "This key has no value" }).waitFor();
    // another provider's state
    const { body: { stateOutput } } = await http(arbor.tokens, "GET", `/token/${token}/facts/nothing`);
    await facts.getByLabel("Datum of the token's state output").fill(stateOutput.datum);
    await press(page, "Check the key");
    await facts.locator(".verdict.good", { hasText: "the datum that you gave" }).waitFor();
    await facts.getByLabel("Datum of the token's state output").fill(stateOutput.datum.replace(/..$/, "00"));
    await press(page, "Check the key");
    await facts.locator(".verdict.bad", { hasText: "NOT verified" }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    await expectAccessible(page, "facts");

    await tab(page, "History");
    const history = page.getByRole("list", { name: "History" }).getByRole("listitem");
    await expect.poll(() => history.locator(".timeline-title").allTextContents(), { timeout: PATIENCE }).toEqual([
      "Applied a request",
      "Requested a change",
      "Booted",
    ]);
    const link = history.first().getByRole("link");
    expect(await link.count()).toBe(OWN_DEVNET ? 1 : 0);
    if (OWN_DEVNET) {
      expect(await link.getAttribute("href")).toMatch(new RegExp(`^${arbor.devnet}/#/tx/[0-9a-f]{64}$`));
    }
    await expectAccessible(page, "history");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Tokens" }).click();
    await page.getByRole("row").filter({ hasText: "yours" }).first().waitFor();
    await expectAccessible(page, "the list of tokens");
  });

  itLong("retracts a request, applies and refuses selected ones, transfers a token and ends it", async () => {
    const token = await tokenWith("k", "v");
    const { page } = await open(owner, `#/token/${token}?tab=requests`);
    await connected(page);
    const requests = panel(page, "Open requests");
    await request(page, "update", "k", { old: "v", new: "w" });
    await sign(page);
    await press(page, "Take back the request to update k");
    await sign(page);
    await requests.getByText("No open requests").waitFor();
    await request(page, "delete", "k", { old: "v" });
    await sign(page);
    await request(page, "insert", "other", { new: "refused" });
    await sign(page);
    await request(page, "insert", "k", { new: "too early" });
    await says(page, "does what you requested and nothing else");
    await landed(page);
    // the outlook is that of the oldest first: the deletion makes room for the insertion
    await expect.poll(() => requests.locator(".request-line .badge").allTextContents(), { timeout: PATIENCE }).toEqual(
      Array(3).fill("can be applied now"),
    );
    await page.getByRole("checkbox", { name: "Select the request to delete k" }).check();
    await press(page, "Apply selected");
    await sign(page);
    await request(page, "update", "absent", { old: "v", new: "w" });
    await landed(page);
    await page.getByRole("checkbox", { name: "Select the request to update absent" }).check();
    await press(page, "Apply selected");
    expect(await refusal(page)).toMatch(/^A request cannot be applied\. [0-9a-f]{6}….*: the key is not in the trie\.$/);
    await press(page, "Take back the request to update absent");
    await sign(page);
    await press(page, "Refuse the request to insert other");
    await page.locator("dialog .effects", { hasText: "Refuses the request" }).waitFor();
    await sign(page);
    await press(page, "Take back the request to insert k");
    await sign(page);
    await tab(page, "Facts 0");
    await panel(page, "Facts").getByText("No facts yet").waitFor();
    await tab(page, "History");
    await press(page, "Refused");
    const titles = () => page.locator(".timeline-title").allTextContents();
    await expect.poll(titles, { timeout: PATIENCE }).toEqual(["Refused a request"]);
    await page.getByRole("list", { name: "History" }).getByText("insert other = refused").waitFor();
    await press(page, "Everything");
    await page.getByRole("button", { name: "History of this key: k", exact: true }).first().click();
    await panel(page, "History of a key").getByText("delete k, which is v").waitFor();

    await press(page, "Transfer the token");
    await page.getByLabel("Address of the new owner").fill(other.address);
    await press(page, "Transfer");
    await says(page, "does what you requested and nothing else");
    await press(page, "Sign with Test wallet");
    const handed = await page.getByLabel("The transaction with your signature").inputValue();
    await press(page, "Done");

    const next = await open(other, "#/accept");
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
    await next.page.getByRole("link", { name: "Open the token" }).click();
    expect(next.wallet.signRequests).toEqual([[handed, true]]);
    await expect.poll(() => next.page.url()).toBe(`${arbor.tokens}/#/token/${token}`);
    await next.page.getByText("yours", { exact: true }).waitFor();
    const buttons = await next.page.getByRole("region", { name: "Actions" }).getByRole("button")
      .allTextContents();
    expect(buttons.at(-1)).toBe("End the token");
    await press(next.page, "End the token");
    await next.page.getByRole("dialog").getByRole("button", { name: "End the token" }).click();
    await sign(next.page);
    await next.page.getByText("The token has ended").waitFor();
    // the first owner's page has the change as well
    await page.getByText("The token has ended").waitFor();
    await press(page, "Everything of the token");
    await expect.poll(() => page.locator(".timeline-title").allTextContents()).toContain(
      "Transferred to another owner",
    );
  });

  it("refuses the false transactions of an instance, and never calls the wallet", async () => {
    const token = await tokenWith("k", "v");
    const { page, wallet } = await open(owner, `#/token/${token}`, { base: proxy.url });
    await connected(page);
    const path = `/transaction/${owner.address}/request-insert/${token}?encoding=hex`;

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
      received.path === path
        ? await honest("POST", path, { key: toHex(utf8("new")), newValue: toHex(utf8("evil")) })
        : undefined;
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
      await page.locator("dialog [role=alert]:visible", { hasText: text }).waitFor();
    }
    await landed(page);
    expect(wallet.signRequests.length).toBe(4);
  });

  itLong("shows if a fact does not match the state output", async () => {
    const token = await tokenWith("k", "v");
    const [key, forged] = [toHex(utf8("k")), toHex(utf8("forged"))];
    proxy.falsify = ({ path }, answer) => {
      if (path.startsWith(`/token/${token}/facts?`)) {
        return Promise.resolve({ [key]: { ...answer[key], value: forged } });
      }
      if (path !== `/token/${token}/facts/k`) return Promise.resolve(undefined);
      return Promise.resolve({ ...answer, value: "forged", valueHex: forged });
    };
    const page = await newPage(proxy.url, PHONE);
    await page.goto(`${proxy.url}/#/token/${token}`);
    const facts = panel(page, "Facts");
    await facts.locator(".fact", { hasText: "forged" }).waitFor();
    await press(page, "Verify the proof of k");
    await facts.getByText("NOT verified").waitFor();
    await facts.locator(".verdict.bad", { hasText: "The proof does not lead to the root." }).waitFor();
    await expectFits(page);
    // the bar covers nothing that the page scrolls to
    await press(page, "Request a change");
    const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!;
    const bar = await boxOf("header.bar");
    await expect.poll(async () => (await boxOf("#request-change")).y).toBeGreaterThanOrEqual(bar.y + bar.height);
    await page.reload();
    // a valid proof does not make a list right
    const { falsify } = proxy;
    proxy.falsify = async (received, answer, honest) =>
      received.path === `/token/${token}/facts/k` ? undefined : await falsify!(received, answer, honest);
    await press(page, "Verify it");
    await facts.locator(".verdict.bad", { hasText: "another value than the list" }).waitFor();
    for (const view of ["requests", "history"]) {
      await page.goto(`${proxy.url}/#/token/${token}?tab=${view}`);
      await live(page);
      await expectFits(page);
    }
    for (const view of ["", "accept"]) {
      await page.goto(`${proxy.url}/#/${view}`);
      await live(page);
      await expectFits(page);
    }
  });

  it("leads to the pages of the other services, where its transactions and its actor open", async () => {
    const token = await tokenWith("k", "v");
    const page = await newPage(arbor.tokens);
    await page.goto(`${arbor.tokens}/#/token/${token}?tab=history`);
    await live(page);
    const pages = page.getByRole("navigation", { name: "Pages" });
    expect(await pages.getByRole("link").allTextContents())
      .toEqual(["Tokens", "Wallets", ...(OWN_DEVNET ? ["Explorer"] : []), "Operator", "API", "Guide"]);
    const actor = (await page.getByRole("link", { name: "Actor" }).getAttribute("href"))!;
    expect(new URL(actor).origin).toBe(new URL(arbor.operator).origin);
    const operator = await newPage(arbor.operator);
    await operator.goto(actor);
    await operator.getByRole("region", { name: "Statechart" }).waitFor();
    if (OWN_DEVNET) {
      const transaction = (await page.locator(`a[href^="${arbor.devnet}/#/tx/"]`).first().getAttribute("href"))!;
      const explorer = await newPage(arbor.devnet);
      await explorer.goto(transaction);
      await explorer.getByText("in a block").first().waitFor();
      const actors = (await explorer.getByRole("link", { name: "Actors" }).getAttribute("href"))!;
      await operator.goto(actors);
      await operator.getByText(token.slice(0, 8)).first().waitFor();
    }
    const phone = await newPage(arbor.tokens, PHONE);
    await phone.goto(arbor.tokens);
    await live(phone);
    const link = phone.getByRole("link", { name: "Wallets" });
    expect(await link.isVisible()).toBe(false);
    await press(phone, /^Tokens/);
    await link.waitFor();
    await expectFits(phone);
    await expectAccessible(phone);
    await phone.keyboard.press("Escape");
    await link.waitFor({ state: "hidden" });
  });

  it("shows bytes that are no text, finds them, and requests them in hexadecimal", async () => {
    const value = toHex(utf8(JSON.stringify({ list: [1, { deep: null }], name: "x".repeat(700) })));
    const token = await tokenWith("ff00", value, "hex");
    const { page } = await open(owner, `#/token/${token}?tab=facts`);
    await connected(page);
    const facts = panel(page, "Facts");
    await press(page, "Verify the proof of \\xff\\x00");
    await facts.getByText("✓ Verified").waitFor();
    await facts.locator(".fact-key").click();
    await facts.locator(".tree").getByText("deep:").waitFor();
    await facts.locator(".fact-body > .value-view").getByRole("button", { name: "Text" }).click();
    await facts.getByRole("button", { name: /^Show all 7\d\d characters$/ }).click();
    const search = facts.getByRole("searchbox");
    const odd = facts.getByText("After 0x, enter hexadecimal digits in pairs.");
    for (const [text, found] of [["0xff", 1], ["xxx", 1], ["nothing of it", 0], ["0x6465657", 1], ["", 1]] as const) {
      await search.fill(text);
      if (text === "0x6465657") await odd.waitFor();
      else await expect.poll(() => facts.locator(".fact").count(), { timeout: PATIENCE }).toBe(found);
    }
    // the list moves up as it goes: a click at that moment would begin and end on different elements
    await odd.waitFor({ state: "hidden" });
    await facts.locator(".fact-key").click();
    await press(page, "Request its deletion");
    await expect.poll(() => page.getByLabel("Key", { exact: true }).inputValue(), { timeout: PATIENCE }).toBe("ff00");
    expect(await page.getByLabel("Current value").inputValue()).toBe(value);
    await press(page, "Request");
    await page.locator("dialog .effects", { hasText: "delete \\xff\\x00" }).waitFor();
    await press(page, "Cancel");
    await press(page, "History of \\xff\\x00");
    await panel(page, "History of a key").getByText("insert \\xff\\x00 =").waitFor();
  });

  itLong("lists tokens with their counts, in an order and under labels that stay", async () => {
    const [first, second] = [await tokenWith("a", "1"), await tokenWith("b", "2")];
    const page = await newPage(arbor.tokens);
    await page.goto(`${arbor.tokens}/#/token/${first}`);
    await press(page, "Add a label");
    await page.getByLabel("Label", { exact: true }).fill("My <b>books</b>");
    await press(page, "Save");
    await page.getByRole("heading", { name: "My <b>books</b>" }).waitFor();
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual(["arbor-token-labels"]);
    await page.goto(`${arbor.tokens}/#/`);
    const rows = page.locator("tbody tr");
    const ids = async () =>
      (await rows.locator("td:first-child .id-text").evaluateAll((all) => all.map((one) => (one as HTMLElement).title)))
        .filter((id) => id === first || id === second);
    await expect.poll(ids, { timeout: PATIENCE }).toEqual([second, first]);
    await rows.filter({ hasText: "My <b>books</b>" }).waitFor();
    // a request makes the older token the one that changed last, and leaves it at its place
    const path = `/transaction/${other.address}/request-insert/${first}`;
    const built = await http(arbor.tokens, "POST", path, { key: "c", newValue: "3" });
    await land(arbor.tokens, other.sign(built.body.unsignedTransaction));
    const cells = rows.filter({ hasText: "My <b>books</b>" }).locator("td");
    await expect.poll(async () => (await cells.allTextContents()).slice(2, 4), { timeout: PATIENCE }).toEqual([
      "1",
      "1",
    ]);
    expect(await ids()).toEqual([second, first]);
    await page.getByRole("searchbox").fill("BOOKS");
    await expect.poll(() => rows.count(), { timeout: PATIENCE }).toBe(1);
    await press(page, "Yours");
    await page.getByText("Connect a wallet to see your tokens").waitFor();
  });

  it("is used by the keyboard alone", async () => {
    const page = await newPage(arbor.tokens);
    await installWallet(page.context(), owner);
    await page.goto(`${arbor.tokens}/#/`);
    await page.locator("tbody tr").first().waitFor();
    await expectFocusVisible(page);
    const focused = (name: string) => page.getByRole("button", { name, exact: true }).and(page.locator(":focus"));
    /** Moves the focus to a button. */
    const reach = async (name: string) => {
      for (let i = 0; i < 60 && await focused(name).count() === 0; i++) await page.keyboard.press("Tab");
      await focused(name).waitFor();
    };
    await reach("Boot a token");
    await page.keyboard.press("Enter");
    await reach("Connect Test wallet");
    await page.keyboard.press("Enter");
    await focused("Sign with Test wallet").waitFor();
    await page.keyboard.press("Enter");
    await says(page, "On the ledger");
    await focused("Done").waitFor();
    // the link to the explorer stands between them
    for (let i = OWN_DEVNET ? 2 : 1; i > 0; i--) await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await panel(page, "Facts").getByText("No facts yet").waitFor();
    // Escape closes a dialog, and the focus returns
    await reach("Add a label");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await focused("Add a label").waitFor();
    // a key that was forgotten
    await reach("Request a change");
    await page.keyboard.press("Enter");
    await page.getByLabel("Change", { exact: true }).and(page.locator(":focus")).waitFor();
    await reach("Request");
    await page.keyboard.press("Enter");
    await page.getByText("Enter a key.").waitFor();
    // what opened the dialog is gone after it; a long value can be read whole before
    await request(page, "insert", "long", { new: "word ".repeat(100) });
    await sign(page);
    await tab(page, "Open requests 1");
    await page.getByText("The whole change").press("Enter");
    await page.locator(".whole-change pre").filter({ hasText: "word ".repeat(100).trim() }).waitFor();
    // the button is still there when the dialog closes, and goes with the answer that comes later
    const closed = Promise.withResolvers<void>();
    await page.route("**/token/*/requests*", async (route) => {
      await closed.promise;
      await route.continue().catch(() => undefined);
    });
    const refuse = page.getByRole("button", { name: "Refuse the request to insert long" });
    await refuse.press("Enter");
    await sign(page);
    await refuse.and(page.locator(":focus")).waitFor();
    closed.resolve();
    await page.locator("h2:focus", { hasText: "Open requests" }).waitFor();
    // a reload keeps the wallet, until the reader disconnects it
    await page.reload();
    await page.getByText("yours", { exact: true }).waitFor();
    await press(page, /^Wallet:/);
    await press(page, "Disconnect");
    await page.reload();
    await page.getByRole("button", { name: "Connect wallet" }).waitFor();
  });

  it("never says that there is nothing while it waits, and keeps what it has while the service is away", async () => {
    const token = await tokenWith("k", "v");
    const page = await newPage(arbor.tokens);
    let answers = Promise.withResolvers<void>();
    await page.route(`**/token/${token}**`, async (route) => {
      await answers.promise;
      await route.continue().catch(() => undefined);
    });
    await page.goto(`${arbor.tokens}/#/token/${token}`);
    await page.getByText("Loading").first().waitFor();
    expect(await page.getByText(/^No |None/).count()).toBe(0);
    answers.resolve();
    await panel(page, "Facts").locator(".fact").waitFor();
    await page.unroute(`**/token/${token}**`);
    await page.goto(`${arbor.tokens}/#/`);
    await page.locator("tbody tr").first().waitFor();
    await page.route("**/tokens", (route) => route.abort());
    await page.getByText("The service cannot be reached. Check that it is running. The data below may be out of date.")
      .waitFor();
    await page.locator("#link[data-state=stale]").waitFor();
    expect(await page.locator("tbody tr").count()).toBeGreaterThan(0);
    await page.unroute("**/tokens");
    await press(page, "Try again");
    await live(page);
    // an answer that is no JSON
    answers = Promise.withResolvers();
    await page.route("**/tokens", (route) => route.fulfill({ status: 200, body: "<html>" }));
    await page.reload();
    await page.getByText(/is not JSON/).waitFor();
  });

  it("refuses a wallet of another network, and shows what it can without one", async () => {
    const { page } = await open(owner, "#/", { networkId: 1 });
    await page.getByText("The wallet is on the main network, and this service on a test network.").waitFor();
    await page.keyboard.press("Escape");
    await press(page, "Boot a token");
    await page.getByRole("dialog", { name: "Connect a wallet" }).waitFor();
    await page.keyboard.press("Escape");
    await page.goto(`${arbor.tokens}/#/token/${"0".repeat(64)}`);
    await page.getByText("No such token on the ledger").waitFor();
    await page.goto(`${arbor.tokens}/#/nowhere`);
    await page.getByRole("heading", { name: "No such page" }).waitFor();
  });
});
