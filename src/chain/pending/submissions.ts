/**
 * Submitted transactions that the ledger does not hold: which wallets list them, and their resubmission.
 *
 * Assumptions: a mempool loses transactions (nodes restart, blocks are rolled back), so pending ones are submitted
 * again regularly. A node also refuses a transaction that it already has, so a refusal is only a reason for the
 * transaction's actor to check.
 */
import { z } from "zod";
import { parseJson } from "#src/base/json.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { parentsFirst } from "#src/chain/pending/order.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Fragment, Queries, Store } from "#src/store/store.ts";

/** Failures as stored: the ledger's name for each, and its message. */
const submissionFailures = z.array(z.object({ name: z.string(), message: z.string() }));

/** A submission that a wallet lists. */
interface ListedSubmission {
  readonly wallet: string;
  readonly transaction: ScannedTransaction;
  /** `expired`: its last slot has passed, or the network refuses it. */
  readonly status: "pending" | "expired";
  /** Why the network refuses it, if that and not its last slot ended it. */
  readonly failures?: z.infer<typeof submissionFailures>;
  /** The main cursor when the wallet submitted it. */
  readonly since: { readonly slot: number; readonly height: number };
}

/**
 * Transactions that wallets submitted and the index does not have in the ledger, in order of submission; with `hash`,
 * only that one. Read it in the same snapshot as the index: an actor learns of the index's changes later, so a
 * transaction that its actor still regards as included is pending here if the index was rolled back, or has not yet
 * come that far for a wallet that is being restored.
 */
export async function readListed(sql: Queries, wallets: readonly string[], hash?: string): Promise<ListedSubmission[]> {
  const rows = await sql<
    {
      wallet: string;
      cbor: Uint8Array;
      status: "pending" | "expired";
      failures: string | null;
      since_slot: bigint;
      since_height: bigint;
    }[]
  >`select w.wallet, s.cbor, case t.status when 'expired' then 'expired' else 'pending' end as status, t.failures, w.since_slot,
      w.since_height
    from ${listedRows(sql, wallets)} w join submission s using (hash) join submission_status t using (hash)
    ${hash === undefined ? sql`` : sql`where w.hash = ${hash}`}
    order by w.since_slot, w.hash`;
  return rows.map((row) => ({
    wallet: row.wallet,
    transaction: scanTransaction(new Uint8Array(row.cbor)),
    status: row.status,
    ...(row.failures === null ? {} : { failures: submissionFailures.parse(parseJson(row.failures)) }),
    since: { slot: Number(row.since_slot), height: Number(row.since_height) },
  }));
}

/** The pending ones of the transactions that a wallet lists. */
export async function readListedPending(sql: Queries, wallet: string): Promise<ScannedTransaction[]> {
  const listed = await readListed(sql, [wallet]);
  return listed.filter(({ status }) => status === "pending").map(({ transaction }) => transaction);
}

/** Submitted transactions by hash, in whatever state. */
export async function readSubmitted(sql: Queries, hashes: readonly string[]): Promise<ScannedTransaction[]> {
  const rows = await sql<{ cbor: Uint8Array }[]>`
    select cbor from submission where hash = any(${sql.array([...new Set(hashes)])})`;
  return rows.map(({ cbor }) => scanTransaction(new Uint8Array(cbor)));
}

/** The CBOR of a submitted transaction, whatever its state; `undefined` where none with this hash was submitted here. */
export async function readSubmittedCbor(sql: Queries, hash: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ cbor: Uint8Array }[]>`select cbor from submission where hash = ${hash}`;
  return row && new Uint8Array(row.cbor);
}

/** The state that a submitted transaction's actor has it in; `undefined` where none with this hash was submitted here. */
export async function readSubmissionStatus(sql: Queries, hash: string): Promise<string | undefined> {
  const [row] = await sql<{ status: string }[]>`select status from submission_status where hash = ${hash}`;
  return row?.status;
}

/**
 * Deletes the submitted transactions that nothing needs any more: not pending, listed by no wallet, in a block that no
 * rollback reaches or in none, and expired for good. Resolves to their hashes, with those of which there is no row.
 * Their status stays, so that they are found in the index.
 */
export async function releaseSubmissions(sql: Queries, hashes: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ hash: string }[]>`
    select x.hash from unnest(${sql.array([...hashes])}::text[]) as x(hash)
    where not exists (select 1 from submission_open o where o.hash = x.hash)
      and not exists (select 1 from submission_wallet w where w.hash = x.hash)
      and not exists (select 1 from submission_status s where s.hash = x.hash
        and (s.lapsed_until is not null or s.status = 'pending'))
      and not exists (select 1 from chain_rolled_back r where r.hash = x.hash)
      and not exists (select 1 from chain_transaction t where t.hash = x.hash
        and t.from_slot >= coalesce((select min(slot) from chain_block), -1))`;
  const free = rows.map(({ hash }) => hash);
  await sql`delete from submission where hash = any(${sql.array(free)}::text[])`;
  // anyone may submit what the network refuses
  await sql`delete from submission_status where hash = any(${sql.array(free)}::text[]) and status = 'refused'`;
  return free;
}

/** The query whether wallets list anything (one row if so), to be read together with others. */
export function listedQuery(sql: Queries, wallets: readonly string[]): Fragment {
  return sql`select 1 as listed from ${listedRows(sql, wallets)} w limit 1`;
}

/** The rows of `submission_wallet` that some wallets list, looked up wallet by wallet. */
function listedRows(sql: Queries, wallets: readonly string[]): Fragment {
  return sql`(select l.* from unnest(${sql.array([...wallets])}::text[]) of(wallet)
    cross join lateral (select * from submission_wallet s where s.wallet = of.wallet offset 0) l
    where not exists (
      select 1 from chain_transaction c where c.hash = l.hash and c.to_slot is null and c.from_slot <= (
        select max(p.slot) from chain_member m join chain_cursor p on p.id = m.cursor where m.member = l.wallet and not m.gone)))`;
}

/** Deletes a removed wallet's listed submissions. The transactions themselves stay pending. */
export async function deleteListed(sql: Queries, wallet: string): Promise<void> {
  await sql`delete from submission_wallet where wallet = ${wallet}`;
}

/** The result of a sweep. */
interface SweepResult {
  readonly resubmitted: number;
  /** Transactions whose actors are to check. */
  readonly toCheck: readonly string[];
}

/** Rows read by one statement. */
const BATCH = 200;

/**
 * Submits all pending transactions to the network again, parents before the transactions that spend their outputs; not
 * those that depend on a refused one, whose actor informs them.
 * Gives those for which the network's answer differs from the actor's state: pending ones that were refused, and
 * refused ones that are accepted now. Ends early if the network cannot be reached.
 */
export async function resubmitPending(
  store: Store,
  port: Pick<ChainPort, "submit" | "inMempool">,
  signal: AbortSignal,
): Promise<SweepResult> {
  const doubted: string[] = [];
  /** Pending ones that are refused, and what depends on them. */
  const lost = new Set<string>();
  let offered = 0;
  for (const transaction of await readInOrder(store.sql)) {
    if (signal.aborted) break;
    if (transaction.parents.some((hash) => lost.has(hash))) {
      lost.add(transaction.hash);
      continue;
    }
    const known = await port.inMempool(transaction.hash);
    if (!known.ok) break;
    let taken = known.value;
    if (!taken) {
      const answer = await port.submit(transaction.cbor);
      if (!answer.ok) break;
      taken = answer.value.outcome === "accepted";
    }
    offered++;
    if (taken !== transaction.open) doubted.push(transaction.hash);
    if (!taken && transaction.open) lost.add(transaction.hash);
  }
  return { resubmitted: offered, toCheck: doubted };
}

interface Resubmission {
  readonly hash: string;
  readonly cbor: Uint8Array;
  /** Whether its actor regards it as pending. */
  readonly open: boolean;
  /** Hashes of the transactions whose outputs it spends. */
  readonly parents: readonly string[];
}

/** Pending transactions, and expired ones whose last slot is ahead again after a rollback; parents before children. */
async function readInOrder(sql: Queries): Promise<Resubmission[]> {
  const rows: Resubmission[] = [];
  for (let after = "";;) {
    const some = await sql<{ hash: string; cbor: Uint8Array; inputs: string[]; open: boolean }[]>`
      select s.hash, s.cbor, s.inputs, o.hash is not null as open from (
        select hash from submission_open union
        select hash from submission_status where lapsed_until > (select slot from chain_cursor where id = 'main')) w
      join submission s using (hash) left join submission_open o using (hash)
      where s.hash > ${after} order by s.hash limit ${BATCH}`;
    rows.push(...some.map(({ inputs, ...row }) => ({ ...row, parents: inputs.map((ref) => parseRefKey(ref).txHash) })));
    if (some.length < BATCH) break;
    after = some.at(-1)?.hash ?? after;
  }
  return parentsFirst(rows, ({ parents }) => parents);
}
