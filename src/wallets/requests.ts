/**
 * Idempotent requests that spend: a repeated request with the same client key has no second effect and gets the first
 * result.
 *
 * The signed transaction is stored before it is submitted. A repetition submits the stored transaction again; the
 * network takes it once. While none is stored, only the newest attempt may store one. So another process may take over
 * an attempt whose process seems to have failed: if it has not failed, its transaction is rejected here and never
 * submitted.
 */
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** Milliseconds without a sign of life after which another process may take over a request. */
export const ABANDONED_MS = 60_000;
/** How long a request is stored. */
const KEPT = "24 hours";

/** State of a request when a caller claims it. */
type RequestState =
  /** The caller must do it. */
  | { readonly state: "begun"; readonly attempt: string }
  /** The process `holder` is doing it. */
  | { readonly state: "busy"; readonly attempt: string; readonly holder: string | null }
  /** The key was used for another request. */
  | { readonly state: "other" }
  /** The transaction is stored; it may have been submitted. */
  | { readonly state: "made"; readonly transaction: Uint8Array };

/** One attempt at a request. */
export interface Attempt {
  /** Namespace of the key: a wallet. */
  readonly scope: string;
  readonly key: string;
  /** Random; identifies this attempt. */
  readonly attempt: string;
}

/** An attempt with what identifies the request. */
interface RequestClaim extends Attempt {
  readonly fingerprint: string;
  /** The process that will work on it. */
  readonly holder: string;
  /** An attempt whose process has failed: this one takes over from it. */
  readonly gone?: string;
}

/** Begins a request, or gives its state. */
export async function claimRequest(
  sql: Queries,
  { scope, key, attempt, fingerprint, holder, gone = "" }: RequestClaim,
): Promise<RequestState> {
  await sql`delete from wallet_request where begun_at < now() - ${KEPT}::interval`;
  const free = sql`r.transaction is null and r.fingerprint = excluded.fingerprint
    and (r.attempt = ${gone} or r.begun_at < now() - ${ABANDONED_MS} * interval '1 millisecond')`;
  const row = await onlyRow(sql<
    { attempt: string; holder: string | null; fingerprint: string; transaction: Uint8Array | null }[]
  >`
    insert into wallet_request as r (scope, key, fingerprint, attempt, holder)
    values (${scope}, ${key}, ${fingerprint}, ${attempt}, ${holder})
    on conflict (scope, key) do update set
      attempt = case when ${free} then excluded.attempt else r.attempt end,
      holder = case when ${free} then excluded.holder else r.holder end,
      begun_at = case when ${free} then now() else r.begun_at end
    returning attempt, holder, fingerprint, transaction`);
  const { transaction } = row;
  if (row.fingerprint !== fingerprint) return { state: "other" };
  if (transaction !== null) return { state: "made", transaction: new Uint8Array(transaction) };
  return row.attempt === attempt
    ? { state: "begun", attempt }
    : { state: "busy", attempt: row.attempt, holder: row.holder };
}

/**
 * Claims a transaction hash for the request that made it; false where another request made the same transaction: each
 * request must spend by itself. A client cannot use this key.
 */
export async function claimTransaction(sql: Queries, scope: string, hash: string): Promise<boolean> {
  await sql`delete from wallet_request where begun_at < now() - ${KEPT}::interval`;
  const rows = await sql`insert into wallet_request (scope, key, fingerprint, attempt)
    values (${scope}, ${`transaction ${hash}`}, ${hash}, ${hash}) on conflict do nothing returning 1`;
  return rows.length > 0;
}

/** SQL that is true for the row of an attempt without transaction. */
const unfinished = (sql: Queries, { scope, key, attempt }: Attempt) =>
  sql`scope = ${scope} and key = ${key} and attempt = ${attempt} and transaction is null`;

/** Renews an attempt, so that no other process takes it over for `ABANDONED_MS`. */
export async function holdRequest(sql: Queries, attempt: Attempt): Promise<void> {
  await sql`update wallet_request set begun_at = now()
    where ${unfinished(sql, attempt)}`;
}

/** Stores the transaction of a request; false where another attempt has taken over. */
export async function storeTransaction(
  sql: Queries,
  attempt: Attempt,
  transaction: Uint8Array,
): Promise<boolean> {
  const rows = await sql`update wallet_request set transaction = ${transaction}
    where ${unfinished(sql, attempt)} returning 1`;
  return rows.length > 0;
}

/** Most stored transactions that are read for a scope. */
const MOST_STORED = 200;

/** The latest transactions that requests of a scope have stored, the oldest first; they may have been submitted. */
export async function readStoredTransactions(sql: Queries, scope: string): Promise<Uint8Array[]> {
  const rows = await sql<{ transaction: Uint8Array }[]>`
    select transaction from wallet_request where scope = ${scope} and transaction is not null
    order by begun_at desc limit ${MOST_STORED}`;
  return rows.map(({ transaction }) => new Uint8Array(transaction)).reverse();
}

/** Deletes a request without transaction: the key may be used again. */
export async function dropRequest(sql: Queries, attempt: Attempt): Promise<void> {
  await sql`delete from wallet_request where ${unfinished(sql, attempt)}`;
}
