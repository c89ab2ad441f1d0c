/**
 * Requests a fact with a wallet of Blaze: the service builds, the client checks the bytes, Blaze's wallet signs. A payment by
 * Blaze's builder goes before it, and the request spends its pending change.
 *
 *     blazeFact.ts KEYFILE TOKEN KEY VALUE     prints the request, for the token's owner to apply
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { ArborProvider, signChecked } from "@arbor-cardano/client/blaze";
import { ApiError, readKey, toHex, TokenClient } from "@arbor-cardano/client";
import { Blaze, Core, HotSingleWallet } from "@blaze-cardano/sdk";

const url = process.env.ARBOR_TOKENS_URL ?? "http://127.0.0.1:3000";

async function request(keyFile: string, token: string, key: string, value: string): Promise<string> {
  const read = readKey(await readFile(keyFile, "utf8"));
  if (!read.ok || read.value.form !== "secret") throw new Error(`${keyFile} has no payment key.`);
  const provider = await ArborProvider.connect(url);
  const secret = Core.Ed25519PrivateNormalKeyHex(toHex(read.value.key));
  const wallet = new HotSingleWallet(secret, provider.network, provider);
  const blaze = await Blaze.from(provider, wallet);
  const payment = await blaze.newTransaction().payLovelace(wallet.address, 5_000_000n).complete();
  await blaze.submitTransaction(await blaze.signTransaction(payment));

  const tokens = new TokenClient(url);
  const { checked } = await tokens.insert(wallet.address.toBech32(), token, key, value);
  return `${await tokens.submitAndWait(await signChecked(checked, wallet))}-0`;
}

const [keyFile, token, key, value] = process.argv.slice(2);
try {
  if (keyFile === undefined || token === undefined || key === undefined || value === undefined) {
    throw new Error("usage: blazeFact.ts KEYFILE TOKEN KEY VALUE");
  }
  console.log(await request(keyFile, token, key, value));
} catch (error) {
  console.error(
    error instanceof ApiError ? `${error.message} (${error.code})` : error instanceof Error ? error.message : error,
  );
  process.exitCode = 1;
}
