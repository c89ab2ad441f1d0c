/**
 * Requests that spend and that a client named by a key of its own: asked again, they do nothing again and get the answer of the first time.
 *
 * The signed transaction is kept before it is submitted. Whoever comes back with the key has that one submitted once more, which a
 * network takes once; until there is one, only the newest of those that work on the request may put one there. So it may be taken over from
 * whoever is believed to be gone: where that is wrong, what they made counts no more and is not submitted.
 */
import type { Queries } from "#src/store/store.ts";
import type { Migration } from "#src/store/migrations.ts";

export const requestMigrations: readonly Migration[] = [{
  id: "wallet-request-1",
  sql: `
    -- named requests that spend; what is secret is not in the fingerprint
    create table wallet_request (
      scope text not null, key text not null, fingerprint text not null, attempt text not null, begun_at timestamptz not null default now(),
      transaction bytea, primary key (scope, key));
    create index on wallet_request (begun_at);`,
}, {
  id: "wallet-request-2",
  sql: `
    -- the process that works on it
    alter table wallet_request add column holder text;`,
}];

/** Milliseconds after which anybody may take over a request of which nothing is heard. */
export const ABANDONED_MS = 60_000;
/** How long an answer is kept. */
const KEPT = "24 hours";

/** How a named request stands when somebody comes with it. */
export type Claimed =
  /** It is the caller's to do. */
  | { readonly state: "begun"; readonly attempt: string }
  /** Somebody else is doing it, in a process that is called `holder`. */
  | { readonly state: "busy"; readonly attempt: string; readonly holder: string | null }
  /** The key was used for another request. */
  | { readonly state: "other" }
  /** The transaction that was made; it may have been submitted. */
  | { readonly state: "made"; readonly transaction: Uint8Array };

/** One attempt at a request. */
export interface Attempt {
  /** Whose the key is: a wallet, or none. */
  readonly scope: string;
  readonly key: string;
  /** A random name, used for no other attempt. */
  readonly attempt: string;
}

/** Who asks for a request, and what they know. */
export interface Claim extends Attempt {
  readonly fingerprint: string;
  /** The process that will work on it. */
  readonly holder: string;
  /** The attempt of somebody who is gone: it is taken over. */
  readonly gone?: string;
}

/** Begins a request, or says what became of it. */
export async function claimRequest(
  sql: Queries,
  { scope, key, attempt, fingerprint, holder, gone = "" }: Claim,
): Promise<Claimed> {
  await sql`delete from wallet_request where begun_at < now() - ${KEPT}::interval`;
  const free = sql`r.transaction is null and r.fingerprint = excluded.fingerprint
    and (r.attempt = ${gone} or r.begun_at < now() - ${ABANDONED_MS} * interval '1 millisecond')`;
  const [row] = await sql<
    { attempt: string; holder: string | null; fingerprint: string; transaction: Uint8Array | null }[]
  >`
    insert into wallet_request as r (scope, key, fingerprint, attempt, holder)
    values (${scope}, ${key}, ${fingerprint}, ${attempt}, ${holder})
    on conflict (scope, key) do update set
      attempt = case when ${free} then excluded.attempt else r.attempt end,
      holder = case when ${free} then excluded.holder else r.holder end,
      begun_at = case when ${free} then now() else r.begun_at end
    returning attempt, holder, fingerprint, transaction`;
  const { transaction } = row!;
  if (row!.fingerprint !== fingerprint) return { state: "other" };
  if (transaction !== null) return { state: "made", transaction: new Uint8Array(transaction) };
  return row!.attempt === attempt
    ? { state: "begun", attempt }
    : { state: "busy", attempt: row!.attempt, holder: row!.holder };
}

/**
 * Claims a transaction for the request that made it; false where another request made the very same one: each of them is to spend. The key
 * is none that a client can give.
 */
export async function claimTransaction(sql: Queries, scope: string, hash: string): Promise<boolean> {
  await sql`delete from wallet_request where begun_at < now() - ${KEPT}::interval`;
  const rows = await sql`insert into wallet_request (scope, key, fingerprint, attempt)
    values (${scope}, ${`transaction ${hash}`}, ${hash}, ${hash}) on conflict do nothing returning 1`;
  return rows.length > 0;
}

/** Says that a request is still being done: nobody may take it over for a while. */
export async function holdRequest(sql: Queries, { scope, key, attempt }: Attempt): Promise<void> {
  await sql`update wallet_request set begun_at = now()
    where scope = ${scope} and key = ${key} and attempt = ${attempt} and transaction is null`;
}

/** Keeps the transaction of a request; false where somebody else took the request over. */
export async function keepMade(
  sql: Queries,
  { scope, key, attempt }: Attempt,
  transaction: Uint8Array,
): Promise<boolean> {
  const rows = await sql`update wallet_request set transaction = ${transaction}
    where scope = ${scope} and key = ${key} and attempt = ${attempt} and transaction is null returning 1`;
  return rows.length > 0;
}

/** Gives a request up that came to nothing: the key may be used again. */
export async function dropRequest(sql: Queries, { scope, key, attempt }: Attempt): Promise<void> {
  await sql`delete from wallet_request where scope = ${scope} and key = ${key} and attempt = ${attempt} and transaction is null`;
}
