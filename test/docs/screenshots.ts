/**
 * `deno task screenshots`: makes the pictures of docs/images from the pages of a service that this command starts, each in
 * a window of 1024 and of 390 pixels. A picture ends where the view does, or at a line below which no text is cut.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { addressText } from "#src/cardano/address.ts";
import { newSeed } from "#src/cardano/keys/signingKey.ts";
import { addressOf } from "#src/cli/keyFile.ts";
import { call } from "#src/client/http.ts";
import { type Checked, signTransaction, TokenClient, type Unsigned } from "#src/client/tokens.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import type { Arbor } from "../support/service/arbor.ts";
import { startBrowser } from "../support/pages/browser.ts";
import { root } from "../support/docs/pages.ts";
import { until } from "../support/base/until.ts";
import { withPalette } from "./palette.ts";
import { withService } from "./service.ts";

/** Windows, with the ends of the files' names. The wide one is scaled so that a page of the docs shows it at a size to read. */
const WINDOWS = [
  { width: 1024, scale: 2, end: "" },
  { width: 390, scale: 1, end: "-phone" },
] as const;
/** Most pixels of height. */
const MOST = 1_100;
/** What a view shows while it waits. */
const PENDING = ".placeholder, [aria-busy=true], .waiting, .badge:text-matches('^(Verifying|Checking)$'), " +
  ".link[data-state=connecting]";
/** Example mnemonic. Never use it with real funds. */
const MNEMONIC = "tank still night soap affair climb now song magic soldier dynamic dragon fiction actual female".split(
  " ",
);
const PASSPHRASE = "correct horse battery";

interface Picture {
  readonly name: string;
  readonly url: string;
  /** A selector of what must be visible first. */
  readonly ready: string;
  /** A selector of what is pressed then. */
  readonly press?: string;
  /** What the reader's browser keeps for the page. */
  readonly kept?: Readonly<Record<string, string>>;
  readonly most?: number;
}

// a devnet's own pace, not that of tests; its pools have names where its port is known before
await withService(takeAll, {
  ARBOR_BLOCK_MS: "1000",
  ARBOR_SLOT_MS: "1000",
  ARBOR_DEVNET_PORT: String(await freePort()),
});
process.exit(0);

async function takeAll(arbor: Arbor): Promise<void> {
  const browser = await startBrowser();
  if (!browser) throw new Error("screenshots need a Chromium");
  const { tokens, wallets, operator, devnet } = arbor;
  const wallet = await usedWallet(wallets, devnet);
  const { token, transaction } = await livingToken(new TokenClient(tokens), devnet);
  const pictures: readonly Picture[] = [
    // first, while the newest blocks have the transactions; pools have names once their metadata are read
    { name: "explorer", url: `${devnet}/`, ready: "td:nth-child(4) >> text=/^(OAK|ELM|ASH)$/" },
    { name: "operator", url: `${operator}/`, ready: ".settled:not(.waiting) .feed li" },
    { name: "tokens", url: `${tokens}/`, ready: `text=${token.slice(0, 8)}` },
    {
      ...{ name: "token", url: `${tokens}/#/token/${token}`, ready: "text=Earth" },
      press: ".fact:has-text('moon') .fact-end button",
    },
    {
      ...{ name: "verified", url: `${tokens}/#/token/${token}`, ready: ".proven.good:has-text('set of facts')" },
      kept: { "arbor-token-instances": JSON.stringify({ urls: [devnet] }) },
    },
    { name: "wallets", url: new URL("/", wallets).href, ready: "text=Savings" },
    { name: "wallet", url: new URL(`/#/wallets/${wallet}`, wallets).href, ready: "text=Joined a pool" },
    { name: "transaction", url: `${devnet}/#/tx/${transaction}`, ready: "text=CPU steps", most: 1_500 },
    { name: "api", url: `${tokens}/docs`, ready: ".api-group" },
    {
      name: "statechart",
      url: `${operator}/ui/actors/token/${token}`,
      ready: ".settled:not(.waiting) .lane:nth-child(2) .lane-track span",
    },
  ];
  for (const picture of pictures) await takeWindows(browser, picture);
  await browser.close();
}

async function takeWindows(browser: Browser, { name, url, ready, press, kept = {}, most = MOST }: Picture) {
  for (const { width, scale, end } of WINDOWS) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, deviceScaleFactor: scale });
    await page.addInitScript(
      (all) => Object.entries(all).forEach(([key, value]) => localStorage.setItem(key, value)),
      kept,
    );
    await page.goto(url);
    await page.locator(ready).first().waitFor();
    if (press !== undefined) await page.locator(press).click();
    await until(`${name}: nothing waits`, async () => await page.locator(PENDING).count() === 0);
    const picture = await page.screenshot({
      animations: "disabled",
      caret: "hide",
      fullPage: true,
      clip: { x: 0, y: 0, width, height: await heightOf(page, most) },
    });
    await writeFile(path.join(root, "docs/images", `${name}${end}.png`), withPalette(picture));
    await page.close();
  }
}

/** The end of the view, or the last line near `most` that goes through no text and no part of a form or a chart. */
function heightOf(page: Page, most: number): Promise<number> {
  return page.evaluate((most) => {
    const view = document.querySelector("main")!;
    const end = Math.max(...Array.from(view.children, (one) => one.getBoundingClientRect().bottom)) + 24;
    const parts = Array.from(view.querySelectorAll("button, input, svg, .badge, .lane-track"));
    const rects = parts.map((one) => one.getBoundingClientRect());
    const texts = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      if (!texts.currentNode.parentElement!.checkVisibility()) continue;
      const range = document.createRange();
      range.selectNode(texts.currentNode);
      rects.push(...range.getClientRects());
    }
    if (end <= most) return Math.ceil(end);
    const lines = Array.from({ length: 200 }, (_, i) => most - i);
    return lines.find((y) => rects.every(({ top, bottom }) => bottom < y - 2 || top > y)) ?? most;
  }, most);
}

/** Sends ada of the faucet to an address; gives the hash of the transaction. */
async function fund(devnet: string, address: string, lovelace: number): Promise<string> {
  return (await call<{ txHash: string }>(devnet, "POST", "/faucet", { address, lovelace })).txHash;
}

/** A token with facts and an open request, and the transaction that applied some facts; another token before it. */
async function livingToken(client: TokenClient, devnet: string): Promise<{ token: string; transaction: string }> {
  const key = newSeed();
  const address = addressText(addressOf(key));
  await client.transaction(await fund(devnet, address, 500_000_000), { waitMs: 30_000 });
  const land = ({ checked }: Checked<Unsigned>) => client.submitAndWait(signTransaction(checked, key));
  const boot = async () => {
    const built = await client.boot(address);
    await land(built);
    return built.value;
  };
  await boot();
  const token = await boot();
  await land(await client.insert(address, token, "planet", "Earth"));
  await land(await client.insert(address, token, "moon", '{"name":"Luna","radius_km":1737.4,"tidally_locked":true}'));
  const transaction = await land(await client.apply(address, token));
  await land(await client.insert(address, token, "star", "Sun"));
  return { token, transaction };
}

/** A wallet that received, minted, paid and joined a pool, and a second one; gives the id of the first. */
async function usedWallet(wallets: string, devnet: string): Promise<string> {
  const create = async (name: string, mnemonic_sentence: readonly string[]) =>
    (await call<{ id: string }>(wallets, "POST", "/wallets", { name, passphrase: PASSPHRASE, mnemonic_sentence })).id;
  const addressIn = async (wallet: string) =>
    (await call<readonly { id: string }[]>(wallets, "GET", `/wallets/${wallet}/addresses`))[0]!.id;
  const id = await create("Savings", MNEMONIC);
  const other = await create("Rent", [...Array<string>(23).fill("test"), "sauce"]);
  const home = `/wallets/${id}`;
  await fund(devnet, await addressIn(id), 1_000_000_000);
  await until("the payment in the wallet", async () => {
    const { balance } = await call<{ balance: { total: { quantity: number } } }>(wallets, "GET", home);
    return balance.total.quantity > 0;
  });
  const send = async (body: object) => {
    const built = await call<{ transaction: string }>(wallets, "POST", `${home}/transactions-construct`, body);
    const signing = { transaction: built.transaction, passphrase: PASSPHRASE };
    const signed = await call<{ transaction: string }>(wallets, "POST", `${home}/transactions-sign`, signing);
    const sent = { transaction: signed.transaction };
    const { id: hash } = await call<{ id: string }>(wallets, "POST", `${home}/transactions-submit`, sent);
    await until("the block", async () => {
      const { status } = await call<{ status: string }>(wallets, "GET", `${home}/transactions/${hash}`);
      return status === "in_ledger";
    });
  };
  for (const [name, quantity] of [["Observatory", 250], ["Telescope hour", 12_000]] as const) {
    const asset_name = Buffer.from(name).toString("hex");
    await send({
      mint_burn: [{ policy_script_template: "cosigner#0", asset_name, operation: { mint: { quantity } } }],
    });
  }
  await send({
    payments: [{ address: await addressIn(other), amount: { quantity: 125_000_000, unit: "lovelace" } }],
  });
  const [pool] = await call<readonly { id: string }[]>(wallets, "GET", "/stake-pools?stake=1000000000");
  await send({ delegations: [{ join: { pool: pool!.id, stake_key_index: "0H" } }] });
  return id;
}
