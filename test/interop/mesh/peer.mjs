/** Mesh on its providers for Blockfrost, Yaci and UTxO RPC; that for Ogmios evaluates and submits only. */
import {
  applyCborEncoding,
  BlockfrostProvider,
  ForgeScript,
  MeshTxBuilder,
  MeshWallet,
  OgmiosProvider,
  resolveScriptHash,
  serializePlutusScript,
  U5CProvider,
  YaciProvider,
} from "@meshsdk/core";
import { WebSocket } from "ws";
import { serve } from "./serve.mjs";

// Node has it from version 22 on
globalThis.WebSocket ??= WebSocket;

const lovelace = (quantity) => [{ unit: "lovelace", quantity: String(quantity) }];
const NAME = "4d657368";

/** What reads, by the name of a provider. */
const READERS = {
  yaci: ({ url, adminUrl }) => new YaciProvider(url, adminUrl),
  utxorpc: ({ url }) => new U5CProvider({ url }),
};

await serve(async ({ words, costModels, ...settings }) => {
  const provider = READERS[settings.provider]?.(settings) ?? new BlockfrostProvider(settings.url);
  const submitter = settings.ogmios ? new OgmiosProvider(settings.ogmios) : provider;
  const walletOf = async (accountType) => {
    const key = { type: "mnemonic", words };
    const made = new MeshWallet({ networkId: 0, fetcher: provider, submitter, key, accountType });
    await made.init();
    return made;
  };
  const [wallet, stakeWallet] = [await walletOf("payment"), await walletOf("stake")];
  const address = await wallet.getChangeAddress();
  const [reward] = await wallet.getRewardAddresses();
  const begin = () => {
    const tx = new MeshTxBuilder({ fetcher: provider, submitter, evaluator: submitter });
    return costModels ? tx.setNetwork(costModels) : tx;
  };
  /** One coin is kept for collateral: the smallest of the first ones. */
  let kept;
  const end = async (tx, { script = false, stake = false } = {}) => {
    const utxos = await provider.fetchAddressUTxOs(address);
    const size = ({ output }) => Number(output.amount[0].quantity);
    kept ??= utxos.filter(({ output }) => output.amount.length === 1).sort((a, b) => size(a) - size(b))[0];
    const { input, output } = kept;
    if (script) tx.txInCollateral(input.txHash, input.outputIndex, output.amount, output.address);
    const isKept = (utxo) => utxo.input.txHash === input.txHash && utxo.input.outputIndex === input.outputIndex;
    tx.changeAddress(address).selectUtxosFrom(utxos.filter((utxo) => !isKept(utxo)));
    const signed = await wallet.signTx(await tx.complete(), true);
    return await submitter.submitTx(stake ? await stakeWallet.signTx(signed, true) : signed);
  };
  const plutus = ({ language, script }) => {
    const code = applyCborEncoding(script);
    const version = `V${language}`;
    const at = serializePlutusScript({ code, version }, undefined, 0).address;
    return { code, version, at, hash: resolveScriptHash(code, version) };
  };
  const at = async ({ txHash, index }) => (await provider.fetchUTxOs(txHash, index))[0];

  return {
    address: () => ({ address, reward }),
    utxos: async () =>
      (await provider.fetchAddressUTxOs(address)).map(({ input, output }) => ({
        txHash: input.txHash,
        index: input.outputIndex,
        lovelace: output.amount[0].quantity,
      })),
    parameters: async () => {
      const { minFeeA, minFeeB, coinsPerUtxoSize, keyDeposit, maxTxExMem } = await provider.fetchProtocolParameters();
      return { minFeeA, minFeeB, coinsPerUtxoByte: coinsPerUtxoSize, keyDeposit, maxTxExMem };
    },
    pay: ({ to, amount }) => end(begin().txOut(to, lovelace(amount))),
    payWithMetadata: ({ to, amount, label, text }) =>
      end(begin().txOut(to, lovelace(amount)).metadataValue(label, { msg: [text] })),
    mint: ({ quantity }) => {
      const script = ForgeScript.withOneSignature(address);
      return end(begin().mint(String(quantity), resolveScriptHash(script), NAME).mintingScript(script));
    },
    mintByScript: ({ quantity, redeemer, ...of }) => {
      const { code, version, hash } = plutus(of);
      const tx = begin()[`mintPlutusScript${version}`]().mint(String(quantity), hash, NAME);
      return end(tx.mintingScript(code).mintRedeemerValue(redeemer), { script: true });
    },
    lock: ({ amount, datum, inline, ...of }) => {
      const tx = begin().txOut(plutus(of).at, lovelace(amount));
      return end(inline ? tx.txOutInlineDatumValue(datum) : tx.txOutDatumHashValue(datum));
    },
    spend: async ({ ref, datum, inline, redeemer, ...of }) => {
      const { code, version } = plutus(of);
      const { input, output } = await at(ref);
      const tx = begin()[`spendingPlutusScript${version}`]()
        .txIn(input.txHash, input.outputIndex, output.amount, output.address)
        .txInRedeemerValue(redeemer).txInScript(code);
      return await end(inline ? tx.txInInlineDatumPresent() : tx.txInDatumValue(datum), { script: true });
    },
    publish: ({ to, amount, ...of }) => {
      const { code, version } = plutus(of);
      return end(begin().txOut(to, lovelace(amount)).txOutReferenceScript(code, version));
    },
    spendByReference: async ({ ref, published, redeemer, ...of }) => {
      const { version } = plutus(of);
      const [{ input, output }, holder] = [await at(ref), await at(published)];
      const { scriptRef, scriptHash } = holder.output;
      const tx = begin()[`spendingPlutusScript${version}`]()
        .txIn(input.txHash, input.outputIndex, output.amount, output.address)
        .txInInlineDatumPresent().txInRedeemerValue(redeemer)
        .spendingTxInReference(published.txHash, published.index, String(scriptRef.length / 2), scriptHash);
      return await end(tx, { script: true });
    },
    register: () => end(begin().registerStakeCertificate(reward)),
    delegate: ({ pool }) => end(begin().delegateStakeCertificate(reward, pool), { stake: true }),
    vote: () => end(begin().voteDelegationCertificate({ alwaysAbstain: null }, reward), { stake: true }),
    withdraw: ({ amount }) => end(begin().withdrawal(reward, String(amount)), { stake: true }),
    account: async () => {
      const { active, poolId, rewards } = await provider.fetchAccountInfo(reward);
      return { active, pool: poolId, rewards: String(rewards) };
    },
    transaction: async ({ txHash }) => {
      const { hash, fees, slot } = await provider.fetchTxInfo(txHash);
      return { hash, fee: fees, slot: Number(slot) };
    },
    holder: async ({ unit }) => (await provider.fetchAssetAddresses(unit))[0].address,
    information: () => provider.getDevnetInfo(),
    genesis: ({ era }) => provider.getGenesisByEra(era),
    topUp: ({ ada }) => provider.addressTopup(address, String(ada)),
  };
});
