/** `deno task screenshots`: makes the pictures of docs/images from the pages of a service that this command starts. */
import path from "node:path";
import process from "node:process";
import { addressText } from "#src/cardano/address.ts";
import { newSeed } from "#src/cardano/keys.ts";
import { addressOf } from "#src/cli/keyFile.ts";
import { call } from "#src/client/http.ts";
import { signTransaction, TokenClient, type Unsigned } from "#src/client/tokens.ts";
import type { Arbor } from "../support/arbor.ts";
import { startBrowser } from "../support/browser.ts";
import { root } from "../support/docs.ts";
import { withService } from "./service.ts";

await withService(takeAll);
process.exit(0);

async function takeAll({ tokens, operator, devnet }: Arbor): Promise<void> {
  const token = await livingToken(new TokenClient(tokens), devnet);
  const browser = await startBrowser();
  if (!browser) throw new Error("screenshots need a Chromium");
  const take = async (name: string, url: string, ready: string, height: number) => {
    const page = await browser.newPage({ viewport: { width: 1120, height } });
    await page.goto(url);
    await page.locator(ready).first().waitFor();
    await page.screenshot({ path: path.join(root, "docs/images", name), animations: "disabled" });
    await page.close();
  };
  await take("statechart.png", `${operator}/ui/actors/token/${token}`, "svg", 960);
  await take("token.png", `${tokens}/#/token/${token}`, "text=Earth", 760);
  await browser.close();
}

/** A token with two facts and an open request; returns its id. */
async function livingToken(client: TokenClient, devnet: string): Promise<string> {
  const key = newSeed();
  const address = addressText(addressOf(key));
  const { txHash } = await call(devnet, "POST", "/faucet", { address, lovelace: 500_000_000 }) as { txHash: string };
  await client.transaction(txHash, { waitMs: 30_000 });
  const land = ({ unsignedTransaction }: Unsigned) => client.submitAndWait(signTransaction(unsignedTransaction, key));
  const boot = await client.boot(address);
  await land(boot);
  const token = boot.value;
  await land(await client.insert(address, token, "planet", "Earth"));
  await land(await client.insert(address, token, "moon", "Luna"));
  await land(await client.apply(address, token));
  await land(await client.insert(address, token, "star", "Sun"));
  return token;
}
