/** Programs of Blaze over an instance: its own builder and wallets, on our provider; its wallets with our clients. */
import { Blaze, Core, HotSingleWallet } from "@blaze-cardano/sdk";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { ArborProvider } from "#src/client/blaze/provider.ts";
import { signChecked } from "#src/client/blaze/signChecked.ts";
import { ArborWallet } from "#src/client/blaze/wallet.ts";
import { ChainClient } from "#src/client/chain.ts";
import { ApiError } from "#src/client/http.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { until } from "../../support/base/until.ts";
import { agrees, refusesSaying } from "../../support/plutus/scripts.ts";
import { http } from "../../support/service/user.ts";
import { PASSPHRASE, Scenario } from "../../support/service/scenario.ts";

const ADA = 1_000_000n;
const NAME = Core.AssetName("426c617a65");
const VOID = Core.PlutusData.newInteger(42n);

describe("Blaze", () => {
  let scenario: Scenario;
  let provider: ArborProvider;
  let tokens: TokenClient;

  const newKey = () => Core.Ed25519PrivateNormalKeyHex(toHex(randomBytes(32)));
  const fresh = () => new HotSingleWallet(newKey(), Core.NetworkId.Testnet, provider).address;
  const plutus = (bytes: Uint8Array) =>
    Core.Script.newPlutusV3Script(new Core.PlutusV3Script(Core.HexBlob(toHex(bytes))));
  const block = async (...hashes: readonly string[]) => {
    await scenario.blocks();
    for (const hash of hashes) expect(await provider.awaitTransactionConfirmation(Core.TransactionId(hash))).toBe(true);
  };
  const lovelaceAt = async (address: Core.Address, from = provider) =>
    (await from.getUnspentOutputs(address)).reduce((sum, utxo) => sum + utxo.output().amount().coin(), 0n);
  const refusal = async (work: Promise<unknown>): Promise<ApiError> => {
    const error = await work.then(() => undefined, (error: unknown) => error);
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  };

  /** A wallet of Blaze with ada from the faucet. */
  const funded = async (...coins: readonly bigint[]) => {
    const wallet = new HotSingleWallet(newKey(), Core.NetworkId.Testnet, provider);
    const paid: string[] = [];
    for (const coin of coins) paid.push(await scenario.faucet(wallet.address.toBech32(), coin));
    await block(...paid);
    return { wallet, blaze: await Blaze.from(provider, wallet) };
  };

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    provider = await ArborProvider.connect(scenario.arbor.tokens);
    tokens = new TokenClient(scenario.arbor.tokens);
  });
  afterAll(() => scenario?.stop());

  it("reads the network, its clock and its parameters", async () => {
    expect([provider.network, provider.networkName]).toEqual([Core.NetworkId.Testnet, "unknown"]);
    const { slots } = await tokens.config();
    expect(provider.getSlotConfig()).toEqual(slots);
    const middle = slots.zeroTime + 7.5 * slots.slotLength;
    expect(provider.unixToSlot(middle)).toBe(slots.zeroSlot + 7);
    expect(provider.slotToUnix(slots.zeroSlot + 7)).toBe(slots.zeroTime + 7 * slots.slotLength);
    const parameters = await provider.getParameters();
    expect(parameters).toMatchObject({
      minFeeCoefficient: 44,
      minFeeConstant: 155_381,
      coinsPerUtxoByte: 4_310,
      prices: { memory: 0.0577, steps: 0.0000721 },
      minFeeReferenceScripts: { base: 15, multiplier: 1.2, range: 25_600 },
    });
    expect([...parameters.costModels.keys()]).toEqual([0, 1, 2]);
  });

  it("pays, and spends what is pending in chains before one block has them", async () => {
    const { wallet, blaze } = await funded(100n * ADA);
    const to = fresh();
    const sent: string[] = [];
    for (let i = 0; i < 3; i++) {
      const tx = await blaze.newTransaction().payLovelace(to, 5n * ADA).complete();
      sent.push(await blaze.submitTransaction(await blaze.signTransaction(tx)));
    }
    const settled = await ArborProvider.connect(scenario.arbor.tokens, { pending: false });
    expect([await lovelaceAt(to), await lovelaceAt(to, settled)]).toEqual([15n * ADA, 0n]);
    // its only coin is spent by a pending transaction, and its change is pending
    expect(await settled.getUnspentOutputs(wallet.address)).toEqual([]);
    const change = await provider.getUnspentOutputs(wallet.address);
    expect(change).toHaveLength(1);
    expect(await provider.resolveUnspentOutputs(change.map((utxo) => utxo.input()))).toEqual(change);
    await block(...sent);
    expect(await lovelaceAt(to, settled)).toBe(15n * ADA);
    const { outputs } = await new ChainClient(scenario.arbor.tokens).outputs(to.toBech32());
    expect(outputs.map(({ pending }) => pending)).toEqual([false, false, false]);
  });

  it("mints with a native script, and finds the asset", async () => {
    const { wallet, blaze } = await funded(100n * ADA);
    const key = wallet.address.getProps().paymentPart!.hash;
    const script = Core.Script.newNativeScript(Core.NativeScript.newScriptPubkey(new Core.ScriptPubkey(key)));
    const policy = Core.PolicyId(script.hash());
    const unit = Core.AssetId.fromParts(policy, NAME);
    const tx = await blaze.newTransaction().addMint(policy, new Map([[NAME, 7n]])).provideScript(script).complete();
    const hash = await blaze.submitTransaction(await blaze.signTransaction(tx));
    await block(hash);
    const held = await provider.getUnspentOutputsWithAsset(wallet.address, unit);
    expect(held.map((utxo) => utxo.output().amount().multiasset()?.get(unit))).toEqual([7n]);
    expect(await provider.getUnspentOutputsWithAsset(fresh(), unit)).toEqual([]);
    expect(await refusal(provider.getUnspentOutputByNFT(unit))).toMatchObject({
      status: 404,
      code: "asset_not_indexed",
      message: expect.stringContaining("indexed by address"),
    });
  });

  it("locks at a Plutus script and spends it, also while the lock is pending; says why a script refuses", async () => {
    const { blaze } = await funded(100n * ADA, 50n * ADA);
    const to = fresh();
    const lock = async (script: Core.Script, datum: Core.Datum) => {
      const at = Core.addressFromValidator(Core.NetworkId.Testnet, script);
      const locking = blaze.newTransaction().lockLovelace(at, 8n * ADA, datum);
      // the datum behind a hash goes with the transaction
      if (datum.asDataHash() !== undefined) locking.provideDatum(VOID);
      const tx = await locking.complete();
      const hash = await blaze.submitTransaction(await blaze.signTransaction(tx));
      return (await provider.getUnspentOutputs(at)).filter((utxo) => utxo.input().transactionId() === hash);
    };
    const script = plutus(agrees);
    const [inline] = await lock(script, Core.Datum.newInlineData(VOID));
    const [hashed] = await lock(script, Core.Datum.newDataHash(VOID.hash()));
    const spending = await blaze.newTransaction().addInput(inline!, VOID)
      .addInput(hashed!, VOID, await provider.resolveDatum(VOID.hash())).provideScript(script)
      .payLovelace(to, 15n * ADA).complete();
    const redeemers = [...spending.witnessSet().redeemers()!.values()];
    expect(redeemers.map((one) => one.exUnits().mem() > 0n)).toEqual([true, true]);
    await block(await blaze.submitTransaction(await blaze.signTransaction(spending)));
    expect(await lovelaceAt(to)).toBe(15n * ADA);

    const refusing = plutus(refusesSaying("not today"));
    const [locked] = await lock(refusing, Core.Datum.newInlineData(VOID));
    const failed = await refusal(blaze.newTransaction().addInput(locked!, VOID).provideScript(refusing).complete());
    expect([failed.status, failed.code]).toEqual([422, "script_refused"]);
    expect(failed.details).toMatchObject({ redeemers: [{ purpose: "spend", index: 0, logs: ["not today"] }] });
    expect((await refusal(provider.resolveDatum(Core.DatumHash("00".repeat(32))))).code).toBe("datum_unknown");
  });

  it("evaluates with outputs that the instance cannot know; those that it knows count as they are", async () => {
    const { wallet } = await funded(20n * ADA);
    const script = plutus(agrees);
    const at = Core.addressFromValidator(Core.NetworkId.Testnet, script);
    const unknown = new Core.TransactionUnspentOutput(
      new Core.TransactionInput(Core.TransactionId("ab".repeat(32)), 0n),
      new Core.TransactionOutput(at, new Core.Value(5n * ADA)),
    );
    unknown.output().setDatum(Core.Datum.newInlineData(VOID));
    const blaze = await Blaze.from(provider, wallet);
    const tx = await blaze.newTransaction().addInput(unknown, VOID).provideScript(script)
      .payLovelace(fresh(), 10n * ADA).complete();
    expect([...tx.witnessSet().redeemers()!.values()]).toHaveLength(1);
    // without that output no script can see the transaction
    expect(await refusal(provider.evaluateTransaction(tx, []))).toMatchObject({
      status: 422,
      code: "not_evaluated",
      details: { missing: [`${"ab".repeat(32)}-0`] },
    });
    // such an output does not exist: the ledger says so
    const refused = await refusal(blaze.submitTransaction(await blaze.signTransaction(tx)));
    expect([refused.status, refused.code]).toEqual([422, "refused_by_ledger"]);
    const inputs = [{ txHash: "ab".repeat(32), index: 0 }];
    expect(refused.details).toContainEqual(expect.objectContaining({ name: "BadInputsUTxO", inputs }));
  });

  it("requests a fact by a checked transaction that a wallet of Blaze signs; finds the token by its asset", async () => {
    const { wallet } = await funded(100n * ADA);
    const address = wallet.address.toBech32();
    const boot = await tokens.boot(address);
    const hash = await tokens.submit(await signChecked(boot.checked, wallet));
    const { policyId } = await tokens.config();
    const unit = Core.AssetId.fromParts(Core.PolicyId(policyId), Core.AssetName(boot.value));
    const pending = await provider.getUnspentOutputByNFT(unit);
    expect(pending.input().transactionId()).toBe(hash);
    await block(hash);
    const { checked } = await tokens.insert(address, boot.value, "planet", "Earth");
    const request = await tokens.submit(await signChecked(checked, wallet));
    await block(request);
    expect((await tokens.token(boot.value)).requests.map(({ change: { key, newValue } }) => [key, newValue]))
      .toEqual([["planet", "Earth"]]);
    const state = await provider.getUnspentOutputByNFT(unit);
    expect([state.input(), state.output().amount().multiasset()?.get(unit)]).toEqual([pending.input(), 1n]);
    const none = Core.AssetId.fromParts(Core.PolicyId(policyId), Core.AssetName("00".repeat(32)));
    expect((await refusal(provider.getUnspentOutputByNFT(none))).code).toBe("token_unknown");
  });

  it("pays with a wallet of the wallet service, also from its pending change", async () => {
    const { id } = await scenario.createWallet({ coins: [30n * ADA, 20n * ADA] });
    let asked = 0;
    const passphrase = () => {
      asked++;
      return PASSPHRASE;
    };
    const wallet = new ArborWallet({ wallets: scenario.arbor.wallets, id, passphrase, provider });
    expect((await wallet.getBalance()).coin()).toBe(50n * ADA);
    expect(await wallet.getUsedAddresses()).toHaveLength(2);
    expect((await wallet.getUnusedAddresses()).length).toBeGreaterThan(0);
    const [stake] = await scenario.client.get<{ ours: { key: string }[] }>(`/wallets/${id}/stake-keys`)
      .then(({ ours }) => ours);
    expect((await wallet.getRewardAddresses()).map((one) => one.toAddress().toBech32())).toEqual([stake!.key]);
    const blaze = await Blaze.from(provider, wallet);
    const to = fresh();
    const sent: string[] = [];
    // more than one coin has, and then from pending change
    for (const amount of [40n, 5n]) {
      const tx = await blaze.newTransaction().payLovelace(to, amount * ADA).complete();
      sent.push(await blaze.submitTransaction(await blaze.signTransaction(tx)));
    }
    expect(asked).toBe(2);
    await block(...sent);
    expect(await lovelaceAt(to)).toBe(45n * ADA);
    // the wallet lists them as its own
    const { direction, status } = await scenario.untilInLedger(id, sent[1]!);
    expect([direction, status]).toEqual(["outgoing", "in_ledger"]);

    const wrong = new ArborWallet({ wallets: scenario.arbor.wallets, id, passphrase: () => "not this one", provider });
    const tx = await blaze.newTransaction().payLovelace(to, 1n * ADA).complete();
    expect((await refusal(wrong.signTransaction(tx))).code).toBe("wrong_encryption_passphrase");
    expect((await refusal(wallet.signData(to, "00"))).code).toBe("not_supported");
  });

  it("refuses addresses of other networks and kinds, references that are spent, transactions in the ledger's words", async () => {
    const { wallet, blaze } = await funded(10n * ADA);
    const { paymentPart } = wallet.address.getProps();
    const foreign = Core.addressFromCredential(Core.NetworkId.Mainnet, Core.Credential.fromCore(paymentPart!));
    expect(await refusal(provider.getUnspentOutputs(foreign))).toMatchObject({ status: 400, code: "bad_address" });
    const chain = new ChainClient(scenario.arbor.tokens);
    const reward = Core.RewardAddress.fromCredentials(0, Core.Credential.fromCore(paymentPart!).toCore()).toAddress();
    expect(await refusal(provider.getUnspentOutputs(reward))).toMatchObject({ status: 400, code: "bad_address" });
    expect(await refusal(chain.evaluate("00"))).toMatchObject({ status: 400, code: "undecodable" });
    expect(await refusal(chain.evaluate("00".repeat(300_000)))).toMatchObject({ status: 413, code: "body_too_large" });
    // more references than one request may name
    const many = Array.from({ length: 201 }, (_, i) => `${"cd".repeat(32)}-${i}`);
    expect(await chain.namedOutputs(many)).toEqual([]);
    const tooMany = await http(scenario.arbor.tokens, "POST", "/chain/outputs", { outputRefs: many });
    expect([tooMany.status, tooMany.body.code]).toEqual([400, "bad_request"]);

    const [coin] = await wallet.getUnspentOutputs();
    const tx = await blaze.newTransaction().payLovelace(fresh(), 2n * ADA).complete();
    const unsigned = await refusal(provider.postTransactionToChain(tx));
    expect(unsigned).toMatchObject({
      code: "refused_by_ledger",
      message: `Signatures are missing of the keys with these hashes: ${paymentPart!.hash}.`,
      details: [{ name: "MissingVKeyWitnessesUTXOW" }],
    });
    const hash = await blaze.submitTransaction(await blaze.signTransaction(tx));
    expect((await refusal(provider.resolveUnspentOutputs([coin!.input()]))).code).toBe("output_unknown");
    await block(hash);
    await until("the coin is spent", async () => {
      return (await refusal(provider.resolveUnspentOutputs([coin!.input()]))).code === "output_unknown";
    });
    expect(await provider.awaitTransactionConfirmation(Core.TransactionId("00".repeat(32)), 10)).toBe(false);
  });

  it("says that a service is away", async () => {
    const away = "http://127.0.0.1:9";
    expect(await refusal(ArborProvider.connect(away))).toMatchObject({ status: 0, code: "unreachable" });
    const wallet = new ArborWallet({ wallets: `${away}/v2`, id: "00", passphrase: () => PASSPHRASE, provider });
    expect(await refusal(wallet.getUnspentOutputs())).toMatchObject({ status: 0, code: "unreachable" });
  });
});
