/** Lucid Evolution on its provider for Blockfrost, or on that for Kupo and Ogmios. */
import {
  applyDoubleCborEncoding,
  Blockfrost,
  Data,
  getAddressDetails,
  Kupmios,
  Lucid,
  mintingPolicyToId,
  scriptFromNative,
  validatorToAddress,
} from "@lucid-evolution/lucid";
import { serve } from "./serve.mjs";

const NAME = "4c75636964";

await serve(async ({ url, kupo, ogmios, words }) => {
  const provider = kupo ? new Kupmios(kupo, ogmios) : new Blockfrost(url);
  const lucid = await Lucid(provider, "Custom");
  lucid.selectWallet.fromSeed(words.join(" "));
  const address = await lucid.wallet().address();
  const reward = await lucid.wallet().rewardAddress();
  const { paymentCredential } = getAddressDetails(address);
  const end = async (tx, options) => (await (await tx.complete(options)).sign.withWallet().complete()).submit();
  const plutus = ({ language, script }) => ({ type: `PlutusV${language}`, script: applyDoubleCborEncoding(script) });
  const integer = (value) => Data.to(BigInt(value));
  const at = async ({ txHash, index }) => await provider.getUtxosByOutRef([{ txHash, outputIndex: index }]);
  const assets = (policy, quantity) => ({ [policy + NAME]: BigInt(quantity) });
  const native = scriptFromNative({ type: "sig", keyHash: paymentCredential.hash });

  return {
    address: () => ({ address, reward }),
    utxos: async () =>
      (await lucid.wallet().getUtxos()).map(({ txHash, outputIndex, assets }) => ({
        txHash,
        index: outputIndex,
        lovelace: String(assets.lovelace),
      })),
    parameters: async () => {
      const { minFeeA, minFeeB, coinsPerUtxoByte, keyDeposit, maxTxExMem } = await provider.getProtocolParameters();
      return { minFeeA, minFeeB, coinsPerUtxoByte, keyDeposit, maxTxExMem: String(maxTxExMem) };
    },
    pay: ({ to, amount }) => end(lucid.newTx().pay.ToAddress(to, { lovelace: BigInt(amount) })),
    payWithMetadata: ({ to, amount, label, text }) =>
      end(lucid.newTx().pay.ToAddress(to, { lovelace: BigInt(amount) }).attachMetadata(label, { msg: [text] })),
    mint: ({ quantity }) =>
      end(lucid.newTx().mintAssets(assets(mintingPolicyToId(native), quantity)).attach.MintingPolicy(native)),
    mintByScript: ({ quantity, redeemer, ...of }) => {
      const script = plutus(of);
      const minted = assets(mintingPolicyToId(script), quantity);
      return end(lucid.newTx().mintAssets(minted, integer(redeemer)).attach.MintingPolicy(script));
    },
    lock: ({ amount, datum, inline, ...of }) => {
      const output = inline ? { kind: "inline", value: integer(datum) } : { kind: "asHash", value: integer(datum) };
      const to = validatorToAddress("Custom", plutus(of));
      return end(lucid.newTx().pay.ToContract(to, output, { lovelace: BigInt(amount) }));
    },
    /** The provider evaluates; elsewhere the library does, which is its default. */
    spend: async ({ ref, redeemer, inline, ...of }) => {
      const [utxo] = await at(ref);
      if (!inline) await lucid.datumOf(utxo);
      const tx = lucid.newTx().collectFrom([utxo], integer(redeemer)).attach.SpendingValidator(plutus(of));
      return await end(tx, { localUPLCEval: false });
    },
    publish: ({ to, amount, ...of }) =>
      end(lucid.newTx().pay.ToAddressWithData(to, undefined, { lovelace: BigInt(amount) }, plutus(of))),
    spendByReference: async ({ ref, published, redeemer }) =>
      end(lucid.newTx().readFrom(await at(published)).collectFrom(await at(ref), integer(redeemer))),
    register: () => end(lucid.newTx().register.Stake(reward)),
    delegate: ({ pool }) => end(lucid.newTx().delegate.ToPool(reward, pool)),
    vote: () => end(lucid.newTx().delegate.VoteToDRep(reward, { __typename: "AlwaysAbstain" })),
    withdraw: ({ amount }) => end(lucid.newTx().withdraw(reward, BigInt(amount))),
    account: async () => {
      const { poolId, rewards } = await provider.getDelegation(reward);
      return { active: poolId !== null, pool: poolId, rewards: String(rewards) };
    },
    holder: async ({ unit }) => (await provider.getUtxoByUnit(unit)).address,
  };
});
