/**
 * What was submitted through us and the ledger does not have: who lists it, and the one sweep that offers all of it again.
 *
 * Hypotheses: a mempool forgets (nodes restart, blocks are rolled back), so what is pending is offered again and again; a node also
 * refuses what it already has, so that a refusal is only a reason to look closer, which the transaction's actor does.
 */
import { parseJson } from "#src/base/json.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Fragment, Queries, Store } from "#src/store/store.ts";

/** A failure as the ledger names it, and what it says. */
interface Failure {
  readonly name: string;
  readonly message: string;
}

/** A submission that a wallet lists. */
export interface ListedSubmission {
  readonly wallet: string;
  readonly transaction: ScannedTransaction;
  /** `expired`: its last slot is past, or the network will not have it any more. */
  readonly status: "pending" | "expired";
  /** Why the network will not have it, where that and not its last slot has ended it. */
  readonly failures?: readonly Failure[];
  /** Where the chain stood when the wallet submitted it. */
  readonly since: { readonly slot: number; readonly height: number };
}

/**
 * What wallets have submitted that the index does not have in the ledger, in the order of its submission; `hash` asks for one alone. To be
 * read in the snapshot in which the index is: an actor hears later of what the index knows, so that what it still takes for included
 * is pending again where the index has gone back, or has not come that far for a wallet that is being restored.
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
    from ${listedBy(sql, wallets)} w join submission s using (hash) join submission_status t using (hash)
    ${hash === undefined ? sql`` : sql`where w.hash = ${hash}`}
    order by w.since_slot, w.hash`;
  return rows.map((row) => ({
    wallet: row.wallet,
    transaction: scanTransaction(new Uint8Array(row.cbor)),
    status: row.status,
    ...(row.failures === null ? {} : { failures: parseJson(row.failures) as unknown as readonly Failure[] }),
    since: { slot: Number(row.since_slot), height: Number(row.since_height) },
  }));
}

/** What is pending of what a wallet lists. */
export async function listedPending(sql: Queries, wallet: string): Promise<ScannedTransaction[]> {
  const listed = await readListed(sql, [wallet]);
  return listed.filter(({ status }) => status === "pending").map(({ transaction }) => transaction);
}

/** Some transactions that were submitted, by their hashes, whatever became of them. */
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

/** Whether wallets list anything, to be read together with other things: a row where they do. */
export function listedQuery(sql: Queries, wallets: readonly string[]): Fragment {
  return sql`select 1 as listed from ${listedBy(sql, wallets)} w limit 1`;
}

/** Rows of `submission_wallet` that some wallets list, looked up wallet by wallet. */
function listedBy(sql: Queries, wallets: readonly string[]): Fragment {
  return sql`(select l.* from unnest(${sql.array([...wallets])}::text[]) of(wallet)
    cross join lateral (select * from submission_wallet s where s.wallet = of.wallet offset 0) l
    where not exists (
      select 1 from chain_transaction c where c.hash = l.hash and c.to_slot is null and c.from_slot <= (
        select max(p.slot) from chain_member m join chain_cursor p on p.id = m.cursor where m.member = l.wallet and not m.gone)))`;
}

/** Forgets what a wallet that is gone has submitted: nobody lists it; it stays pending all the same. */
export async function unlistAll(sql: Queries, wallet: string): Promise<void> {
  await sql`delete from submission_wallet where wallet = ${wallet}`;
}

/** What one sweep came to. */
export interface Swept {
  readonly offered: number;
  /** Those whose actors are to look closer. */
  readonly doubted: readonly string[];
}

/** Rows that are read at once. */
const AT_ONCE = 200;

/**
 * Offers everything that is pending to the network, what another spends before that one. Gives those for which the network's answer
 * is not what their actors believe: refused ones that are believed pending, and ones that are believed refused and are taken now.
 * Ends early when the network is not reached.
 */
export async function offerPending(
  store: Store,
  port: Pick<ChainPort, "submit" | "inMempool">,
  signal: AbortSignal,
): Promise<Swept> {
  const doubted: string[] = [];
  let offered = 0;
  for (const transaction of await inOrder(store.sql)) {
    if (signal.aborted) break;
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
  }
  return { offered, doubted };
}

interface Offer {
  readonly hash: string;
  readonly cbor: Uint8Array;
  /** Whether its actor believes that it is pending. */
  readonly open: boolean;
}

/** What is to be offered: all that is open, and what lapsed before its last slot; whatever another spends comes before that one. */
async function inOrder(sql: Queries): Promise<Offer[]> {
  const rows: (Offer & { readonly inputs: readonly string[] })[] = [];
  for (let after = "";;) {
    const some = await sql<{ hash: string; cbor: Uint8Array; inputs: string[]; open: boolean }[]>`
      select s.hash, s.cbor, s.inputs, o.hash is not null as open from (
        select hash from submission_open union
        select hash from submission_status where lapsed_until > (select slot from chain_cursor where id = 'main')) w
      join submission s using (hash) left join submission_open o using (hash)
      where s.hash > ${after} order by s.hash limit ${AT_ONCE}`;
    rows.push(...some);
    if (some.length < AT_ONCE) break;
    after = some.at(-1)!.hash;
  }
  const byHash = new Map(rows.map((row) => [row.hash, row]));
  const sorted = new Set<string>();
  const visit = (first: string) => {
    // by hand: a chain of pending transactions may be longer than the stack
    const path = [first];
    while (path.length > 0) {
      const hash = path.at(-1)!;
      const before = byHash.get(hash)!.inputs.map((ref) => ref.split("#")[0]!)
        .find((parent) => parent !== hash && byHash.has(parent) && !sorted.has(parent));
      if (before === undefined) sorted.add(path.pop()!);
      else path.push(before);
    }
  };
  for (const { hash } of rows) if (!sorted.has(hash)) visit(hash);
  return [...sorted].map((hash) => byHash.get(hash)!);
}
