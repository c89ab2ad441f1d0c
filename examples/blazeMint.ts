/**
 * Mints an asset with Blaze's builder on an instance: a native script of one key, so that only its holder can mint more.
 *
 *     blazeMint.ts KEYFILE NAME QUANTITY       prints the asset's id and the transaction's hash
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { ArborProvider } from "@arbor-cardano/client/blaze";
import { ApiError, readKey, toHex, utf8 } from "@arbor-cardano/client";
import { Blaze, Core, HotSingleWallet } from "@blaze-cardano/sdk";

const url = process.env.ARBOR_TOKENS_URL ?? "http://127.0.0.1:3000";

async function mint(keyFile: string, name: string, quantity: bigint): Promise<string> {
  const read = readKey(await readFile(keyFile, "utf8"));
  if (!read.ok || read.value.form !== "secret") throw new Error(`${keyFile} has no payment key.`);
  const provider = await ArborProvider.connect(url);
  const key = Core.Ed25519PrivateNormalKeyHex(toHex(read.value.key));
  const wallet = new HotSingleWallet(key, provider.network, provider);
  const blaze = await Blaze.from(provider, wallet);

  const { paymentPart } = wallet.address.getProps();
  if (!paymentPart) throw new Error("The wallet's address has no key.");
  const script = Core.Script.newNativeScript(
    Core.NativeScript.newScriptPubkey(new Core.ScriptPubkey(paymentPart.hash)),
  );
  const policy = Core.PolicyId(script.hash());
  const assetName = Core.AssetName(toHex(utf8(name)));
  const transaction = await blaze.newTransaction()
    .addMint(policy, new Map([[assetName, quantity]]))
    .provideScript(script)
    .complete();
  const hash = await blaze.submitTransaction(await blaze.signTransaction(transaction));
  if (!await provider.awaitTransactionConfirmation(hash)) throw new Error(`No block has ${hash} after a minute.`);
  return `${Core.AssetId.fromParts(policy, assetName)} ${hash}`;
}

const [keyFile, name, quantity] = process.argv.slice(2);
try {
  if (keyFile === undefined || name === undefined || !/^[1-9]\d*$/.test(quantity ?? "")) {
    throw new Error("usage: blazeMint.ts KEYFILE NAME QUANTITY");
  }
  console.log(await mint(keyFile, name, BigInt(quantity ?? 0)));
} catch (error) {
  console.error(
    error instanceof ApiError ? `${error.message} (${error.code})` : error instanceof Error ? error.message : error,
  );
  process.exitCode = 1;
}
