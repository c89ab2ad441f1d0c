/** Blaze on its provider for Blockfrost, or on that for Kupo and Ogmios. */
import {
  Address,
  AssetId,
  AssetName,
  Bip32PrivateKey,
  Credential,
  CredentialType,
  Datum,
  HexBlob,
  Metadata,
  Metadatum,
  MetadatumList,
  MetadatumMap,
  mnemonicToEntropy,
  NativeScript,
  NetworkId,
  PlutusData,
  PlutusV1Script,
  PlutusV2Script,
  PlutusV3Script,
  PolicyId,
  PoolId,
  RewardAddress,
  Script,
  ScriptPubkey,
  TransactionId,
  TransactionInput,
  wordlist,
} from "@blaze-cardano/core";
import { Blaze, HotWallet } from "@blaze-cardano/sdk";
import { Unwrapped } from "@blaze-cardano/ogmios";
import { Blockfrost, Kupmios } from "@blaze-cardano/query";
import { serve } from "./serve.mjs";

const NAME = AssetName("426c617a65");

/** Blaze has no option for the URL of Blockfrost. */
const blockfrost = (url) => Object.assign(new Blockfrost({ network: "cardano-preview", projectId: "preview" }), { url });

await serve(async ({ url, kupo, ogmios, words }) => {
  const provider = kupo ? new Kupmios(kupo, await Unwrapped.Ogmios.new(ogmios)) : blockfrost(`${url}/`);
  const entropy = mnemonicToEntropy(words.join(" "), wordlist);
  const master = Bip32PrivateKey.fromBip39Entropy(Buffer.from(entropy), "");
  const wallet = await HotWallet.fromMasterkey(master.hex(), provider, NetworkId.Testnet);
  const blaze = await Blaze.from(provider, wallet);
  const { address } = wallet;
  const { paymentPart: payment, delegationPart } = address.getProps();
  const stake = Credential.fromCore(delegationPart);
  const reward = RewardAddress.fromCredentials(NetworkId.Testnet, delegationPart).toAddress().toBech32();

  /** Blaze itself does not sign with the stake key, except for required signers. */
  const end = async (builder, withStake = false) => {
    const tx = await builder.complete();
    const witnesses = tx.witnessSet();
    witnesses.setVkeys((await wallet.signTransaction(tx, true, withStake)).vkeys());
    tx.setWitnessSet(witnesses);
    return await provider.postTransactionToChain(tx);
  };
  const plutus = ({ language, script }) => {
    const cbor = HexBlob(script);
    if (language === 1) return Script.newPlutusV1Script(new PlutusV1Script(cbor));
    if (language === 2) return Script.newPlutusV2Script(new PlutusV2Script(cbor));
    return Script.newPlutusV3Script(new PlutusV3Script(cbor));
  };
  const scriptAddress = (script) =>
    new Address({ type: 7, networkId: 0, paymentPart: { type: CredentialType.ScriptHash, hash: script.hash() } });
  const integer = (value) => PlutusData.newInteger(BigInt(value));
  const at = async ({ txHash, index }) =>
    (await provider.resolveUnspentOutputs([new TransactionInput(TransactionId(txHash), BigInt(index))]))[0];
  const native = Script.newNativeScript(NativeScript.newScriptPubkey(new ScriptPubkey(payment.hash)));
  const mint = (script, quantity, redeemer) => {
    const names = new Map([[NAME, BigInt(quantity)]]);
    return blaze.newTransaction().addMint(PolicyId(script.hash()), names, redeemer).provideScript(script);
  };

  return {
    address: () => ({ address: address.toBech32(), reward }),
    utxos: async () =>
      (await wallet.getUnspentOutputs()).map((utxo) => ({
        txHash: utxo.input().transactionId(),
        index: Number(utxo.input().index()),
        lovelace: String(utxo.output().amount().coin()),
      })),
    holder: async ({ unit }) => (await provider.getUnspentOutputByNFT(AssetId(unit))).output().address().toBech32(),
    outputs: async ({ at }) => (await provider.getUnspentOutputs(Address.fromBech32(at))).length,
    parameters: async () => {
      const { minFeeCoefficient, minFeeConstant, coinsPerUtxoByte, stakeKeyDeposit, maxExecutionUnitsPerTransaction } =
        await provider.getParameters();
      return {
        minFeeA: minFeeCoefficient,
        minFeeB: minFeeConstant,
        coinsPerUtxoByte: Number(coinsPerUtxoByte),
        keyDeposit: Number(stakeKeyDeposit),
        maxTxExMem: String(maxExecutionUnitsPerTransaction.memory),
      };
    },
    pay: ({ to, amount }) => end(blaze.newTransaction().payLovelace(Address.fromBech32(to), BigInt(amount))),
    payWithMetadata: ({ to, amount, label, text }) => {
      const [list, map] = [new MetadatumList(), new MetadatumMap()];
      list.add(Metadatum.newText(text));
      map.insert(Metadatum.newText("msg"), Metadatum.newList(list));
      const metadata = new Metadata(new Map([[BigInt(label), Metadatum.newMap(map)]]));
      const tx = blaze.newTransaction().payLovelace(Address.fromBech32(to), BigInt(amount));
      return end(tx.setMetadata(metadata));
    },
    mint: ({ quantity }) => end(mint(native, quantity)),
    mintByScript: ({ quantity, redeemer, ...of }) => end(mint(plutus(of), quantity, integer(redeemer))),
    lock: ({ amount, datum, inline, ...of }) => {
      const data = integer(datum);
      const to = scriptAddress(plutus(of));
      return end(
        blaze.newTransaction().lockLovelace(
          to,
          BigInt(amount),
          inline ? Datum.newInlineData(data) : Datum.newDataHash(data.hash()),
        ),
      );
    },
    spend: async ({ ref, datum, inline, redeemer, ...of }) => {
      const tx = blaze.newTransaction();
      tx.addInput(await at(ref), integer(redeemer), inline ? undefined : integer(datum));
      return await end(tx.provideScript(plutus(of)));
    },
    publish: ({ to, ...of }) => end(blaze.newTransaction().deployScript(plutus(of), Address.fromBech32(to))),
    spendByReference: async ({ ref, published, redeemer }) =>
      end(
        blaze.newTransaction().addReferenceInput(await at(published)).addInput(await at(ref), integer(redeemer)),
      ),
    register: () => end(blaze.newTransaction().addRegisterStake(stake), true),
    delegate: ({ pool }) => end(blaze.newTransaction().addDelegation(stake, PoolId(pool)), true),
    vote: () => end(blaze.newTransaction().addVoteDelegation(stake, "alwaysAbstain"), true),
    withdraw: ({ amount }) => end(blaze.newTransaction().addWithdrawal(reward, BigInt(amount)), true),
  };
});
