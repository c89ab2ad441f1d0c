/** The page of the wallet service: longer tasks, all of its views, and a thousand wallets. */
/// <reference lib="dom" />
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { newSeed, publicKey } from "#src/cardano/keys.ts";
import { startBrowser } from "../support/browser.ts";
import { expectAccessible, expectFits, expectFocusVisible, interactionMs, PHONE } from "../support/pages.ts";
import { ADA, PASSPHRASE, Scenario } from "../support/scenario.ts";
import { until } from "../support/until.ts";
import {
  field,
  hasStat,
  panel,
  press,
  secret,
  sign,
  tab,
  WalletPages,
  writePhraseDown,
} from "../support/wallet_page.ts";

const browser = await startBrowser();

describe.skipIf(browser === undefined)("the page of the wallet service", () => {
  let scenario: Scenario;
  let pages: WalletPages;

  beforeAll(async () => {
    scenario = await Scenario.start();
    pages = new WalletPages(browser!, scenario);
  });
  afterEach(() => pages.close());
  afterAll(async () => {
    await browser?.close();
    await scenario?.stop();
  });

  it("joins a pool, delegates the vote, and stops delegating", async () => {
    const { id } = await scenario.createWallet({ name: "Staker", coins: [50n * ADA, 50n * ADA] });
    const page = await pages.open(`/wallets/${id}/staking`);
    await page.getByRole("button", { name: /^Join pool1/ }).first().click();
    const review = panel(page, "Check before you sign");
    await review.getByText(/Delegates the stake to pool1/).waitFor();
    expect(await review.innerText()).toMatch(/Deposit\s+2\.000000 ada/);
    await sign(page, "Sign and join");
    await tab(page, "Overview");
    await hasStat(page, "Deposit", "2");
    await tab(page, "Voting");
    await press(page, "Choose No confidence");
    await panel(page, "Check before you sign").getByText("Delegates the vote to No confidence").waitFor();
    await sign(page, "Sign and delegate the vote");
    await tab(page, "Staking");
    await press(page, "Stop delegating");
    await panel(page, "Check before you sign").getByText("Stops delegating").waitFor();
    await sign(page, "Sign and stop delegating");
    const [last] = await scenario.client.transactions(id);
    expect(last!.certificates.map((one) => one.certificate_type)).toEqual(["quit_pool"]);
  });

  it("mints and burns tokens, and sends them with the least ada", async () => {
    const { id } = await scenario.createWallet({ name: "Mint", coins: [50n * ADA, 50n * ADA] });
    const page = await pages.open(`/wallets/${id}/mint`);
    await field(page, "Name of the token").fill("Leaf");
    await field(page, "Quantity").fill("1000");
    await press(page, "Review");
    await panel(page, "Check before you sign").getByText("+1,000").waitFor();
    await sign(page, "Sign and mint");
    await tab(page, "Overview");
    const row = panel(page, "Tokens").locator("tr", { hasText: "Leaf" });
    await row.getByText("1,000").waitFor();
    await row.getByText(/^asset1/).waitFor();
    await row.getByRole("link", { name: "Send" }).click();
    await field(page, "Address").fill(await scenario.address(id, 5));
    await field(page, "Quantity").fill("10");
    await press(page, "Review");
    await panel(page, "Check before you sign").getByText("an address of this wallet").waitFor();
    await sign(page, "Sign and send");
    await tab(page, "Mint");
    await press(page, "Burn");
    await field(page, "Quantity").fill("400");
    await press(page, "Review");
    await sign(page, "Sign and burn");
    const { assets } = await scenario.client.wallet(id);
    expect(assets.total.map(({ quantity }) => quantity)).toEqual([600]);
  });

  it("shares a wallet between two owners, who both sign a payment", async () => {
    const create = async (page: Page) => {
      await writePhraseDown(page);
      await press(page, "Continue");
      await secret(page, "Passphrase").fill(PASSPHRASE);
      await secret(page, "Passphrase, again").fill(PASSPHRASE);
      await press(page, "Create the shared wallet");
      await panel(page, "The rule").waitFor();
      return /#\/shared-wallets\/([0-9a-f]{40})/.exec(page.url())![1]!;
    };
    const first = await pages.open("/new/shared");
    await field(first, "Name").fill("Club");
    await press(first, "Continue");
    const [firstId, invitation] = [await create(first), await field(first, "Invitation").inputValue()];
    await first.getByText("Owner 2 has not joined yet.").waitFor();
    const second = await pages.open("/new/shared");
    await press(second, "I was invited");
    await field(second, "Text that another owner sent you").fill(invitation);
    await second.getByText("all of: Owner 1, Owner 2").waitFor();
    await press(second, "Continue");
    const secondId = await create(second);
    await second.getByText("All keys are here.").waitFor();
    const key = await scenario.client.accountKey(secondId, "extended", "shared-wallets");
    await field(first, "Key of Owner 2").fill(key);
    await press(first, "Add");
    await first.getByText("All keys are here.").waitFor();
    // both have the same addresses now
    await tab(first, "Receive");
    const address = await first.locator(".address").innerText();
    expect(address).toBe((await scenario.client.nextAddress(secondId, "shared-wallets")).id);
    await scenario.faucet(address, 30n * ADA);
    await tab(first, "Overview");
    await hasStat(first, "Available", "30");
    await tab(first, "Send");
    await field(first, "Address").fill((await scenario.client.addresses(firstId, {}, "shared-wallets"))[2]!.id);
    await field(first, "Ada").fill("5");
    await press(first, "Review");
    await secret(first).fill(PASSPHRASE);
    await press(first, "Sign");
    await first.locator(".signers li", { hasText: "Owner 1" }).getByText("Signed").waitFor();
    const passed = await first.getByLabel("The transaction as text").inputValue();
    await tab(second, "Sign");
    await field(second, "Transaction").fill(passed);
    await press(second, "Read it");
    await second.locator(".signers li", { hasText: "Owner 1" }).getByText("Signed").waitFor();
    await secret(second).fill(PASSPHRASE);
    await press(second, "Sign");
    await second.getByText("Enough owners have signed.").waitFor();
    await press(second, "Send to the network");
    await panel(second, "Sent").getByText("It is in the ledger.").waitFor();
    await tab(first, "History");
    await panel(first, "Transactions").getByText("Sent to itself").waitFor();
  });

  it("has no axe violations in both themes, shows the focus, and fits a phone", async () => {
    const { id } = await scenario.createWallet({ name: "W".repeat(120), coins: [ADA * 5n, 999_999_999_999n] });
    const { old: { id: byron }, shared } = await scenario.createOtherKinds();
    const page = await pages.open("/");
    await page.locator("tbody tr").first().waitFor();
    const views = [
      ["/", "tbody tr"],
      ["/new", ".way"],
      ["/new/create", ".phrase"],
      ["/new/restore", "textarea"],
      [`/wallets/${id}`, "tbody tr"],
      [`/wallets/${id}/send`, "fieldset"],
      [`/wallets/${id}/receive`, ".qr"],
      [`/wallets/${id}/history`, "tbody tr"],
      [`/wallets/${id}/staking`, "tbody tr"],
      [`/wallets/${id}/settings`, ".chart"],
      [`/wallets/${id}/voting`, ".plain-list"],
      [`/wallets/${id}/mint`, "form"],
      [`/wallets/${id}/move`, "textarea"],
      [`/wallets/${id}/sign`, "textarea"],
      [`/byron-wallets/${byron}/receive`, "form"],
      [`/shared-wallets/${shared.id}/owners`, ".plain-list"],
      ["/new/shared", "select"],
      ["/new/watch", "textarea"],
    ] as const;
    for (const [path, ready] of views) {
      await page.evaluate((to) => void (location.hash = to), path);
      await page.locator(ready).first().waitFor();
      await expectAccessible(page, path);
    }
    await page.evaluate(() => void (location.hash = "/"));
    await page.locator("tbody tr").first().waitFor();
    await expectFocusVisible(page);
    const phone = await pages.open("/", PHONE);
    for (const [path, ready] of views) {
      await phone.evaluate((to) => void (location.hash = to), path);
      await phone.locator(ready).first().waitFor();
      await expectFits(phone);
    }
  });

  it("stays responsive with a thousand wallets", async () => {
    const key = () => toHex(publicKey(newSeed())) + toHex(crypto.getRandomValues(new Uint8Array(32)));
    for (let i = 0; i < 1_000; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, j) =>
        scenario.client.create({
          name: `Wallet ${i + j}`,
          account_public_key: key(),
          address_pool_gap: 10,
          restoration_mode: "from_tip",
        })));
    }
    const page = await pages.open("/");
    await page.getByText(/of 1,0\d\d$/).waitFor();
    const measured = {
      sort: await interactionMs(page, "th button.sort"),
      next: await page.evaluate(async () => {
        const next = [...document.querySelectorAll<HTMLElement>(".pager button")].find((one) =>
          one.textContent === "Next"
        )!;
        const begun = performance.now();
        next.click();
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        return performance.now() - begun;
      }),
    };
    await page.getByRole("searchbox").fill("Wallet 77");
    await until("the wallets with this name", async () => await page.locator("tbody tr").count() === 11);
    const open = performance.now();
    await page.getByRole("link", { name: "Wallet 777" }).click();
    await page.getByRole("heading", { name: "Wallet 777" }).waitFor();
    const shown = Object.entries({ ...measured, open: performance.now() - open }).map(([name, ms]) =>
      `${name} ${ms.toFixed()}`
    );
    console.log(`a thousand wallets, milliseconds: ${shown.join(", ")}`);
  });
});
