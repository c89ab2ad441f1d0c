/** A wish built, signed and submitted in one call, and the transaction as the wallet's history has it. */
import type { Context } from "hono";
import { HttpFailure } from "#src/edge/errors.ts";
import { haveChangeAddress } from "#src/edge/wallets/changeAddress.ts";
import { type Desk, entityOf, LONGEST_MS } from "#src/edge/wallets/desk.ts";
import { transactionsOf, transactionView } from "#src/edge/wallets/history.ts";
import { policyHash } from "#src/edge/wallets/keys.ts";
import { madeOnce } from "#src/edge/wallets/once.ts";
import { signBuilt, signedWithout, STAKE_PATH } from "#src/edge/wallets/signing.ts";
import { answered } from "#src/edge/wallets/status.ts";
import { submitFor } from "#src/edge/wallets/submission.ts";
import type { Wish } from "#src/wallet/build/types.ts";
import { readAccount } from "#src/wallet/delegation/read.ts";
import type { WalletRow } from "#src/wallet/rows.ts";

/**
 * Builds what is wished, signs and submits it, once for a request that comes again under its `Idempotency-Key` (`body` tells whether it is
 * the same one), and gives the transaction as it is pending.
 */
export type Send = (
  walletId: string,
  passphrase: string,
  body: object,
  context: Context,
  wishing: () => Promise<Wish>,
) => Promise<unknown>;

/** Sends for wallets of a kind. */
export function sender(desk: Desk, kind: WalletRow["kind"]): Send {
  return async (id, passphrase, body, context, wishing) => {
    const row = await desk.wallet(id, kind);
    const transaction = await madeOnce(desk, context, id, body, async () => {
      if (kind === "random") await haveChangeAddress(desk, row, passphrase);
      return await signedWithout(async () => {
        const built = answered(await desk.builds.construct(entityOf(id), await wishing(), LONGEST_MS));
        return await signBuilt(desk, row, built, passphrase);
      });
    });
    return await sentView(desk, row, await submitFor(desk, transaction, id));
  };
}

/** A transaction that a wallet just submitted, as its history has it. */
export async function sentView(desk: Desk, row: WalletRow, hash: string) {
  const [view] = await sentViews(desk, row, [hash]);
  return view!;
}

/** Transactions that a wallet just submitted, in their order. */
export async function sentViews(desk: Desk, row: WalletRow, hashes: readonly string[]) {
  const account = await readAccount(desk.store.sql, row.id);
  return await shownTransactions(desk, row.id, hashes, {
    form: "tagged",
    own: { account: account && { credential: account.credential, path: STAKE_PATH }, policyKey: policyHash(row) },
  });
}

type Telling = Pick<Parameters<typeof transactionView>[1], "form" | "own">;

/** A transaction of a wallet; throws 404 `no_such_transaction`. */
export async function shownTransaction(desk: Desk, id: string, hash: string, telling: Telling) {
  const [view] = await shownTransactions(desk, id, [hash], telling);
  return view!;
}

async function shownTransactions(desk: Desk, id: string, hashes: readonly string[], telling: Telling) {
  const { transactions, height } = await transactionsOf(desk, id, hashes);
  return await Promise.all(hashes.map(async (hash) => {
    const transaction = transactions.get(hash);
    if (transaction === undefined) throw noSuchTransaction(hash);
    const eras = await desk.eras(transaction.slot);
    return transactionView(transaction, { ...telling, eras, networkId: desk.networkId, height });
  }));
}

/** 404: the wallet has no such transaction. */
export const noSuchTransaction = (hash: string) =>
  new HttpFailure(404, "no_such_transaction", `I couldn't find a transaction with the given id: ${hash}`, {
    transaction_id: hash,
  });
