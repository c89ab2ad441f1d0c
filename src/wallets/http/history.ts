/** Transactions of a wallet as the API shows them. */
import { messaged } from "#src/base/json.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { addressView, lovelace } from "#src/wallets/http/amountViews.ts";
import { inputView, metadataIn, partsView, pathOutputView, refView } from "#src/wallets/http/decodedView.ts";
import { blockView, expectedSlotView } from "#src/wallets/http/times.ts";
import { decodeScanned } from "#src/wallets/builds/decode.ts";
import type { DecodeInput } from "#src/wallets/builds/types.ts";
import { shownOutput } from "#src/wallets/builds/shown.ts";
import type { WalletTransaction } from "#src/wallets/index/types.ts";
import type { MetadataForm } from "#src/cardano/metadata/json.ts";

/** The wallet's keys that certificates, withdrawals and policies refer to. */
export type OwnParts = Pick<DecodeInput["owns"], "account" | "drep" | "policyKey">;

/** What a transaction's JSON depends on beside the transaction. */
export interface TransactionViewing {
  readonly eras: Eras;
  readonly networkId: 0 | 1;
  /** Height of the block up to which the wallet is read. */
  readonly height: number;
  readonly form: MetadataForm;
  readonly own: OwnParts;
}

/** A transaction of a wallet. */
export function transactionView(one: WalletTransaction, { eras, networkId, height, form, own }: TransactionViewing) {
  const { transaction, status } = one;
  // inputs and outputs have another form in a history
  const { inputs: _, outputs: __, witnesses: ___, ...parts } = decodeScanned(transaction, {
    network: networkId,
    keyDeposit: 0n,
    owns: { addresses: [], coins: [], account: own.account, drep: own.drep, policyKey: own.policyKey },
    references: transaction.references.flatMap((ref) => {
      const known = one.known.get(refKey(ref));
      return known ? [{ ref, output: known.output }] : [];
    }),
  });
  const decoded = messaged(parts);
  const place = blockView(eras, one);
  const output = (made: Parameters<typeof shownOutput>[0], index: number) => {
    return pathOutputView(messaged({ ...shownOutput(made), path: one.own.get(index) }));
  };
  return {
    ...partsView(decoded, metadataIn(decoded), form),
    script_validity: judgedAs(one),
    id: one.hash,
    amount: lovelace(one.amount),
    fee: lovelace(one.fee ?? 0n),
    deposit_taken: lovelace(one.depositTaken),
    deposit_returned: lovelace(one.depositReturned),
    direction: one.direction,
    inputs: transaction.inputs.map((ref) => knownInput(one, ref)),
    collateral: transaction.collateral.map((ref) => knownInput(one, ref)),
    outputs: transaction.outputs.map(output),
    collateral_outputs: transaction.collateralReturn
      ? [output(transaction.collateralReturn, transaction.outputs.length)]
      : [],
    withdrawals: decoded.withdrawals.map(({ account, lovelace: coin }) => ({
      stake_address: addressView(account),
      amount: lovelace(coin),
    })),
    status,
    ...(status === "in_ledger" &&
      { inserted_at: place, depth: { quantity: Math.max(0, height - one.height), unit: "block" } }),
    ...(status === "pending" && { pending_since: place }),
    expires_at: transaction.validTo === undefined ? undefined : expectedSlotView(eras, transaction.validTo),
    failures: one.failures,
  };
}

/** Tag of the first era whose blocks record whether a transaction's scripts succeeded. */
const ALONZO = 5;

/**
 * Whether the scripts of a transaction succeeded, by its block; null while it is pending, and in eras before Alonzo.
 */
function judgedAs({ era, transaction }: Pick<WalletTransaction, "era" | "transaction">): "valid" | "invalid" | null {
  return era === undefined || era < ALONZO ? null : transaction.valid ? "valid" : "invalid";
}

/** An input, with its output where that is the wallet's. */
function knownInput(one: WalletTransaction, ref: WalletTransaction["transaction"]["inputs"][number]) {
  const known = one.known.get(refKey(ref));
  if (known?.path === undefined) return refView(ref);
  return inputView(messaged({ ref, own: { ...shownOutput(known.output), path: known.path } }));
}
