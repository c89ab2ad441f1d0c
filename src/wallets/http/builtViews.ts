/** Unsigned transactions as the API shows them. */
import type { Warned } from "#src/wallets/walletBuildCalls.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Messaged } from "#src/base/json.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { addressView, assetViews, lovelace } from "#src/wallets/http/amountViews.ts";
import { poolText } from "#src/wallets/http/delegationView.ts";
import type {
  BuiltCertificate,
  CoinSelection,
  ConstructedTransaction,
  FeeEstimate,
  ShownCertificate,
  ShownOutput,
} from "#src/wallets/builds/types.ts";
import { governanceCertificateView, votesView } from "#src/wallets/http/governanceViews.ts";
import { pathText } from "#src/cardano/keys/paths.ts";

/** Bytes as a client wants them. */
export function encoded(bytes: Uint8Array | string, encoding: "base64" | "base16"): string {
  const raw = typeof bytes === "string" ? fromHex(bytes) : bytes;
  return encoding === "base16" ? toHex(raw) : Buffer.from(raw).toString("base64");
}

/** Address, lovelace and assets. */
export function outputView({ address, lovelace: coin, assets }: Messaged<ShownOutput>) {
  return {
    address: addressView(address),
    amount: lovelace(coin),
    assets: assets.length === 0 ? undefined : assetViews(assets),
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
    warnings,
  };
}

/** The coins and certificates of a transaction, from the wallet's side. */
export function selectionView(selection: Messaged<CoinSelection>) {
  const own = (one: Messaged<CoinSelection["change"][number]>) => ({
    ...outputView(one),
    derivation_path: pathText(one.path.map(Number)),
  });
  const coin = (one: Messaged<CoinSelection["inputs"][number]>) => ({
    ...own(one),
    id: one.ref.txHash,
    index: Number(one.ref.index),
  });
  return {
    inputs: selection.inputs.map(coin),
    outputs: selection.outputs.map(outputView),
    change: selection.change.map(own),
    collateral: selection.collateral.map(coin),
    withdrawals: selection.withdrawals.map(({ account, path, lovelace: coin }) => ({
      stake_address: addressView(account),
      derivation_path: pathText(path.map(Number)),
      amount: lovelace(coin),
    })),
    certificates: unlessEmpty(
      selection.certificates.flatMap((one) => one.type === "governance" ? [] : [certificateView(one)]),
    ),
    governance_certificates: unlessEmpty(
      selection.certificates.flatMap((one) => one.type === "governance" ? [governanceCertificateView(one)] : []),
    ),
    votes: votesView(selection.votes),
    deposits_taken: selection.depositsTaken.map(lovelace),
    deposits_returned: selection.depositsReturned.map(lovelace),
    metadata: selection.metadata && encoded(selection.metadata, "base64"),
  };
}

const unlessEmpty = <T>(list: readonly T[]) => list.length === 0 ? undefined : list;

/** A certificate that a build makes. */
export function builtCertificateView(certificate: Messaged<BuiltCertificate>) {
  return certificate.type === "governance" ? governanceCertificateView(certificate) : certificateView(certificate);
}

/** A certificate of an account: with its path where it is the wallet's, otherwise with its address. */
function certificateView({ type, pool, drep, path, account }: Messaged<ShownCertificate>) {
  return {
    certificate_type: path === undefined ? `${type}_external` : type,
    pool: pool && poolText(pool),
    vote: drep && drepId(drep),
    reward_account: path ? undefined : addressView(account),
    reward_account_path: path && pathText(path.map(Number)),
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
