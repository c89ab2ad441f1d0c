/** The page of the token service verifies what it shows against another instance, and finds what is not proven. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { itLong } from "../../support/base/longTests.ts";
import { startFalsifyingProxy } from "../../support/infra/falsifyingProxy.ts";
import type { Falsify, FalsifyingProxy } from "../../support/infra/falsifyingProxy.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { expectAccessible, expectFits, Pages, PHONE } from "../../support/pages/pages.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { LoggedTokens } from "../../support/tlog/tokenLog.ts";

const browser = await sharedBrowser();
/** Timeout for expected content on a busy machine, in milliseconds. */
const PATIENCE = 60_000;

describe.skipIf(browser === undefined)("verification on the page of the token service", () => {
  let infra: Infra;
  let arbor: Arbor;
  let proxy: FalsifyingProxy;
  let people: LoggedTokens;
  let [first, second, open]: [string, string, string] = ["", "", ""];
  const pages = new Pages(browser!);

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra, blockMs: 0 });
    proxy = await startFalsifyingProxy(arbor.tokens);
    people = new LoggedTokens(arbor.tokens, arbor.devnet);
    await people.fund();
    [first, second] = [await people.boot(), await people.boot()];
    for (const [key, value] of [["planet", "Earth"], ["moon", "Luna"]]) await people.insert(first, key!, value);
    open = `${await people.request(first, "star", "Sun")}-0`;
  });
  afterEach(async () => {
    proxy.falsify = undefined;
    await pages.close();
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.stop();
    await arbor?.end();
    await infra?.stop();
  });

  /** A view in a browser in which the reader has named instances, which a lying service serves. */
  const view = async (hash: string, urls: readonly string[] = [arbor.devnet], options = {}): Promise<Page> => {
    const page = await pages.newPage(options);
    page.setDefaultTimeout(PATIENCE);
    await page.context().addInitScript(
      (kept) => localStorage.setItem("arbor-token-instances", kept),
      JSON.stringify({ urls }),
    );
    await page.goto(`${proxy.url}/${hash}`);
    return page;
  };
  const goodIn = (page: Page, name: string) =>
    page.locator(".proven.good", { hasText: name }).locator("p").first().textContent();
  const badIn = (page: Page) => page.locator(".proven.bad [role=alert]").first().textContent();
  const lying = async (hash: string, falsify: Falsify): Promise<string | null> => {
    proxy.falsify = falsify;
    return await badIn(await view(hash));
  };

  it("shows at which block and against which instance all tokens, a state, requests and facts are proven", async () => {
    const at = new RegExp(String.raw` at block [0-9a-f]+….* in slot [\d,]+ \(.*\) against ${arbor.devnet}\.$`);
    const list = await view("#/");
    expect(await goodIn(list, "The list of tokens is complete and proven")).toMatch(at);
    await list.getByText("What was checked, and what was not").click();
    await list.getByText("2 of them are states of tokens: each holds one asset of the contract").waitFor();
    await list.getByText(`it rests on ${arbor.devnet}.`).waitFor();
    await list.getByText("it comes from the service that it verifies").waitFor();
    await expectAccessible(list);
    const token = await view(`#/token/${first}`, undefined, PHONE);
    expect(await goodIn(token, "The state of this token is proven")).toMatch(at);
    expect(await goodIn(token, "The set of facts is complete and proven")).toMatch(at);
    await expectAccessible(token);
    await expectFits(token);
    const requests = await view(`#/token/${first}?tab=requests`);
    expect(await goodIn(requests, "The list of open requests is complete and proven")).toMatch(at);
    await expectAccessible(requests);
  });

  itLong("verifies again when the view shows something else", async () => {
    const page = await view(`#/token/${second}?tab=requests`);
    const slotOf = async () => /in slot ([\d,]+)/.exec(await goodIn(page, "The list of open requests") ?? "")![1];
    const before = await slotOf();
    await people.request(second, "comet", "Halley");
    await page.locator(".request").first().waitFor();
    await expect.poll(slotOf, { timeout: PATIENCE }).not.toBe(before);
  });

  itLong("shows the refusal of an answer that proves less than it says", async () => {
    const omitting = await lying("#/", ({ path }, answer) => {
      if (path !== "/tokens?proof=true") return Promise.resolve(undefined);
      const tokens = answer.tokens.map((set: { entries: unknown[] }) => ({ ...set, entries: set.entries.slice(1) }));
      return Promise.resolve({ ...answer, tokens });
    });
    expect(omitting).toMatch(
      /^NOT proven The \d outputs that the response shows are not all outputs of the contract [0-9a-f]{56} after the block: outputs are missing, added or changed\. .*\(incomplete\)$/,
    );
    const other = await fetch(`${arbor.tokens}/token/${second}?proof=true`).then((answer) => answer.json());
    const replayed = await lying(
      `#/token/${first}`,
      ({ path }) => Promise.resolve(path === `/token/${first}?proof=true` ? other : undefined),
    );
    expect(replayed).toMatch(/^NOT proven The output [0-9a-f]{64}#0 is unspent, but is no state of the token/);
  });

  it("shows what it lists and what is not proven, where the proof itself is honest", async () => {
    expect(
      await lying("#/", ({ path }, answer) =>
        Promise.resolve(
          path === "/tokens"
            ? { ...answer, tokens: answer.tokens.filter(({ tokenId }: { tokenId: string }) => tokenId !== second) }
            : undefined,
        )),
    ).toBe(`NOT proven The page does not show ${second}, which is proven. (shown_differs)`);
    const page = await lying(`#/token/${first}?tab=requests`, ({ path }, answer) =>
      Promise.resolve(
        path.includes("/requests?encoding=hex") ? { ...answer, total: 0, requests: [] } : undefined,
      ));
    expect(page).toBe(`NOT proven The page does not show ${open}, which is proven. (shown_differs)`);
    const planet = "706c616e6574";
    const changed = await lying(`#/token/${first}`, ({ path }, answer) =>
      Promise.resolve(
        path.includes("/facts?slots") ? { ...answer, [planet]: { ...answer[planet], value: "4d617273" } } : undefined,
      ));
    expect(changed).toBe(`NOT proven The page shows other content of ${planet} than is proven. (shown_differs)`);
  });

  it("names the instances in a dialog, which says what the operator sets and that a page can lie", async () => {
    const page = await pages.open(`${arbor.tokens}/#/`);
    page.setDefaultTimeout(PATIENCE);
    await page.getByText("it is not verified against other instances").waitFor();
    await page.getByRole("button", { name: "Verify against other instances" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("--page-connect URL,URL (ARBOR_PAGE_CONNECT)").waitFor();
    await dialog.getByText("A service that lies can send a page that lies").waitFor();
    await expectAccessible(page);
    const urls = dialog.getByLabel("URLs of the instances, one in a line");
    const refusedFor = async (text: string, quorum = "") => {
      await urls.fill(text);
      await dialog.getByLabel("How many must know the root").fill(quorum);
      await dialog.getByRole("button", { name: "Save" }).click();
      return await dialog.getByRole("alert").textContent();
    };
    expect(await refusedFor("https://one.example")).toBe(
      "The policy of this page does not allow https://one.example. The operator of this service allows it with " +
        "--page-connect https://one.example (ARBOR_PAGE_CONNECT).",
    );
    expect(await refusedFor(arbor.tokens)).toBe(`${arbor.tokens} is this service itself: name another instance.`);
    expect(await refusedFor("one")).toBe("one is not the URL of an instance.");
    expect(await refusedFor(arbor.devnet, "2")).toBe("A quorum is a whole number from 1 to 1.");
    await dialog.getByLabel("How many must know the root").fill("1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await goodIn(page, "The list of tokens is complete and proven");
    await page.reload();
    await goodIn(page, "The list of tokens is complete and proven");
  });

  itLong("says that an instance cannot be read, and what that instance needs", async () => {
    const page = await view("#/", [`${arbor.devnet}/nowhere`]);
    expect(await badIn(page)).toMatch(
      /^NOT proven 0 of 1 instances know the block in slot \d+, and 1 must\..*\(no_quorum\)$/,
    );
    await page.getByText("and where it has a root").waitFor();
    await expectAccessible(page);
  });
});
