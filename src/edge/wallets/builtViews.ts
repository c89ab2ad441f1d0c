/** Unsigned transactions as the API shows them. */
import type { Warned } from "#actors/walletBuildCalls.ts";
import { fromHex } from "#src/base/bytes.ts";
import type { Messaged } from "#src/base/json.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { addressView, assetViews, lovelace } from "#src/edge/wallets/amountViews.ts";
import type {
  CoinSelection,
  ConstructedTransaction,
  FeeEstimate,
  ShownCertificate,
  ShownOutput,
} from "#src/wallet/build/types.ts";
import { pathText } from "#src/wallet/keys/paths.ts";

/** Bytes as a client wants them. */
export function encoded(bytes: Uint8Array | string, encoding: "base64" | "base16"): string {
  const raw = typeof bytes === "string" ? fromHex(bytes) : bytes;
  if (encoding === "base16") return Array.from(raw, (byte) => byte.toString(16).padStart(2, "0")).join("");
  let text = "";
  for (const byte of raw) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Address, lovelace and assets. */
export function outputView({ address, lovelace: coin, assets }: Messaged<ShownOutput>) {
  return {
    address: addressView(address),
    amount: lovelace(coin),
    ...(assets.length === 0 ? {} : { assets: assetViews(assets.map(([asset, quantity]) => [asset, quantity])) }),
  };
}

/** A transaction to be signed. */
export function constructedView(
  { transaction, selection, fee, warnings }: Messaged<
    Pick<ConstructedTransaction, "transaction" | "selection" | "fee"> & Warned
  >,
  encoding: "base64" | "base16",
) {
  return {
    transaction: encoded(transaction, encoding),
    coin_selection: selectionView(selection),
    fee: lovelace(fee),
    ...(warnings ? { warnings } : {}),
  };
}

/** The coins and certificates of a transaction, from the wallet's side. */
export function selectionView(selection: Messaged<CoinSelection>) {
  const coin = (one: Messaged<CoinSelection["inputs"][number]>) => ({
    ...outputView(one),
    id: one.ref.txHash,
    index: Number(one.ref.index),
    derivation_path: pathText(one.path.map(Number)),
  });
  return {
    inputs: selection.inputs.map(coin),
    outputs: selection.outputs.map(outputView),
    change: selection.change.map((one) => ({ ...outputView(one), derivation_path: pathText(one.path.map(Number)) })),
    collateral: selection.collateral.map(coin),
    withdrawals: selection.withdrawals.map(({ account, path, lovelace: coin }) => ({
      stake_address: addressView(account),
      derivation_path: pathText(path.map(Number)),
      amount: lovelace(coin),
    })),
    ...(selection.certificates.length === 0 ? {} : { certificates: selection.certificates.map(certificateView) }),
    deposits_taken: selection.depositsTaken.map(lovelace),
    deposits_returned: selection.depositsReturned.map(lovelace),
    ...(selection.metadata === undefined ? {} : { metadata: encoded(selection.metadata, "base64") }),
  };
}

/** A certificate of an account: with its path where it is the wallet's, otherwise with its address. */
export function certificateView({ type, pool, drep, path, account }: Messaged<ShownCertificate>) {
  return {
    certificate_type: path === undefined ? `${type}_external` : type,
    ...(pool === undefined ? {} : { pool: toBech32("pool", fromHex(pool)) }),
    ...(drep === undefined ? {} : { vote: drepId(drep as DRep) }),
    ...(path === undefined
      ? { reward_account: addressView(account) }
      : { reward_account_path: pathText(path.map(Number)) }),
  };
}

/** The estimated fee of a transaction. */
export function feeView({ least, most, minimums, deposit }: Messaged<FeeEstimate>) {
  return {
    estimated_min: lovelace(least),
    estimated_max: lovelace(most),
    minimum_coins: minimums.map(lovelace),
    deposit: lovelace(deposit),
  };
}
