/** The page of the wallet service: longer tasks, all of its views, and a thousand wallets. */
/// <reference lib="dom" />
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { openStore } from "#src/store/store.ts";
import { sharedBrowser } from "../support/pages/sharedBrowser.ts";
import { interactionMs } from "../support/pages/pages.ts";
import { ADA, PASSPHRASE, Scenario } from "../support/service/scenario.ts";
import { until } from "../support/base/until.ts";
import {
  expectGoodViews,
  field,
  hasStat,
  joinPool,
  panel,
  press,
  secret,
  sign,
  tab,
  visit,
  WalletPages,
  withWalletPages,
  writePhraseDown,
} from "../support/pages/walletPage.ts";

const browser = await sharedBrowser();

/** Slots of an epoch of ten seconds: rewards come while a test waits. */
const EPOCH_SLOTS = 200;

/** Goes through the phrase and the passphrase of a shared wallet whose rule is chosen; returns its id. */
async function createShared(page: Page): Promise<string> {
  await writePhraseDown(page);
  await press(page, "Continue");
  await secret(page, "Passphrase").fill(PASSPHRASE);
  await secret(page, "Passphrase, again").fill(PASSPHRASE);
  await press(page, "Create the shared wallet");
  await panel(page, "The rule").waitFor();
  return /#\/shared-wallets\/([0-9a-f]{40})/.exec(page.url())![1]!;
}

describe.skipIf(browser === undefined)("the page of the wallet service", () => {
  let scenario: Scenario;
  let pages: WalletPages;

  withWalletPages(browser, {}, (...started) => [scenario, pages] = started);

  it("joins a pool, delegates the vote, and stops delegating", async () => {
    const { id } = await scenario.createWallet({ name: "Staker", coins: [50n * ADA, 50n * ADA] });
    const page = await pages.open(`/wallets/${id}/staking`);
    await joinPool(page);
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

  it("withdraws rewards", async () => {
    const fast = await Scenario.start({ env: { ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS), ARBOR_POOLS: "2" } });
    const { client } = fast;
    const { id } = await fast.createWallet({ name: "Earner", coins: [300_000n * ADA, 300_000n * ADA] });
    const ownPages = new WalletPages(browser!, fast);
    const page = await ownPages.open(`/wallets/${id}/staking`);
    await joinPool(page);
    // the tab that is open leads back from the result
    await tab(page, "Staking");
    const withdraw = page.getByRole("button", { name: "Withdraw the rewards" });
    await withdraw.waitFor({ timeout: 240_000 });
    const last = await until("rewards are withdrawn", async () => {
      // A withdrawal takes all rewards, so it ends with its epoch. The first block of the next one pays more of them: a
      // transaction that is built in between is never valid.
      await until("an epoch has begun with a block", async () => {
        const { slot, currentSlot } = await fast.tip();
        return Math.floor(slot / EPOCH_SLOTS) === Math.floor(currentSlot / EPOCH_SLOTS) &&
          currentSlot % EPOCH_SLOTS < EPOCH_SLOTS / 4;
      });
      await withdraw.click();
      const review = panel(page, "Check before you sign");
      await review.getByText("Rewards withdrawn").waitFor();
      expect(await review.innerText()).toContain("Becomes available");
      await secret(page).fill(PASSPHRASE);
      await press(page, "Sign and withdraw");
      await panel(page, "Sent").getByText(/It is in the ledger|It expired/).waitFor();
      const [newest] = await client.transactions(id);
      if (newest!.status !== "in_ledger") await tab(page, "Staking");
      return newest!.status === "in_ledger" && newest!;
    }, 240_000);
    await page.getByRole("link", { name: "Show the transaction" }).click();
    await page.getByText("Rewards withdrawn").waitFor();
    expect(await page.locator(".result").innerText()).toContain("Withdrew rewards");
    const [{ amount }] = last.withdrawals as unknown as [{ amount: { quantity: number } }];
    expect(amount.quantity).toBeGreaterThan(0);
    const [, joined] = (await client.transactions(id)).filter(({ status }) => status === "in_ledger");
    const fees = BigInt(last.fee.quantity) + BigInt(joined!.fee.quantity);
    expect(await fast.available(id)).toBe(600_000n * ADA - 2n * ADA + BigInt(amount.quantity) - fees);
    await ownPages.close();
    await fast.stop();
  });

  it("restores a Byron wallet, which receives and pays at the fee that was shown", async () => {
    const words = newMnemonic(12);
    const page = await pages.open("/new/restore");
    const restore = async () => {
      await field(page, "Recovery phrase").fill(words.join(" "));
      await page.getByText("A phrase of 12 words belongs to a wallet of the Byron era.").waitFor();
      await field(page, "Name").fill("From 2018");
      await secret(page, "New passphrase").fill(PASSPHRASE);
      await secret(page, "New passphrase, again").fill(PASSPHRASE);
      await press(page, "Restore the wallet");
      await page.getByRole("heading", { name: "From 2018" }).waitFor();
      await page.getByText("Ready", { exact: true }).waitFor();
      return /#\/byron-wallets\/([0-9a-f]{40})/.exec(page.url())![1]!;
    };
    const id = await restore();
    const tabs = await page.getByRole("navigation", { name: "Views of the wallet" }).getByRole("link")
      .allTextContents();
    expect(tabs).toEqual(["Overview", "Send", "Receive", "History", "Settings"]);
    await tab(page, "Receive");
    await page.getByText("No unused address", { exact: true }).waitFor();
    await secret(page, "Passphrase").fill(PASSPHRASE);
    await press(page, "Make an address");
    const address = await page.locator(".address").innerText();
    for (let i = 0; i < 3; i++) await scenario.faucet(address, 20n * ADA);
    await page.getByText("60.000000 ada came since you opened this view.").waitFor();
    await tab(page, "Overview");
    await hasStat(page, "Available", "60");
    const other = await scenario.createWallet();
    const fill = async (ada: string, place: number) => {
      await tab(page, "Send");
      await field(page, "Address").fill(await scenario.address(other.id, place));
      await field(page, "Ada").fill(ada);
      await press(page, "Review");
    };
    const fact = (name: string) => panel(page, "Check before you sign").locator(".facts > div", { hasText: name });
    await fill("25", 0);
    await fact("Spends").getByText(/coins of this wallet/).waitFor();
    const fee = /Fee\s+(0\.\d{6}) ada/.exec(await fact("Fee").innerText())![1]!;
    expect(await fact("Leaves this wallet").innerText()).toContain(`25${fee.slice(1)} ada`);
    await sign(page, "Sign and send");
    expect(await panel(page, "Sent").innerText()).toMatch(new RegExp(`Fee\\s+${fee}`));
    expect(await page.getByText("another fee than the one").count()).toBe(0);
    await scenario.untilAvailable(other.id, 25n * ADA);
    // from its words again it knows no address of its own making: change needs the passphrase
    await scenario.client.send("DELETE", `/byron-wallets/${id}`);
    await visit(page, "/new/restore");
    expect(await restore()).toBe(id);
    await fill("5", 1);
    await page.getByText("This wallet has made no address yet.").waitFor();
    await fact("Fee, estimated").getByText(/0\.1\d{5}/).first().waitFor();
    await sign(page, "Sign and send");
    await scenario.untilAvailable(other.id, 30n * ADA);
    await tab(page, "History");
    await panel(page, "Transactions").locator("tbody tr").nth(4).waitFor();
  });

  it("watches a wallet: nothing asks for a passphrase, and transactions are signed where the keys are", async () => {
    const { id } = await scenario.createWallet({ name: "Keys", coins: [100n * ADA, 50n * ADA] });
    const page = await pages.open("/new/watch");
    await field(page, "Name").fill("Eyes");
    await field(page, "Account public key").fill("acct_xvk1wrong");
    await page.getByText("This is no account public key with its chain code.").waitFor();
    await field(page, "Account public key").fill(await scenario.client.accountKey(id, "extended"));
    await press(page, "Watch it");
    await page.getByRole("heading", { name: "Eyes" }).waitFor();
    await page.getByText("Watch-only").waitFor();
    await hasStat(page, "Available", "150");
    const tabs = await page.getByRole("navigation", { name: "Views of the wallet" }).getByRole("link")
      .allTextContents();
    expect(tabs).toEqual(["Overview", "Send", "Receive", "History", "Staking", "Settings"]);
    for (const [name, ready] of [["Settings", ".chart"], ["Voting", ".plain-list"], ["Receive", ".qr"]] as const) {
      await tab(page, name);
      await page.locator(ready).first().waitFor();
      expect([name, await page.locator("input[type=password]").count()]).toEqual([name, 0]);
    }
    const handOver = async () => {
      const passed = await page.getByLabel("The transaction as text").inputValue();
      expect(await page.locator("input[type=password]").count()).toBe(0);
      const { transaction } = await scenario.client.sign(id, passed, PASSPHRASE);
      return { passed, transaction };
    };
    await tab(page, "Send");
    await field(page, "Address").fill(await scenario.address((await scenario.createWallet()).id));
    await field(page, "Ada").fill("7");
    await press(page, "Review");
    const { passed, transaction } = await handOver();
    const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Save as a file")]);
    expect(download.suggestedFilename()).toMatch(/^transaction-[0-9a-f]{8}\.txt$/);
    const saved = path.join(tmpdir(), `arbor-${crypto.randomUUID()}.txt`);
    await download.saveAs(saved);
    expect(await readFile(saved, "utf8")).toBe(passed);
    await rm(saved);
    // the same transaction without signatures, and another one, are refused
    await field(page, "Signed transaction").fill(passed);
    await press(page, "Send to the network");
    await page.getByRole("alert").waitFor();
    await field(page, "Signed transaction").fill(transaction);
    await press(page, "Send to the network");
    await panel(page, "Sent").getByText("It is in the ledger.").waitFor();
    await tab(page, "Staking");
    await page.getByRole("button", { name: /^Join pool1/ }).first().click();
    await panel(page, "Check before you sign").getByText(/Delegates the stake to pool1/).waitFor();
    await field(page, "Signed transaction").fill((await handOver()).transaction);
    await press(page, "Send to the network");
    await panel(page, "Sent").getByText("It is in the ledger.").waitFor();
  });

  it("makes the policy key of a wallet from an older release, and mints", async () => {
    const { id } = await scenario.createWallet({ name: "Old release", coins: [20n * ADA] });
    const store = openStore(scenario.infra.databaseUrl, { max: 1, application: "test" });
    await store.sql`update wallet set policy_key = null where id = ${id}`;
    await store.close();
    const page = await pages.open(`/wallets/${id}/mint`);
    await page.getByText("This wallet has no policy key yet.").waitFor();
    await secret(page).fill("not the passphrase");
    await press(page, "Make the policy key");
    await page.getByRole("alert").filter({ hasText: "This is not the passphrase of this wallet." }).waitFor();
    await secret(page).fill(PASSPHRASE);
    await press(page, "Make the policy key");
    await field(page, "Name of the token").fill("Twig");
    await field(page, "Quantity").fill("5");
    await press(page, "Review");
    await sign(page, "Sign and mint");
    const { assets } = await scenario.client.wallet(id);
    expect(assets.total.map(({ quantity }) => quantity)).toEqual([5]);
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
    // what was sent is not offered again
    await press(page, "Done");
    expect(await field(page, "Address").inputValue()).toBe("");
    await tab(page, "Mint");
    await press(page, "Burn");
    await field(page, "Quantity").fill("400");
    await press(page, "Review");
    await sign(page, "Sign and burn");
    const { assets } = await scenario.client.wallet(id);
    expect(assets.total.map(({ quantity }) => quantity)).toEqual([600]);
  });

  it("shares a wallet between two owners, who both sign a payment", async () => {
    const first = await pages.open("/new/shared");
    await field(first, "Name").fill("Club");
    await press(first, "Continue");
    const [firstId, invitation] = [await createShared(first), await field(first, "Invitation").inputValue()];
    await first.getByText("Owner 2 has not joined yet.").waitFor();
    const second = await pages.open("/new/shared");
    await press(second, "I was invited");
    await field(second, "Text that another owner sent you").fill(invitation);
    await second.getByText("all of: Owner 1, Owner 2").waitFor();
    await press(second, "Continue");
    const secondId = await createShared(second);
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
    await first.getByText("You have signed.").waitFor();
    expect(await secret(first).count()).toBe(0);
    const passed = await first.getByLabel("The transaction as text").inputValue();
    await tab(second, "Sign");
    await field(second, "Transaction").fill("no transaction");
    await press(second, "Read it");
    await second.getByRole("alert").filter({ hasText: "neither base64 nor hexadecimal" }).waitFor();
    await press(second, "Back");
    await field(second, "Transaction").fill(passed);
    await press(second, "Read it");
    await second.locator(".signers li", { hasText: "Owner 1" }).getByText("Signed").waitFor();
    await secret(second).fill(PASSPHRASE);
    await press(second, "Sign");
    await second.getByText("Enough owners have signed.").waitFor();
    await press(second, "Send to the network");
    await panel(second, "Sent").getByText("It is in the ledger.").waitFor();
    // the first owner's page learns of it
    await panel(first, "Sent").getByText("It is in the ledger.").waitFor();
    await tab(first, "History");
    await panel(first, "Transactions").getByText("Sent to itself").waitFor();
  });

  it("shares a wallet in which one signature is enough from a date on", async () => {
    const first = await pages.open("/new/shared");
    await field(first, "Name").fill("Estate");
    await first.getByLabel("Time").selectOption("Fewer signatures are enough from a date on");
    const date = first.getByLabel("Date and time");
    await date.fill("2024-01-01T12:00");
    await first.getByText("This is in the past.").waitFor();
    expect(await first.getByRole("button", { name: "Continue" }).isDisabled()).toBe(true);
    const tomorrow = new Date(Date.now() + 86_400_000);
    await date.fill(tomorrow.toISOString().slice(0, 16));
    const rule = /\(all of: Owner 1, Owner 2\) or \(any of: Owner 1, Owner 2; only from .+ 20\d\d, \d\d:\d\d on\)/;
    await first.getByText(rule).waitFor();
    await press(first, "Continue");
    const [, invitation] = [await createShared(first), await field(first, "Invitation").inputValue()];
    await panel(first, "The rule").getByText(rule).first().waitFor();
    const second = await pages.open("/new/shared");
    await press(second, "I was invited");
    await field(second, "Text that another owner sent you").fill(invitation);
    await second.getByText(rule).waitFor();
    await press(second, "Continue");
    const secondId = await createShared(second);
    await tab(second, "Receive");
    await scenario.faucet(await second.locator(".address").innerText(), 30n * ADA);
    await tab(second, "Overview");
    await hasStat(second, "Available", "30");
    await tab(second, "Send");
    await field(second, "Address").fill((await scenario.client.addresses(secondId, {}, "shared-wallets"))[2]!.id);
    await field(second, "Ada").fill("5");
    await press(second, "Review");
    await secret(second).fill(PASSPHRASE);
    await press(second, "Sign");
    // before the date, the other owner has to sign as well
    await second.locator(".signers li", { hasText: "Owner 2" }).getByText("Signed").waitFor();
    await second.getByText("Pass it on to an owner who has not signed yet").waitFor();
    expect(await second.getByText("Enough owners have signed.").count()).toBe(0);
  });

  it("has no axe violations in both themes, shows the focus, and fits a phone", async () => {
    const { id } = await scenario.createWallet({ name: "W".repeat(120), coins: [ADA * 5n, 999_999_999_999n] });
    const { old: { id: byron }, shared } = await scenario.createOtherKinds();
    await expectGoodViews(pages, [
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
    ]);
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
