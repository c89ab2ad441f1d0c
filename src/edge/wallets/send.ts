/** A wish built, signed and submitted in one call, and the transaction as the wallet's history has it. */
import type { Context } from "hono";
import { HttpFailure } from "#src/edge/errors.ts";
import { haveChangeAddress } from "#src/edge/wallets/changeAddress.ts";
import { type Desk, entityOf, LONGEST_MS } from "#src/edge/wallets/context.ts";
import { transactionsOf, transactionView } from "#src/edge/wallets/history.ts";
import { policyHash } from "#src/edge/wallets/keys.ts";
import { isNamed, madeOnce } from "#src/edge/wallets/idempotency.ts";
import { signBuilt, signedWithout, STAKE_PATH } from "#src/edge/wallets/signing.ts";
import { answered } from "#src/edge/wallets/status.ts";
import { Conflict, hashOf, submitFor } from "#src/edge/wallets/submission.ts";
import { inTurn } from "#actors/offering.ts";
import { claimTransaction } from "#src/wallet/requests.ts";
import type { PaymentIntent } from "#src/wallet/build/types.ts";
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
  wishing: () => Promise<PaymentIntent>,
) => Promise<unknown>;

/** Sends for wallets of a kind. */
export function sender(desk: Desk, kind: WalletRow["kind"]): Send {
  return async (id, passphrase, body, context, wishing) => {
    const row = await desk.wallet(id, kind);
    const make = async () => {
      if (kind === "random") await haveChangeAddress(desk, row, passphrase);
      const transaction = await signedWithout(async () => {
        const built = answered(await desk.builds.construct(entityOf(id), await wishing(), LONGEST_MS));
        return await signBuilt(desk, row, built, passphrase);
      });
      if (await claimTransaction(desk.store.sql, id, hashOf(transaction))) return transaction;
      // built at the same time out of the same coins: once it is pending the next build knows
      await submitFor(desk, transaction, id);
      throw new Conflict("Another request sends the very same transaction: try again.");
    };
    // what was made under a key is what the key stands for, refused or not
    const hash = isNamed(context)
      ? await submitFor(desk, await madeOnce(desk, context, id, body, () => untilFree(id, make)), id)
      : await untilFree(id, async () => await submitFor(desk, await make(), id));
    return await sentView(desk, row, hash);
  };
}

/** Times that something is built because others have spent its coins meanwhile. */
const RACES = 8;

/** Builds, and builds again where others were quicker: then in turn, so that each sees what the one before has spent. */
async function untilFree<T>(wallet: string, work: () => Promise<T>): Promise<T> {
  const attempt = async (isLast: boolean): Promise<{ readonly value: T } | undefined> => {
    try {
      return { value: await work() };
    } catch (error) {
      if (isLast || !(error instanceof Conflict)) throw error;
      return undefined;
    }
  };
  const first = await attempt(false);
  if (first) return first.value;
  return await inTurn(`send ${wallet}`, async () => {
    for (let race = 2;; race++) {
      const one = await attempt(race >= RACES);
      if (one) return one.value;
    }
  });
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
