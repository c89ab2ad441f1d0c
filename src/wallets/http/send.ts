/** Transactions built, signed and submitted in one call, and shown as the wallet's history has them. */
import type { Context } from "hono";
import { onlyOf } from "#src/base/present.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { entityOf, LONGEST_MS, until, type WalletService } from "#src/wallets/http/service.ts";
import { transactionView } from "#src/wallets/http/history.ts";
import { policyKeyHash } from "#src/wallets/builds/policy.ts";
import { stakePath } from "#src/cardano/keys/paths.ts";
import { isNamed, madeOnce } from "#src/wallets/http/idempotency.ts";
import { answered } from "#src/wallets/http/status.ts";
import { Conflict, hashOf, submitFor } from "#src/wallets/http/submission.ts";
import { serially } from "#src/base/serially.ts";
import { readOwnTransactions } from "#src/wallets/walletReads.ts";
import { ensureChangeAddress } from "#src/wallets/vault/randomAddresses.ts";
import { signBuilt, withoutForgedOutputs } from "#src/wallets/vault/walletSigning.ts";
import { releaseSpend } from "#src/wallets/spending.ts";
import { claimTransaction } from "#src/wallets/requests.ts";
import type { PaymentIntent } from "#src/wallets/builds/types.ts";
import { readAccount } from "#src/wallets/delegation/read.ts";
import { ownDrepOf } from "#src/wallets/ownDrep.ts";
import type { WalletRow } from "#src/wallets/rows.ts";

/**
 * Builds an intent, signs and submits it, once for all requests with the same `Idempotency-Key` (`body` identifies the
 * request), and gives the pending transaction.
 */
export type Send = (
  walletId: string,
  passphrase: string,
  body: object,
  context: Context,
  makeIntent: () => Promise<PaymentIntent>,
  /** Adds signatures of others to the signed transaction. */
  countersign?: (transaction: Uint8Array) => Promise<Uint8Array>,
) => Promise<unknown>;

/** A function that sends for wallets of some kinds. */
export function sender(service: WalletService, kinds: readonly WalletRow["kind"][]): Send {
  return async (id, passphrase, body, context, makeIntent, countersign) => {
    const row = await service.wallet(id, ...kinds);
    const make = async () => {
      if (row.kind === "random") answered(await ensureChangeAddress(service, row, passphrase, until()));
      const signed = answered(
        await withoutForgedOutputs(async () => {
          const built = answered(await service.builds.construct(entityOf(id), await makeIntent(), LONGEST_MS));
          return await signBuilt(service, row, built, passphrase);
        }),
      );
      const transaction = await countersign?.(signed) ?? signed;
      if (await claimTransaction(service.store.sql, id, hashOf(transaction))) return transaction;
      // built at the same time from the same coins: once it is pending, the next build avoids them
      await submitFor(service, transaction, id);
      throw new Conflict("Another request is sending the same transaction; try again.");
    };
    // under a key the first signed transaction is final, refused or not
    const hash = isNamed(context)
      ? await submitFor(service, await madeOnce(service, context, id, body, () => untilFree(id, make)), id)
      : await untilFree(id, async () => await submitOnce(service, await make(), id));
    return await sentView(service, row, hash);
  };
}

/** Submits a transaction that only this service holds. If the network refuses it, its amount no longer counts as spent. */
async function submitOnce(service: WalletService, transaction: Uint8Array, wallet: string): Promise<string> {
  try {
    return await submitFor(service, transaction, wallet);
  } catch (error) {
    if (error instanceof HttpFailure && error.code === "created_invalid_transaction") {
      await releaseSpend(service.store.sql, wallet, hashOf(transaction));
    }
    throw error;
  }
}

/** Most builds of a request while other transactions spend its coins. */
const RACES = 8;

/**
 * Builds again where another transaction spent the coins meanwhile: from the second time on one request after the
 * other, so that each sees what the one before has spent.
 */
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
  return await serially(`send ${wallet}`, async () => {
    for (let race = 2;; race++) {
      const one = await attempt(race >= RACES);
      if (one) return one.value;
    }
  });
}

/** A transaction that a wallet has just submitted. */
async function sentView(service: WalletService, row: WalletRow, hash: string) {
  return onlyOf(await sentViews(service, row, [hash]));
}

/** Transactions that a wallet has just submitted, in their order. */
export async function sentViews(service: WalletService, row: WalletRow, hashes: readonly string[]) {
  const account = await readAccount(service.store.sql, row.id);
  return await shownTransactions(service, row.id, hashes, {
    form: "tagged",
    own: {
      account: account && { credential: account.credential, path: stakePath(row.account) },
      drep: ownDrepOf(row),
      policyKey: policyKeyHash(row),
    },
  });
}

type ViewOptions = Pick<Parameters<typeof transactionView>[1], "form" | "own">;

/** A transaction of a wallet; throws 404 `no_such_transaction`. */
export async function shownTransaction(service: WalletService, id: string, hash: string, options: ViewOptions) {
  return onlyOf(await shownTransactions(service, id, [hash], options));
}

async function shownTransactions(service: WalletService, id: string, hashes: readonly string[], options: ViewOptions) {
  const { transactions, height } = await readOwnTransactions(service, id, hashes);
  return await Promise.all(hashes.map(async (hash) => {
    const transaction = transactions.get(hash);
    if (transaction === undefined) throw noSuchTransaction(hash);
    const eras = await service.eras(transaction.slot);
    return transactionView(transaction, { ...options, eras, networkId: service.networkId, height });
  }));
}

/** 404: the wallet has no such transaction. */
export const noSuchTransaction = (hash: string) =>
  new HttpFailure(404, "no_such_transaction", `I couldn't find a transaction with the given id: ${hash}`, {
    transaction_id: hash,
  });
