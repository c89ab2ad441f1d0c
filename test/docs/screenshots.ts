/**
 * `deno task screenshots`: makes the pictures of docs/images from the pages of a service that this command starts, each in
 * a window of 1280 and of 390 pixels.
 */
import path from "node:path";
import process from "node:process";
import type { Browser } from "playwright-core";
import { addressText } from "#src/cardano/address.ts";
import { newSeed } from "#src/cardano/keys/signingKey.ts";
import { addressOf } from "#src/cli/keyFile.ts";
import { call } from "#src/client/http.ts";
import { type Checked, signTransaction, TokenClient, type Unsigned } from "#src/client/tokens.ts";
import type { Arbor } from "../support/service/arbor.ts";
import { startBrowser } from "../support/pages/browser.ts";
import { root } from "../support/docs/pages.ts";
import { until } from "../support/base/until.ts";
import { withService } from "./service.ts";

/** Widths of the windows, with the ends of the files' names. */
const WIDTHS = [[1280, ""], [390, "-phone"]] as const;
/** Example mnemonic. Never use it with real funds. */
const MNEMONIC = "tank still night soap affair climb now song magic soldier dynamic dragon fiction actual female".split(
  " ",
);

interface Picture {
  readonly name: string;
  readonly url: string;
  /** A selector of what must be visible first. */
  readonly ready: string;
  /** What the reader's browser keeps for the page. */
  readonly kept?: Readonly<Record<string, string>>;
}

await withService(takeAll);
process.exit(0);

async function takeAll(arbor: Arbor): Promise<void> {
  const browser = await startBrowser();
  if (!browser) throw new Error("screenshots need a Chromium");
  const { tokens, wallets, operator, devnet } = arbor;
  const { token, transaction } = await livingToken(new TokenClient(tokens), devnet);
  const wallet = await fundedWallet(wallets, devnet);
  const pictures: readonly Picture[] = [
    // first, while the newest blocks have the transactions
    { name: "explorer", url: `${devnet}/`, ready: ".compact table" },
    { name: "tokens", url: `${tokens}/`, ready: `text=${token.slice(0, 8)}` },
    { name: "token", url: `${tokens}/#/token/${token}`, ready: "text=Earth" },
    {
      ...{ name: "verified", url: `${tokens}/#/token/${token}`, ready: ".proven.good:has-text('set of facts')" },
      kept: { "arbor-token-instances": JSON.stringify({ urls: [devnet] }) },
    },
    { name: "wallets", url: new URL("/", wallets).href, ready: "text=Savings" },
    { name: "wallet", url: new URL(`/#/wallets/${wallet}`, wallets).href, ready: "text=1,000" },
    { name: "transaction", url: `${devnet}/#/tx/${transaction}`, ready: "text=Outputs" },
    { name: "operator", url: `${operator}/`, ready: ".settled:not(.waiting) .feed li" },
    { name: "api", url: `${tokens}/docs`, ready: ".api-group" },
    {
      name: "statechart",
      url: `${operator}/ui/actors/token/${token}`,
      ready: ".settled:not(.waiting) .lane:nth-child(2) .lane-track span",
    },
  ];
  for (const picture of pictures) await takeWidths(browser, picture);
  await browser.close();
}

async function takeWidths(browser: Browser, { name, url, ready, kept = {} }: Picture): Promise<void> {
  for (const [width, end] of WIDTHS) {
    const page = await browser.newPage({ viewport: { width, height: width > 600 ? 900 : 844 } });
    await page.addInitScript(
      (all) => Object.entries(all).forEach(([key, value]) => localStorage.setItem(key, value)),
      kept,
    );
    await page.goto(url);
    await page.locator(ready).first().waitFor();
    await page.locator("#link[data-state=live]").waitFor();
    await page.screenshot({ path: path.join(root, "docs/images", `${name}${end}.png`), animations: "disabled" });
    await page.close();
  }
}

/** Sends ada of the faucet to an address; gives the hash of the transaction. */
async function fund(devnet: string, address: string, lovelace: number): Promise<string> {
  return (await call<{ txHash: string }>(devnet, "POST", "/faucet", { address, lovelace })).txHash;
}

/** A token with two facts and an open request, and the transaction that applied the facts. */
async function livingToken(client: TokenClient, devnet: string): Promise<{ token: string; transaction: string }> {
  const key = newSeed();
  const address = addressText(addressOf(key));
  await client.transaction(await fund(devnet, address, 500_000_000), { waitMs: 30_000 });
  const land = ({ checked }: Checked<Unsigned>) => client.submitAndWait(signTransaction(checked, key));
  const boot = await client.boot(address);
  await land(boot);
  const token = boot.value;
  await land(await client.insert(address, token, "planet", "Earth"));
  await land(await client.insert(address, token, "moon", '{"name":"Luna","radius_km":1737.4,"tidally_locked":true}'));
  const transaction = await land(await client.apply(address, token));
  await land(await client.insert(address, token, "star", "Sun"));
  return { token, transaction };
}

/** A wallet with 1,000 ada; gives its id. */
async function fundedWallet(wallets: string, devnet: string): Promise<string> {
  const { id } = await call<{ id: string }>(wallets, "POST", "/wallets", {
    name: "Savings",
    passphrase: "correct horse battery",
    mnemonic_sentence: MNEMONIC,
  });
  const [first] = await call<readonly { id: string }[]>(wallets, "GET", `/wallets/${id}/addresses`);
  await fund(devnet, first!.id, 1_000_000_000);
  await until("the payment in the wallet", async () => {
    const { balance } = await call<{ balance: { total: { quantity: number } } }>(wallets, "GET", `/wallets/${id}`);
    return balance.total.quantity > 0;
  });
  return id;
}
