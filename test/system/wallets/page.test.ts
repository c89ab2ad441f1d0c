/** The page of the wallet service in a browser, on a whole service with a devnet: what people do with wallets. */
/// <reference lib="dom" />
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { Constructed } from "#src/client/wallets.ts";
import { expectAccessible } from "../../support/pages/pages.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { itLong } from "../../support/base/longTests.ts";
import { ADA, PASSPHRASE, type Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";
import {
  expectGoodViews,
  expectNoSecret,
  field,
  hasStat,
  joinPool,
  panel,
  press,
  secret,
  sign,
  tab,
  visit,
  type WalletPages,
  withWalletPages,
} from "../../support/pages/walletPage.ts";

const browser = await sharedBrowser();

describe.skipIf(browser === undefined)("the page of the wallet service", () => {
  let scenario: Scenario;
  let pages: WalletPages;

  withWalletPages(
    browser,
    { mining: "submit", env: { ARBOR_WALLET_UI_PORT: "0" } },
    (...started) => [scenario, pages] = started,
  );

  it("creates a wallet by keyboard alone, shows its phrase once, and asks for three of its words", async () => {
    const page = await pages.open();
    const reach = async (name: string) => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press("Tab");
        const text = await page.evaluate(() => {
          const { textContent, labels } = document.activeElement as HTMLInputElement;
          return labels?.[0]?.textContent ?? textContent;
        });
        if (text === name) return;
      }
      throw new Error(`the Tab key does not reach ${name}`);
    };
    await page.getByRole("link", { name: "Create a wallet" }).first().waitFor();
    await reach("Create a wallet");
    await page.keyboard.press("Enter");
    const words = await (async () => {
      await page.locator(".phrase li").nth(23).waitFor();
      return await page.locator(".phrase b").allTextContents();
    })();
    expect(words.length).toBe(24);
    await reach("I have written them down");
    await page.keyboard.press("Enter");
    const labels = await until("the first field has the focus", async () => {
      const all = await page.locator("form label").allTextContents();
      const first = await page.evaluate(() => (document.activeElement as HTMLInputElement).labels?.[0]?.textContent);
      return all.length === 3 && first === all[0] && all;
    });
    for (const [i, label] of labels.entries()) {
      if (i > 0) await reach(label);
      // the first one wrong at first
      await page.keyboard.type(i === 0 ? "wrong" : words[Number(label.replace(/\D/g, "")) - 1]!);
    }
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("This is another word.").waitFor();
    const first = page.getByLabel(labels[0]!, { exact: true });
    await first.fill(words[Number(labels[0]!.replace(/\D/g, "")) - 1]!);
    await page.keyboard.press("Enter");
    await until(
      "the name has the focus",
      () => page.evaluate(() => (document.activeElement as HTMLInputElement).labels?.[0]?.textContent === "Name"),
    );
    await page.keyboard.type("<b>Savings</b>");
    await reach("Passphrase");
    await page.keyboard.type(PASSPHRASE);
    await reach("Passphrase, again");
    await page.keyboard.type(PASSPHRASE);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "<b>Savings</b>" }).waitFor();
    const id = /#\/wallets\/([0-9a-f]{40})$/.exec(page.url())![1]!;
    expect(await scenario.client.wallet(id)).toMatchObject({ name: "<b>Savings</b>", address_pool_gap: 20 });
    await expectNoSecret(page, words.join(" "), words.slice(0, 3).join(" "), PASSPHRASE);
    await page.goBack();
    await page.locator("main h1").waitFor();
    await expectNoSecret(page, words.join(" "), ...words.filter((word) => word.length > 7));
  });

  it("receives, and sends to several with a message: the review is read from the bytes, the status is live", async () => {
    const { id } = await scenario.createWallet({ name: "Grace", coins: [100n * ADA] });
    const other = await scenario.createWallet({ name: "Ada" });
    const [to, second] = (await scenario.client.addresses(other.id)).map((one) => one.id);
    const page = await pages.open(`/wallets/${id}`);
    await hasStat(page, "Total", "100");
    expect(await page.locator(".sections [aria-current]").innerText()).toBe("Wallets");
    await tab(page, "Receive");
    const next = await page.locator(".address").innerText();
    expect(next).toBe((await scenario.client.nextAddress(id)).id);
    await page.getByRole("img", { name: `QR code of the address ${next}` }).waitFor();
    await tab(page, "Send");
    await field(page, "Address").fill(to!.slice(0, -1));
    await press(page, "Review");
    await page.getByText("The checksum of this address is wrong").waitFor();
    await field(page, "Address").fill(to!);
    await field(page, "Ada").fill("1,5");
    await page.getByText("Enter digits, with a point").waitFor();
    await field(page, "Ada").fill("12.5");
    await press(page, "Add a recipient");
    await field(page, "Address").nth(1).fill(second!);
    await field(page, "Ada").nth(1).fill("3");
    await field(page, "Message (optional)").fill("Thanks");
    await press(page, "Review");
    const review = panel(page, "Check before you sign");
    await review.getByText(to!, { exact: true }).waitFor();
    const shown = await review.innerText();
    for (
      const text of [
        second!,
        "12.500000 ada",
        "3.000000 ada",
        "Fee",
        "Change, back to this wallet",
        "Leaves this wallet",
        "Thanks",
      ]
    ) {
      expect(shown).toContain(text);
    }
    // the browser's Back leaves the review, and keeps what was typed
    await page.goBack();
    expect(await field(page, "Ada").nth(1).inputValue()).toBe("3");
    await field(page, "Ada").nth(1).fill("0.5");
    await press(page, "Review");
    await page.getByText(/At least \d\.\d+ ada: the ledger takes no smaller payment\./).waitFor();
    await until(
      "the focus is there",
      async () => await field(page, "Ada").nth(1).evaluate((element) => element === document.activeElement),
    );
    await field(page, "Ada").nth(1).fill("3");
    await press(page, "Review");
    await sign(page, "Sign and send");
    await expectNoSecret(page, PASSPHRASE);
    await page.getByRole("link", { name: "Show the transaction" }).click();
    await page.locator("main dl").getByText("Thanks", { exact: true }).waitFor();
    await until("the recipient has it", async () => await scenario.available(other.id) === 15_500_000n);
    await tab(page, "History");
    await panel(page, "Transactions").locator("tbody tr").nth(1).waitFor();
    await page.getByLabel("Direction").selectOption("incoming");
    await until("one row", async () => await page.locator("tbody tr").count() === 1);
    expect(await page.locator("tbody tr").innerText()).toContain("+100");
    await page.getByLabel("Status").selectOption("expired");
    await page.getByText("No transaction matches").waitFor();
  });

  it("sends all to an address with a label, and saves the history as CSV", async () => {
    const { id } = await scenario.createWallet({ name: "All of it", coins: [20n * ADA, 3n * ADA] });
    const other = await scenario.createWallet({ name: "New home" });
    const to = await scenario.address(other.id);
    const page = await pages.open(`/wallets/${other.id}/receive`);
    const tabs = page.getByRole("navigation", { name: "Views of the wallet" }).getByRole("link");
    await tabs.first().waitFor();
    expect(await tabs.allTextContents()).toEqual(["Overview", "Send", "Receive", "History", "Staking", "Settings"]);
    const row = page.locator("tbody tr").filter({ has: page.locator(`[title="${to}"]`) });
    await row.getByRole("button", { name: /^Add a label/ }).click();
    await field(page, "Label").fill("=New home");
    await press(page, "Save");
    await row.getByText("=New home").waitFor();
    await visit(page, `/wallets/${id}/send`);
    await page.getByLabel("Address with a label").selectOption(to);
    expect(await field(page, "Address").inputValue()).toBe(to);
    await page.getByLabel(/^Send all/).check();
    expect(await field(page, "Ada").count()).toBe(0);
    await expectAccessible(page);
    await press(page, "Review");
    const plan = panel(page, "The plan");
    await plan.getByText("23.000000 ada").waitFor();
    const arrives = /Arrives\s+(22\.\d{6}) ada/.exec(await plan.innerText())![1]!;
    await secret(page).fill(PASSPHRASE);
    await press(page, "Sign and move everything");
    await panel(page, "Sent").getByText("It is in the ledger.").waitFor();
    await until(
      "exactly the plan has arrived",
      async () => await scenario.available(other.id) === BigInt(arrives.replace(".", "")),
    );
    // a link with what is no day shows all of it
    await visit(page, `/wallets/${id}/history?from=2026-13-45`);
    const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Download CSV")]);
    expect(download.suggestedFilename()).toMatch(/^All-of-it-\d{4}-\d\d-\d\d\.csv$/);
    const lines = (await text(await download.createReadStream())).split("\r\n");
    expect(lines).toHaveLength(5);
    expect(lines[0]).toBe("time,transaction,status,purpose,ada,fee_ada,deposit_ada,block,message,tokens");
    expect(lines[1]).toMatch(/^[\d:TZ.-]+,[0-9a-f]{64},in_ledger,Sent,-23\.000000,0\.\d{6},0\.000000,\d+,,$/);
    expect(lines.slice(2, 4).map((line) => line.split(",").slice(3, 7).join(",")).sort())
      .toEqual(["Received,20.000000,,", "Received,3.000000,,"]);
    await page.locator("tbody tr a").first().click();
    await page.locator(".sides").getByText("=New home").waitFor();
  });

  it("does not sign what the service built otherwise, and says why", async () => {
    const { id } = await scenario.createWallet({ coins: [50n * ADA] });
    const thief = await scenario.createWallet({ name: "Thief" });
    const [stolen, mine] = [await scenario.address(thief.id), await scenario.address(id, 3)];
    const page = await pages.open(`/wallets/${id}/send`);
    // what is built pays the wallet more than was entered, and someone else
    await page.route("**/transactions-construct", async (route) => {
      const lie = { payments: [{ address: stolen, amount: { quantity: 2_000_000, unit: "lovelace" } }] };
      const answer = await http(scenario.arbor.wallets, "POST", `/wallets/${id}/transactions-construct`, lie);
      await route.fulfill({ status: 202, json: answer.body as Constructed });
    });
    await field(page, "Address").fill(mine);
    await field(page, "Ada").fill("2");
    await press(page, "Review");
    const alert = page.getByRole("alert").filter({ hasText: "Do not sign this." });
    await alert.waitFor();
    expect(await alert.innerText()).toContain(`It pays ${stolen}`);
    expect(await alert.innerText()).toContain(`It does not pay what you entered to ${mine}`);
    expect(await secret(page).count()).toBe(0);
    // and what is signed must be what was shown
    await page.unroute("**/transactions-construct");
    await press(page, "Back");
    await press(page, "Review");
    await secret(page).waitFor();
    await page.route("**/transactions-sign", async (route) => {
      const built = await scenario.client.construct(id, {
        payments: [{ address: stolen, amount: { quantity: 1_000_000n, unit: "lovelace" } }],
      });
      await route.fulfill({ status: 202, json: { transaction: built.transaction } });
    });
    let submitted = false;
    await page.route("**/transactions-submit", (route) => {
      submitted = true;
      return route.abort();
    });
    await secret(page).fill(PASSPHRASE);
    await press(page, "Sign and send");
    await page.getByText("signed another transaction than the one shown here").waitFor();
    expect(submitted).toBe(false);
  });

  itLong("shows refusals with advice, and keeps what was typed while the service is slow or away", async () => {
    const { id } = await scenario.createWallet({ name: "Patient", coins: [20n * ADA] });
    const page = await pages.open(`/wallets/${id}/send`);
    await field(page, "Address").fill(await scenario.address(id));
    await field(page, "Ada").fill("500");
    await press(page, "Review");
    await page.getByRole("alert").filter({ hasText: "More than this wallet has available." }).waitFor();
    await field(page, "Ada").fill("20");
    await press(page, "Review");
    await page.getByRole("alert").filter({ hasText: "The fee does not fit: send a little less." }).waitFor();
    await field(page, "Ada").fill("5");
    await press(page, "Review");
    await secret(page).fill("not the passphrase");
    await press(page, "Sign and send");
    await page.getByRole("alert").filter({ hasText: "This is not the passphrase of this wallet." }).waitFor();
    expect(await secret(page).inputValue()).toBe("");
    await page.route("**/v2/**", (route) => route.abort());
    await secret(page).fill(PASSPHRASE);
    await press(page, "Sign and send");
    await page.getByRole("alert").filter({ hasText: "The service cannot be reached." }).first().waitFor();
    await page.locator("#link[data-state=stale]").waitFor();
    await page.unroute("**/v2/**");
    await page.locator("#link[data-state=live]").waitFor();
    // the answer is lost behind the service: what was sent is not sent twice
    await page.route("**/transactions-submit", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await secret(page).fill(PASSPHRASE);
    await press(page, "Sign and send");
    await page.getByRole("alert").filter({ hasText: "it is not known whether the transaction was sent" }).waitFor();
    await page.unroute("**/transactions-submit");
    await secret(page).fill(PASSPHRASE);
    await press(page, "Sign and send");
    await panel(page, "Sent").waitFor();
    expect((await scenario.client.transactions(id)).filter(({ direction }) => direction === "outgoing")).toHaveLength(
      1,
    );
    await page.route("**/v2/wallets/*/transactions?**", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      await route.continue();
    });
    await tab(page, "History");
    await page.locator("main .placeholder").waitFor();
    expect(await page.getByText("No transactions yet").count()).toBe(0);
    await panel(page, "Transactions").locator("tbody tr").first().waitFor();
  });

  itLong("lets an expired transaction be sent again or forgotten", async () => {
    const { id } = await scenario.createWallet({ name: "Late", coins: [20n * ADA] });
    const other = await scenario.createWallet();
    const payment = {
      address: await scenario.address(other.id),
      amount: { quantity: 3_000_000n, unit: "lovelace" } as const,
    };
    const { id: hash } = await scenario.land(id, { payments: [payment] });
    const page = await pages.open(`/wallets/${id}`);
    await page.route(`**/transactions/${hash}?**`, async (route) => {
      const { inserted_at: _, depth: __, ...listed } = await scenario.client.transaction(id, hash);
      await route.fulfill({
        json: { ...listed, status: "expired", failures: [{ name: "x", message: "Its input is gone." }] },
      });
    });
    await visit(page, `/wallets/${id}/history/${hash}`);
    await page.getByText("It can no longer get into a block. Nothing was spent.").waitFor();
    await page.getByText("Its input is gone.").waitFor();
    await press(page, "Forget");
    await press(page, "Forget it");
    // it is in the ledger in truth
    await page.getByRole("alert").filter({ hasText: "cannot be forgotten as it is already in the ledger" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Send again" }).click();
    await until("the payment is filled in", async () => await field(page, "Ada").inputValue() === "3");
    expect(await field(page, "Address").inputValue()).toBe(payment.address);
  });

  it("restores a wallet, and says of each word whether it is right", async () => {
    const words = newMnemonic(15);
    const before = await scenario.client.create({ name: "Before", mnemonic_sentence: words, passphrase: PASSPHRASE });
    await scenario.client.delete(before.id);
    const page = await pages.open("/new/restore");
    const phrase = field(page, "Recovery phrase");
    await phrase.fill(["abandom", ...words.slice(1)].join("\n"));
    await page.getByText("Word 1 is not in the list of words.").waitFor();
    expect(await page.locator(".phrase li.bad").count()).toBe(1);
    await press(page, "abandon?");
    await phrase.fill(words.slice(0, 14).join(" "));
    await page.getByText("14 words so far").waitFor();
    await phrase.fill(words.map((word, i) => `${i + 1}. ${word}`).join(", "));
    await page.getByText("All 15 words are right").waitFor();
    await field(page, "Name").fill("Back again");
    await secret(page, "New passphrase").fill(PASSPHRASE);
    await secret(page, "New passphrase, again").fill(PASSPHRASE);
    await press(page, "Restore the wallet");
    await page.getByRole("heading", { name: "Back again" }).waitFor();
    expect(page.url()).toContain(before.id);
    await expectNoSecret(page, words.join(" "), PASSPHRASE);
  });

  itLong("renames, changes the passphrase, moves everything, and deletes last", async () => {
    const { id } = await scenario.createWallet({ name: "Old name", coins: [30n * ADA, 3n * ADA] });
    const other = await scenario.createWallet({ name: "New home" });
    const page = await pages.open(`/wallets/${id}/settings`);
    await field(page, "Name of the wallet").fill("New name");
    await press(page, "Rename");
    await page.getByRole("heading", { name: "New name" }).waitFor();
    const next = "another good passphrase";
    await secret(page, "Old passphrase").fill(PASSPHRASE);
    await secret(page, "New passphrase").fill(next);
    await secret(page, "New passphrase, again").fill(next);
    await press(page, "Change the passphrase");
    await page.getByText("The passphrase is changed").waitFor();
    await panel(page, "Coins").getByText("2 coins").waitFor();
    await tab(page, "Move all");
    await field(page, "Addresses to move to").fill(await scenario.address(other.id));
    await press(page, "Make a plan");
    await panel(page, "The plan").getByText("33.000000 ada").waitFor();
    await page.goBack();
    await press(page, "Make a plan");
    await secret(page).fill(next);
    await press(page, "Sign and move everything");
    await panel(page, "Sent").getByText("It is in the ledger.").waitFor();
    await until("all has arrived", async () => await scenario.available(other.id) > 32n * ADA);
    await tab(page, "Settings");
    await press(page, "Delete…");
    const verb = page.getByRole("button", { name: "Delete the wallet" });
    expect(await verb.isDisabled()).toBe(true);
    await page.getByRole("textbox", { name: /to confirm/ }).fill("New name");
    await verb.click();
    await page.getByRole("heading", { name: "Wallets", exact: true }).waitFor();
    expect(await scenario.refused(scenario.client.wallet(id))).toEqual([404, "no_such_wallet"]);
  });

  it("takes the devnet's test ada, and joins a pool with the deposit in the review", async () => {
    const { id } = await scenario.createWallet({ name: "Staker" });
    const page = await pages.open(`/wallets/${id}/receive`);
    await press(page, "Get 1,000 test ada");
    await page.getByText("The faucet has paid.").waitFor();
    await tab(page, "Overview");
    await hasStat(page, "Available", "1,000");
    await tab(page, "Staking");
    await joinPool(page);
    // the tab that is open leads back from the result, to what is so now
    await tab(page, "Staking");
    await panel(page, "Your delegation").getByText(/^From epoch/).waitFor();
    await tab(page, "Overview");
    await hasStat(page, "Deposit", "2");
  });

  it("has no axe violations in both themes, shows the focus, and fits a phone", async () => {
    const { id } = await scenario.createWallet({ name: "W".repeat(120), coins: [ADA * 5n, 999_999_999_999n] });
    await expectGoodViews(pages, [["/", "tbody tr"], [`/wallets/${id}`, "tbody tr"], [
      `/wallets/${id}/send`,
      "fieldset",
    ]]);
  });

  it("is served at the port of --ui-port as well, with the service's guards", async () => {
    const at = scenario.arbor.places.get("wallet page")!;
    const { id } = await scenario.createWallet({ name: "At both", coins: [ADA * 7n] });
    const page = await pages.open(`/wallets/${id}`, {}, at);
    await hasStat(page, "Total", "7");
    for (const one of [pages.base, at]) {
      const call = (headers: Record<string, string>) => fetch(`${one}/v2/wallets/${id}`, { headers });
      expect((await call({})).status).toBe(200);
      const foreign = await call({ origin: "http://attacker.example" });
      expect([foreign.status, (await foreign.json()).code]).toEqual([403, "bad_origin"]);
      const policy = (await fetch(one)).headers.get("content-security-policy")!;
      expect(policy).toMatch(
        /default-src 'none'; script-src 'self' 'sha256-[^' ]+'; style-src 'self'; connect-src 'self'/,
      );
    }
    // wrong passphrases count together, whichever port they come through
    const wrong = (one: string) =>
      http(one, "POST", `/v2/wallets/${id}/policy-key`, { passphrase: "not the passphrase" });
    // five at once, and one more every few seconds, however slow the machine is
    const codes: string[] = [];
    while (codes.length < 40 && codes.at(-1) !== "too_many_wrong_passphrases") {
      codes.push((await wrong(codes.length % 2 === 0 ? pages.base : at)).body.code);
    }
    expect(codes.length).toBeGreaterThan(5);
    expect(new Set(codes.slice(0, -1))).toEqual(new Set(["wrong_encryption_passphrase"]));
    expect(codes.at(-1)).toBe("too_many_wrong_passphrases");
  });
});
