/**
 * Transactions of a signing service: built, signed and submitted one after the other, so that each build sees what the
 * one before spends and creates. Of several processes with one wallet only the holder of the wallet's lease sends. It
 * asks the database for the lease before each build, and again before the signed transaction leaves it: a process that
 * was suspended may not know yet that another one has taken the lease over.
 *
 * Under an `Idempotency-Key` the signed transaction is stored before it is submitted. A process that is killed between
 * the two leaves it stored: the next turn submits it before it builds anything, so that no later transaction takes its
 * inputs.
 */
import type { Context } from "hono";
import { z } from "zod";
import { serially } from "#src/base/serially.ts";
import { fromHex } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { readSubmissionStatus, readSubmittedCbor } from "#src/chain/pending/submissions.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { SignerEdgeOptions } from "#src/signer/http/options.ts";
import { answered } from "#src/tokens/http/status.ts";
import type { Queries } from "#src/store/store.ts";
import { timeOf } from "#src/tokens/http/service.ts";
import { isSpent, submit } from "#src/chain/pending/submit.ts";
import type { transactionWatch } from "#src/tokens/http/watching.ts";
import { isNamed, madeOnce } from "#src/wallets/http/idempotency.ts";
import { readStoredTransactions } from "#src/wallets/requests.ts";

/** What a request to send consists of. */
export interface Sending {
  readonly context: Context;
  /** The request without secrets: an `Idempotency-Key` must not come with another one. */
  readonly body: object;
  /** Builds the unsigned transaction, for at most that many milliseconds. */
  readonly build: (deadlineMs: number) => Promise<Result<Json, Failure>>;
  /** Hashes of transactions that the build depends on: where it fails while one is pending, it waits for a block. */
  readonly after?: readonly string[];
}

/** Sends a transaction of the wallet; gives it as it was submitted. */
export type Send = (sending: Sending) => Promise<ScannedTransaction>;

const unsigned = z.looseObject({ unsignedTransaction: z.string() });

/** Most requests that wait for their turn. */
const MOST_WAITING = 500;
/** Most builds of a request while others spend its inputs: by the same wallet elsewhere, or after a rollback. */
const RACES = 8;
/** Time between two looks at a state that is about to change, in milliseconds. */
const LOOK_MS = 50;
/** Shortest time for a build after a wait, in milliseconds. */
const LEAST_MS = 1_000;

/** Codes of builds that may succeed once a pending transaction is in a block. */
const WAITS: ReadonlySet<string> = new Set([
  "token_pending",
  "token_unknown",
  "request_pending",
  "request_unknown",
  "requests_fail",
]);

/** Scope of the keys of a wallet's requests. */
const scopeOf = (wallet: string) => `signer ${wallet}`;

/** A function that sends for the service's wallet. */
export function signerSend(service: SignerEdgeOptions, watch: ReturnType<typeof transactionWatch>): Send {
  const { store: { sql }, wallet, ask } = service;
  let waiting = 0;
  /** Whether a stored transaction may not have been submitted. */
  let unfinished = true;

  const submitOne = async (transaction: Uint8Array, deadlineMs: number) => {
    const { at: { slot, height } } = await readCursor(sql);
    return await submit(ask, transaction, deadlineMs, { wallet: wallet.id, slot, height });
  };
  const finishStored = async (deadlineMs: number) => {
    for (const transaction of await readStoredTransactions(sql, scopeOf(wallet.id))) {
      if (await readSubmittedCbor(sql, scanTransaction(transaction).hash)) continue;
      const sent = await submitOne(transaction, deadlineMs);
      // refused: its request gets that answer when it comes again
      if (!sent.ok && sent.error.code !== "refused_by_ledger") answered(sent);
    }
    unfinished = false;
  };
  /** Waits until this process may send: a process that was killed holds the lease for a moment. */
  const untilHeld = async (longestMs: number) => {
    for (const end = performance.now() + longestMs; !await service.sends(); await sleep(LOOK_MS)) {
      // what another process stores meanwhile is to be finished here as well
      unfinished = true;
      if (performance.now() >= end) throw elsewhere();
    }
  };
  /** One attempt, within the wallet's turn. */
  const attempt = async ({ context, body, build }: Sending, deadlineMs: number) => {
    await untilHeld(deadlineMs);
    if (unfinished) await finishStored(deadlineMs);
    const transaction = await madeOnce(service, context, scopeOf(wallet.id), body, async () => {
      await wallet.open();
      const built = unsigned.parse(answered(await build(deadlineMs)));
      const signed = await wallet.sign(fromHex(built.unsignedTransaction));
      if (!await service.sends()) throw elsewhere();
      return signed;
    });
    unfinished = true;
    const sent = await submitOne(transaction, deadlineMs);
    if (sent.ok || sent.error.code === "refused_by_ledger") unfinished = false;
    answered(sent);
    return scanTransaction(transaction);
  };
  return async (sending) => {
    if (waiting >= MOST_WAITING) {
      throw new HttpFailure(503, "overloaded", `${MOST_WAITING} requests of this wallet wait for their turn.`);
    }
    const end = performance.now() + timeOf(sending.context);
    const left = () => Math.max(LEAST_MS, Math.ceil(end - performance.now()));
    waiting++;
    try {
      for (let races = 1;;) {
        const before = await pendingAmong(sql, sending.after ?? []);
        try {
          return await serially(`signer ${wallet.id}`, () => attempt(sending, left()));
        } catch (error) {
          // under a key the first signed transaction is final, refused or not
          if (refusedAsSpent(error) && !isNamed(sending.context) && races++ < RACES) continue;
          const longestMs = end - performance.now();
          if (!await decided({ sql, watch }, error, before, sending.context, longestMs)) throw error;
        }
      }
    } finally {
      waiting--;
    }
  };
}

/** Those of some transactions that are pending. */
async function pendingAmong(sql: Queries, hashes: readonly string[]): Promise<string[]> {
  const found = await Promise.all(hashes.map((hash) => readSubmissionStatus(sql, hash)));
  return hashes.filter((_, i) => found[i] === "pending");
}

/**
 * Whether a failed build is worth a repetition: it depends on transactions that were pending, those of `before` or the
 * one that it names. Waits for one of them, unless they were decided meanwhile.
 */
async function decided(
  { sql, watch }: { readonly sql: Queries; readonly watch: ReturnType<typeof transactionWatch> },
  error: unknown,
  before: readonly string[],
  context: Context,
  longestMs: number,
): Promise<boolean> {
  if (!(error instanceof HttpFailure) || !WAITS.has(error.code) || longestMs < LEAST_MS) return false;
  const hashes = [...named(error.details), ...before];
  if (hashes.length === 0) return false;
  const [hash] = await pendingAmong(sql, hashes);
  if (hash !== undefined) {
    return await watch({ hash, depth: 0, longestMs, signal: context.req.raw.signal }) !== undefined;
  }
  await sleep(LOOK_MS);
  return true;
}

const elsewhere = () =>
  new HttpFailure(503, "wallet_elsewhere", "Another process with the same seed file sends for this wallet.");

/** The pending transaction that the details of a refusal name. */
function named(details: unknown): readonly string[] {
  const read = z.looseObject({ transaction: z.string().regex(/^[0-9a-f]{64}$/) }).safeParse(details);
  return read.success ? [read.data.transaction] : [];
}

/** Whether the ledger refused a transaction because another one has spent its inputs. */
function refusedAsSpent(error: unknown): boolean {
  return error instanceof HttpFailure && error.code === "refused_by_ledger" && isSpent(error.details);
}
