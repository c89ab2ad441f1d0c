/**
 * Chains of pending transactions that have lost a transaction: who follows it, and why a follower is refused.
 *
 * A network refuses a transaction whose inputs are missing, whatever the reason. Where it spends outputs of another one
 * that was submitted here, that one is the reason: it has expired, is refused, or the network does not have it yet.
 */
import { z } from "zod";
import { parseJson } from "#src/base/json.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { signingKeys } from "#src/cardano/signingKeys.ts";
import { parentsFirst } from "#src/chain/pending/order.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** Why a transaction can no longer enter the ledger, by the ledger's name of the failure or `TransactionLost`. */
export interface LossCause {
  readonly name: string;
  readonly message: string;
}

/** Name of the cause of a transaction that depends on a lost one. */
const LOST = "TransactionLost";
/** Most ancestors that are looked up for one transaction. */
const MOST_ANCESTORS = 1_000;
/** Most transactions that are named as depending on one. */
const MOST_DEPENDENTS = 100;

const causes = z.array(z.object({ name: z.string(), message: z.string() }));

/** Why the network refuses a transaction that it had accepted; none where it expired, or is not refused. */
export async function readCauses(sql: Queries, hash: string): Promise<readonly LossCause[]> {
  const [row] = await sql<{ failures: string | null }[]>`select failures from submission_status where hash = ${hash}`;
  return causesIn(row?.failures ?? null);
}

const causesIn = (json: string | null): readonly LossCause[] => json === null ? [] : causes.parse(parseJson(json));

/** Hashes of the pending transactions that spend an output of a transaction. */
export async function readFollowers(sql: Queries, hash: string): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    select o.hash from submission_open o join submission s using (hash)
    where exists (select 1 from unnest(s.inputs) i(ref) where left(i.ref, 64) = ${hash}) order by o.hash`;
  return rows.map((row) => row.hash);
}

/** A transaction that cannot enter the ledger without another one. */
export interface LostDependent {
  readonly hash: string;
  /** Hashes of the keys that signed it: they sign again what replaces it. */
  readonly signers: readonly string[];
}

/**
 * The transactions submitted here that depend on one, directly or through others, and that no block has: those that are
 * pending, and those that were lost with it and have a last slot. Parents first; the first 100.
 */
export async function readDependents(sql: Queries, hash: string): Promise<readonly LostDependent[]> {
  const all = await sql<{ hash: string; parents: string[] }[]>`
    with recursive
      outside as materialized (
        select o.hash from submission_open o
        union select t.hash from submission_status t where t.lapsed_until is not null and t.status = 'expired'),
      edge as materialized (
        select distinct s.hash, left(i.ref, 64) as parent from outside o join submission s using (hash)
          cross join lateral unnest(s.inputs) i(ref)
        where not exists (select 1 from chain_transaction c where c.hash = s.hash and c.to_slot is null)),
      down(hash) as (select ${hash}::text union select e.hash from down d join edge e on e.parent = d.hash)
    select d.hash, array(select e.parent from edge e where e.hash = d.hash) as parents
    from down d where d.hash <> ${hash} order by d.hash`;
  if (all.length === 0) return [];
  const first = parentsFirst(all, ({ parents }) => parents).slice(0, MOST_DEPENDENTS).map((one) => one.hash);
  const rows = await sql<{ hash: string; cbor: Uint8Array }[]>`
    select hash, cbor from submission where hash = any(${sql.array(first)}::text[])`;
  const signers = new Map(rows.map((row) => [row.hash, signersOf(row.cbor)]));
  return first.map((one) => ({ hash: one, signers: signers.get(one) ?? [] }));
}

/** Hashes of the keys that signed a submitted transaction. */
export const signersOf = (cbor: Uint8Array): readonly string[] => signingKeys(scanTransaction(new Uint8Array(cbor)));

/** SQL for the inputs and collateral of pending transactions that no block has: columns `hash` and `ref`. */
export function openInputs(sql: Queries): Fragment {
  return sql`select o.hash, i.ref from submission_open o join submission s using (hash)
    cross join lateral unnest(s.inputs) i(ref)
    where not exists (select 1 from chain_transaction c where c.hash = o.hash and c.to_slot is null)`;
}

/** Hashes of the pending transactions that need an output of a watched address which a block has spent. */
export async function readOvertaken(sql: Queries): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    select distinct i.hash from (${openInputs(sql)}) i join chain_utxo u on u.ref = i.ref and u.to_slot is not null`;
  return rows.map(({ hash }) => hash);
}

interface Ancestor {
  readonly hash: string;
  readonly cbor: Uint8Array;
  readonly parents: readonly string[];
  readonly status: string;
  /** As JSON. */
  readonly failures: string | null;
}

/** Transactions submitted here that a transaction depends on and no block has, parents first. */
async function readAncestors(sql: Queries, hash: string): Promise<readonly Ancestor[]> {
  const rows = await sql<Ancestor[]>`
    with recursive up(hash) as (
      select ${hash}::text
      union select a.hash from up join submission s on s.hash = up.hash cross join lateral unnest(s.inputs) i(ref)
        join submission_status a on a.hash = left(i.ref, 64) and a.status <> 'refused'
        where not exists (select 1 from chain_transaction c where c.hash = a.hash and c.to_slot is null))
    select s.hash, s.cbor, array(select distinct left(ref, 64) from unnest(s.inputs) ref) as parents,
      t.status, t.failures
    from up join submission s using (hash) join submission_status t using (hash)
    where s.hash <> ${hash} limit ${MOST_ANCESTORS}`;
  return parentsFirst(rows, ({ parents }) => parents);
}

type Offers = Pick<ChainPort, "submit" | "inMempool">;

/**
 * Submits a transaction; `undefined` if the network has it in its mempool afterwards, otherwise its failures. A network
 * also refuses what it already has.
 *
 * @throws {Error} if the network cannot be reached.
 */
export async function offer(
  port: Offers,
  hash: string,
  cbor: Uint8Array,
): Promise<readonly LedgerFailure[] | undefined> {
  const answer = await port.submit(cbor);
  if (!answer.ok) throw new Error(answer.error.message);
  if (answer.value.outcome === "accepted") return undefined;
  return await isInMempool(port, hash) ? undefined : answer.value.failures;
}

async function isInMempool(port: Offers, hash: string): Promise<boolean> {
  const known = await port.inMempool(hash);
  if (!known.ok) throw new Error(known.error.message);
  return known.value;
}

/**
 * Has the network take the pending transactions that a refused one depends on: after a rollback each is submitted again
 * by itself, in any order. `isSettled` says whether the ledger has a transaction. Gives how many were found, and the
 * cause if one is lost.
 *
 * @throws {Error} if the network cannot be reached.
 */
export async function submitAncestors(
  sql: Queries,
  port: Offers,
  hash: string,
  isSettled: (hash: string) => Promise<boolean>,
): Promise<{ readonly found: number; readonly lost?: LossCause }> {
  const ancestors = await readAncestors(sql, hash);
  const found = ancestors.length;
  for (const { hash: ancestor, cbor, status, failures } of ancestors) {
    if (status === "expired") return { found, lost: causeOf(ancestor, causesIn(failures)) };
    if (await isInMempool(port, ancestor)) continue;
    const refused = await offer(port, ancestor, new Uint8Array(cbor));
    if (!refused || await isSettled(ancestor)) continue;
    const causes = refused.map((one) => ({ name: one.name, message: describeFailure(one) }));
    return { found, lost: causeOf(ancestor, causes) };
  }
  return { found };
}

/** The cause for what depends on a lost transaction; where that one depends on another lost one, the first is named. */
function causeOf(hash: string, [first]: readonly LossCause[]): LossCause {
  if (first?.name === LOST) return first;
  const why = first ? `the network refuses: ${first.message}` : "has expired.";
  return { name: LOST, message: `It depends on the transaction ${hash}, which ${why}` };
}
