/** Evolution SDK on its provider for Blockfrost, as it is. */
import {
  Address,
  Assets,
  Bytes,
  Client,
  DatumHash,
  DRep,
  InlineDatum,
  NativeScripts,
  PlutusV1,
  PlutusV2,
  PlutusV3,
  PoolKeyHash,
  preview,
  RewardAccount,
  ScriptHash,
  TransactionHash,
  TransactionInput,
  TransactionMetadatum,
} from "@evolution-sdk/evolution";
import { serve } from "./serve.mjs";

const NAME = "45766f";
const PLUTUS = { 1: PlutusV1.PlutusV1, 2: PlutusV2.PlutusV2, 3: PlutusV3.PlutusV3 };

await serve(async ({ url, words }) => {
  const chain = { ...preview, name: "devnet", networkMagic: 42 };
  const client = Client.make(chain).withBlockfrost({ baseUrl: url }).withSeed({ mnemonic: words.join(" ") });
  const address = await client.address();
  const stakeCredential = address.stakingCredential;
  const reward = RewardAccount.toBech32(new RewardAccount.RewardAccount({ networkId: 0, stakeCredential }));
  const end = async (tx) => TransactionHash.toHex(await (await (await tx.build()).sign()).submit());
  const plutus = ({ language, script }) => new PLUTUS[language]({ bytes: Bytes.fromHex(script) });
  const native = NativeScripts.makeScriptPubKey(address.paymentCredential.hash);
  const hashOf = (script) => ScriptHash.toHex(ScriptHash.fromScript(script));
  const minted = (script, quantity) => Assets.fromHexStrings(hashOf(script), NAME, BigInt(quantity));
  const pay = (to, amount, more = {}) =>
    client.newTx().payToAddress({
      address: typeof to === "string" ? Address.fromBech32(to) : to,
      assets: Assets.fromLovelace(BigInt(amount)),
      ...more,
    });
  const scriptAddress = (script) =>
    new Address.Address({ networkId: 0, paymentCredential: ScriptHash.fromScript(script) });
  const at = ({ txHash, index }) =>
    client.getUtxosByOutRef([
      new TransactionInput.TransactionInput({ transactionId: TransactionHash.fromHex(txHash), index: BigInt(index) }),
    ]);

  return {
    address: () => ({ address: Address.toBech32(address), reward }),
    utxos: async () =>
      (await client.getWalletUtxos()).map(({ transactionId, index, assets }) => ({
        txHash: TransactionHash.toHex(transactionId),
        index: Number(index),
        lovelace: String(assets.lovelace),
      })),
    parameters: async () => {
      const { minFeeA, minFeeB, coinsPerUtxoByte, keyDeposit, maxTxExMem } = await client.getProtocolParameters();
      return { minFeeA, minFeeB, coinsPerUtxoByte, keyDeposit, maxTxExMem: String(maxTxExMem) };
    },
    pay: ({ to, amount }) => end(pay(to, amount)),
    payWithMetadata: ({ to, amount, label, text }) =>
      end(
        pay(to, amount).attachMetadata({
          label: BigInt(label),
          metadata: TransactionMetadatum.fromEntries([["msg", TransactionMetadatum.array([text])]]),
        }),
      ),
    mint: ({ quantity }) =>
      end(client.newTx().mintAssets({ assets: minted(native, quantity) }).attachScript({ script: native })),
    mintByScript: ({ quantity, redeemer, ...of }) => {
      const script = plutus(of);
      const assets = minted(script, quantity);
      return end(client.newTx().mintAssets({ assets, redeemer: BigInt(redeemer) }).attachScript({ script }));
    },
    lock: ({ amount, datum, datumHash, inline, ...of }) => {
      const option = inline ? new InlineDatum.InlineDatum({ data: BigInt(datum) }) : DatumHash.fromHex(datumHash);
      return end(pay(scriptAddress(plutus(of)), amount, { datum: option }));
    },
    spend: async ({ ref, redeemer, ...of }) =>
      end(
        client.newTx().collectFrom({ inputs: await at(ref), redeemer: BigInt(redeemer) })
          .attachScript({ script: plutus(of) }),
      ),
    publish: ({ to, amount, ...of }) => end(pay(to, amount, { script: plutus(of) })),
    spendByReference: async ({ ref, published, redeemer }) =>
      end(
        client.newTx().readFrom({ referenceInputs: await at(published) })
          .collectFrom({ inputs: await at(ref), redeemer: BigInt(redeemer) }),
      ),
    register: () => end(client.newTx().registerStake({ stakeCredential })),
    delegate: ({ pool }) =>
      end(client.newTx().delegateToPool({ stakeCredential, poolKeyHash: PoolKeyHash.fromBech32(pool) })),
    vote: () => end(client.newTx().delegateToDRep({ stakeCredential, drep: DRep.alwaysAbstain() })),
    withdraw: ({ amount }) => end(client.newTx().withdraw({ stakeCredential, amount: BigInt(amount) })),
    holder: async ({ unit }) => Address.toBech32((await client.getUtxoByUnit(unit)).address),
    account: async () => {
      const { poolId, rewards } = await client.getWalletDelegation();
      return { active: poolId !== null, pool: poolId && PoolKeyHash.toBech32(poolId), rewards: String(rewards) };
    },
  };
});
