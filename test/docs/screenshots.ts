/** `deno task screenshots`: makes the pictures of docs/images from the pages of a service that this command starts. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { addressText } from "#src/cardano/address.ts";
import { newSeed } from "#src/cardano/keys.ts";
import { addressOf } from "#src/cli/keyFile.ts";
import { call } from "#src/client/http.ts";
import { signTransaction, TokenClient, type Unsigned } from "#src/client/tokens.ts";
import { startBrowser } from "../support/browser.ts";
import { endChild } from "../support/child.ts";
import { root } from "../support/docs.ts";

const folder = mkdtempSync(path.join(tmpdir(), "arbor-screenshots-"));
const ports = ["token", "wallet", "devnet", "operator", "nats"].flatMap((name) => [`--${name}-port`, "0"]);
const args = ["run", "-A", "src/app/start.ts", ...ports, "--folder", folder, "--block-ms", "200", "--slot-ms", "200"];
const service = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
try {
  await takeAll(await placesOf());
} finally {
  await endChild(service, "SIGTERM");
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

/** Addresses by service, as the start prints them. */
async function placesOf(): Promise<ReadonlyMap<string, string>> {
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    service.stdout.on("data", (chunk) => {
      printed += chunk;
      if (/^Ready after/m.test(printed)) resolve();
    });
    service.once("exit", (code) => reject(new Error(`the service ended with ${code}`)));
  });
  return new Map([...printed.matchAll(/^(\S.*?) {2,}(http:\S+)$/gm)].map(([, name, url]) => [name!, url!]));
}

async function takeAll(places: ReadonlyMap<string, string>): Promise<void> {
  const [tokens, operator] = [places.get("token service")!, places.get("operator service")!];
  const token = await livingToken(new TokenClient(tokens), places.get("devnet and faucet")!);
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

/** A token with two facts and an open request; gives its id. */
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
