/**
 * A test over 30 days, with vitest and Blaze: funds that a native script locks until a time can be spent after it.
 *
 *     npx vitest run vesting.test.ts
 */
import { startDevnet, type TestDevnet } from "@arbor-cardano/devnet";
import {
  addressFromCredential,
  Bip32PrivateKey,
  Credential,
  CredentialType,
  Ed25519KeyHashHex,
  mnemonicToEntropy,
  NativeScript,
  NetworkId,
  Script,
  ScriptAll,
  ScriptPubkey,
  Slot,
  TimelockStart,
  TransactionOutput,
  Value,
  wordlist,
} from "@blaze-cardano/core";
import { Blockfrost } from "@blaze-cardano/query";
import { Blaze, HotWallet } from "@blaze-cardano/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";

let devnet: TestDevnet;
beforeAll(async () => {
  // days of one-second slots: an epoch of five days, as on mainnet
  devnet = await startDevnet({ mining: "submit", slotMs: 1_000, epochSlots: 432_000 });
}, 120_000);
afterAll(() => devnet?.stop());

/** A Blaze wallet of the devnet's first account. */
async function account() {
  const provider = new Blockfrost({ network: "cardano-preview", projectId: "any" });
  provider.url = `${devnet.urls.blockfrost}/`;
  const entropy = mnemonicToEntropy(devnet.accounts[0]!.words, wordlist);
  const master = Bip32PrivateKey.fromBip39Entropy(Buffer.from(entropy), "");
  const wallet = await HotWallet.fromMasterkey(master.hex(), provider, NetworkId.Testnet);
  const blaze = await Blaze.from(provider, wallet);
  const submit = async (transaction: Awaited<ReturnType<ReturnType<typeof blaze.newTransaction>["complete"]>>) =>
    await blaze.submitTransaction(await blaze.signTransaction(transaction));
  return { provider, wallet, blaze, submit };
}

test("vested funds can be spent after 30 days, and not before", async () => {
  const { provider, wallet, blaze, submit } = await account();
  const { slot } = await devnet.time();
  const vested = Slot(slot + 30 * 86_400);
  const owner = wallet.address.getProps().paymentPart!;
  const script = Script.newNativeScript(NativeScript.newScriptAll(
    new ScriptAll([
      NativeScript.newScriptPubkey(new ScriptPubkey(owner.hash)),
      NativeScript.newTimelockStart(new TimelockStart(vested)),
    ]),
  ));
  const credential = Credential.fromCore({ type: CredentialType.ScriptHash, hash: script.hash() });
  const address = addressFromCredential(NetworkId.Testnet, credential);

  await submit(
    await blaze.newTransaction().addOutput(new TransactionOutput(address, new Value(25_000_000n))).complete(),
  );
  const [locked] = await provider.getUnspentOutputs(address);
  const spending = () =>
    blaze.newTransaction().addInput(locked!).provideScript(script).setValidFrom(vested)
      .addRequiredSigner(Ed25519KeyHashHex(owner.hash))
      .payLovelace(wallet.address, 20_000_000n).complete();

  await expect(submit(await spending())).rejects.toThrow(/OutsideValidityInterval/);
  await devnet.advance({ days: 30 });
  await submit(await spending());
  expect((await devnet.time()).slot).toBeGreaterThan(vested);
});
