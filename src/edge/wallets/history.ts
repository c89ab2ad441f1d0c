/** Transactions of a wallet, read and told: listed with every filter, one by one, forgotten. */
import { type Messaged, messaged } from "#src/base/json.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { readListed } from "#src/chain/pending/submissions.ts";
import { addressView, lovelace } from "#src/edge/wallets/amountViews.ts";
import { outputView } from "#src/edge/wallets/builtViews.ts";
import { inputView, metadataIn, partsView, pathOutputView, refView } from "#src/edge/wallets/decodedView.ts";
import type { Desk } from "#src/edge/wallets/context.ts";
import { blockView, expectedSlotView } from "#src/edge/wallets/times.ts";
import { decodeScanned } from "#src/wallet/build/decode.ts";
import type { DecodeInput } from "#src/wallet/build/types.ts";
import { shownOutput } from "#src/wallet/build/shown.ts";
import { type HistoryPage, readHistory, readTransactions } from "#src/wallet/index/readHistory.ts";
import type { HistoryCursor, HistoryQuery, WalletTransaction } from "#src/wallet/index/types.ts";
import type { MetadataForm } from "#src/wallet/metadata/json.ts";

/** What of a transaction is the wallet's beside its outputs. */
export type OwnParts = Pick<DecodeInput["owns"], "account" | "policyKey">;

/** A page of a wallet's history, and where the chain stood when it was read. */
export async function historyOf(
  desk: Desk,
  id: string,
  query: HistoryQuery,
): Promise<HistoryPage & { height: number }> {
  const keyDeposit = await keyDepositOf(desk);
  const { at, value } = await atPoint(
    desk.store,
    async (sql) => await readHistory(sql, id, query, await readListed(sql, [id]), keyDeposit),
  );
  return { ...value, height: at.height };
}

/** Transactions that are read at a time, however many are wanted. */
const AT_ONCE = 250;

/**
 * A wallet's history page by page, all of one state of the index, each handed to `tell` with where the chain stood and how time runs. Gives what
 * `after` of the next page is, where there are more than were wanted.
 */
export async function tellHistory(
  desk: Desk,
  id: string,
  query: HistoryQuery,
  tell: (
    transactions: readonly WalletTransaction[],
    at: { readonly height: number; readonly eras: Eras },
  ) => Promise<void>,
): Promise<HistoryCursor | undefined> {
  const keyDeposit = await keyDepositOf(desk);
  const { value } = await atPoint(desk.store, async (sql) => {
    const [{ at }, listed] = await Promise.all([readCursor(sql), readListed(sql, [id])]);
    const eras = await desk.eras(Math.max(0, at.slot, ...listed.map(({ since }) => since.slot)));
    let left = query.limit ?? Infinity;
    let after = query.after;
    do {
      const page = { ...query, ...(after ? { after } : {}), limit: Math.min(left, AT_ONCE) };
      const { transactions, next } = await readHistory(sql, id, page, listed, keyDeposit);
      await tell(transactions, { height: at.height, eras });
      left -= transactions.length;
      after = next;
    } while (after && left > 0);
    return after;
  });
  return value;
}

/** Some transactions of a wallet by hash, without those that it has not, and where the chain stood when they were read. */
export async function transactionsOf(desk: Desk, id: string, hashes: readonly string[]) {
  const keyDeposit = await keyDepositOf(desk);
  const { at, value } = await atPoint(
    desk.store,
    async (sql) => await readTransactions(sql, id, hashes, await readListed(sql, [id]), keyDeposit),
  );
  return { transactions: value, height: at.height };
}

/** What a registration takes that does not state it. */
async function keyDepositOf({ port }: Pick<Desk, "port">): Promise<bigint | undefined> {
  const answer = await port.parameters();
  return answer.ok ? answer.value.value.keyDeposit : undefined;
}

/** What a transaction is told by. */
export interface HistoryTelling {
  readonly eras: Eras;
  readonly networkId: 0 | 1;
  /** Where the chain stands. */
  readonly height: number;
  readonly form: MetadataForm;
  readonly own: OwnParts;
}

/** A transaction of a wallet. */
export function transactionView(one: WalletTransaction, { eras, networkId, height, form, own }: HistoryTelling) {
  const { transaction, status } = one;
  // inputs and outputs are told otherwise here
  const { inputs: _, outputs: __, witnesses: ___, ...parts } = decodeScanned(transaction, {
    network: networkId,
    keyDeposit: 0n,
    owns: {
      addresses: [],
      coins: [],
      account: own.account,
      policyKey: own.policyKey,
    },
    references: transaction.references.flatMap((ref) => {
      const known = one.known.get(refKey(ref));
      return known ? [{ ref, output: known.output }] : [];
    }),
  });
  const decoded = messaged(parts) as Messaged<typeof parts>;
  const place = blockView(eras, one);
  const expires = transaction.validTo === undefined ? undefined : expectedSlotView(eras, transaction.validTo);
  const output = (made: Parameters<typeof shownOutput>[0], index: number) => {
    const path = one.own.get(index);
    return pathOutputView(messaged({ ...shownOutput(made), ...(path === undefined ? {} : { path }) }));
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
    ...(status === "in_ledger"
      ? { inserted_at: place, depth: { quantity: Math.max(0, height - one.height), unit: "block" } }
      : status === "pending"
      ? { pending_since: place }
      : {}),
    ...(expires === undefined ? {} : { expires_at: expires }),
    ...(one.failures === undefined ? {} : { failures: one.failures }),
  };
}

/** The first era whose blocks say of each transaction whether its scripts agreed, by its tag. */
const ALONZO = 5;

/** Whether the ledger took a transaction as one whose scripts agree; null where it has none to judge by: pending, or of an era before. */
function judgedAs({ era, transaction }: Pick<WalletTransaction, "era" | "transaction">): "valid" | "invalid" | null {
  return era === undefined || era < ALONZO ? null : transaction.valid ? "valid" : "invalid";
}

/** An input, with what it holds where that is known. */
function knownInput(one: WalletTransaction, ref: WalletTransaction["transaction"]["inputs"][number]) {
  const known = one.known.get(refKey(ref));
  if (known === undefined) return refView(ref);
  const shown = shownOutput(known.output);
  return known.path === undefined
    ? { ...refView(ref), ...outputView(messaged(shown)) }
    : inputView(messaged({ ref, own: { ...shown, path: known.path } }));
}
