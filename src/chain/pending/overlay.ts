/**
 * The pending overlay: the transactions submitted here, by whatever service, that no block holds and that one can still
 * hold. Every build reads it: outputs that it spends are not used, outputs that it creates are. One that no wallet here
 * has signed belongs to it once the network has accepted it: anyone may submit what the network refuses.
 *
 * Assumptions: the actors of transactions learn of blocks and rollbacks later than the index, so that the index decides
 * what the ledger holds. A transaction whose parent was refused, expired or was forgotten can no longer enter a block,
 * although its own actor has it as pending until the network refuses it: it is not in the overlay, nor what depends on it.
 */
import { created, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { type Dependent, parentsOf, withDependents } from "#src/cardano/dependents.ts";
import { type Output, parseRefKey, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** The part of the overlay that is read. */
export interface OverlayQuery {
  /** Outputs (`refKey`) whose spenders are read. */
  readonly refs: readonly string[];
  /** Transactions that belong to it in any case, if a block can still hold them. */
  readonly own?: readonly ScannedTransaction[];
  /** Those of some addresses (SQL with one column of bytes in hexadecimal) whose outputs are read too. */
  readonly paid?: (sql: Queries, addresses: Fragment) => Promise<readonly string[]>;
  /** Outputs of found transactions whose spenders are read too; all by default. */
  readonly follows?: (output: Output) => boolean;
}

/**
 * SQL for the hashes of pending transactions (one column `hash`). One of a rolled-back block is pending again before
 * its actor knows; one whose last slot has passed is not.
 */
export function pendingHashes(sql: Queries): Fragment {
  return sql`(
    select hash from submission_open
    where open_until is null or open_until > (select slot from chain_cursor where id = 'main')
    union all
    select r.hash from chain_rolled_back r join submission_status s using (hash)
    where s.status = 'in_ledger'
      and not exists (select 1 from submission_open o where o.hash = r.hash)
      and not exists (select 1 from chain_transaction c where c.hash = r.hash and c.to_slot is null))`;
}

/** SQL for the outputs that pending transactions spend or offer as collateral (one column of `refKey`s). */
export function pendingInputs(sql: Queries): Fragment {
  return sql`select distinct i.ref from ${pendingHashes(sql)} p join submission s using (hash)
    cross join lateral unnest(s.inputs) i(ref)`;
}

/** The pending transactions that concern some outputs and addresses, with those that depend on them. */
export async function readOverlay(sql: Queries, query: OverlayQuery): Promise<readonly ScannedTransaction[]> {
  const { refs, own = [], paid, follows = () => true } = query;
  const found = [...own];
  const others = await sql`
    select 1 from ${pendingHashes(sql)} p where hash <> all(${sql.array(own.map(({ hash }) => hash))}) limit 1`;
  if (others.length > 0) {
    const made = (transactions: readonly ScannedTransaction[]) =>
      transactions.flatMap(created).filter(({ output }) => follows(output)).map(({ ref }) => refKey(ref));
    const addresses = await paid?.(
      sql,
      sql`select distinct unnest(s.addresses) from ${pendingHashes(sql)} p join submission s using (hash)`,
    );
    let [wanted, payees] = [[...refs, ...made(own)], addresses ?? []];
    while (wanted.length + payees.length > 0) {
      const rows = await sql<{ cbor: Uint8Array }[]>`
        select cbor from submission where hash in (
          select p.hash from ${pendingHashes(sql)} p join submission s using (hash)
            cross join lateral unnest(s.inputs) i(ref) join unnest(${sql.array(wanted)}::text[]) w(ref) on w.ref = i.ref
          union
          select p.hash from ${pendingHashes(sql)} p join submission s using (hash)
          where s.addresses && ${sql.array([...payees])}::text[])
        and hash <> all(${sql.array(found.map(({ hash }) => hash))})`;
      const more = rows.map(({ cbor }) => scanTransaction(new Uint8Array(cbor)));
      found.push(...more);
      [wanted, payees] = [made(more), []];
    }
  }
  return found.length === 0 ? found : await withoutLost(sql, found);
}

/** Without the transactions that no block can hold any more, as far as the index and the submissions show it. */
export async function withoutLost(
  sql: Queries,
  transactions: readonly ScannedTransaction[],
): Promise<readonly ScannedTransaction[]> {
  const known = transactions.map((transaction) => ({ hash: transaction.hash, parents: parentsOf(transaction) }));
  const seen = new Set(known.map(({ hash }) => hash));
  const lost = new Set(await readConflicting(sql, transactions));
  for (let children: readonly Dependent[] = known; children.length > 0;) {
    const parents = [...new Set(children.flatMap((one) => one.parents))].filter((hash) => !seen.has(hash));
    if (parents.length === 0) break;
    for (const hash of parents) seen.add(hash);
    const rows = await sql<{ hash: string; inputs: string[]; pending: boolean }[]>`
      select s.hash, s.inputs, exists (select 1 from ${pendingHashes(sql)} p where p.hash = s.hash) as pending
      from submission s where s.hash = any(${sql.array(parents)}::text[])
        and not exists (select 1 from chain_transaction c where c.hash = s.hash and c.to_slot is null)`;
    for (const { hash, pending } of rows) if (!pending) lost.add(hash);
    children = rows.filter(({ pending }) => pending).map(({ hash, inputs }) => ({
      hash,
      parents: inputs.map((ref) => parseRefKey(ref).txHash),
    }));
    known.push(...children);
  }
  if (lost.size === 0) return transactions;
  const gone = withDependents(known, lost);
  return transactions.filter(({ hash }) => !gone.has(hash));
}

/** The hashes of transactions that are in no block and spend an output that a block has spent. */
async function readConflicting(sql: Queries, transactions: readonly ScannedTransaction[]): Promise<string[]> {
  const refs = new Set(transactions.flatMap(spent).map(refKey));
  const rows = await sql<{ ref: string }[]>`
    select ref from chain_utxo where ref = any(${sql.array([...refs])}::text[]) and to_slot is not null`;
  if (rows.length === 0) return [];
  const taken = new Set(rows.map(({ ref }) => ref));
  const doubtful = transactions.filter((one) => spent(one).some((ref) => taken.has(refKey(ref))));
  const inLedger = await readIncluded(sql, doubtful.map(({ hash }) => hash));
  return doubtful.filter(({ hash }) => !inLedger.has(hash)).map(({ hash }) => hash);
}

/** Hashes of those transactions that the ledger holds. */
export async function readIncluded(sql: Queries, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ hash: string }[]>`
    select hash from chain_transaction where hash = any(${sql.array([...hashes])}::text[]) and to_slot is null`;
  return new Set(rows.map(({ hash }) => hash));
}
