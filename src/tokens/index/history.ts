/** Pages of past and open requests of a token or of one of its keys, newest first; also for tokens that have ended. */
import type { Operation } from "#src/contract/datum.ts";
import type { RequestEnd } from "#src/tokens/index/projection.ts";
import { operationOf } from "#src/tokens/index/read.ts";
import { bigint, bytes, maybeText, number, text } from "#src/tokens/index/rows.ts";
import type { Row } from "#src/chain/index/projection.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A request, open or ended. */
export interface PastRequest {
  /** `<hash>#<index>`; the transaction of the hash made it. */
  readonly ref: string;
  /** Payment key hash of the refund address. */
  readonly owner: string;
  readonly key: Uint8Array;
  readonly operation: Operation;
  /** Lovelace in its output. */
  readonly lovelace: bigint;
  /** Lovelace of it that it offers to the token's owner. */
  readonly fee: bigint;
  /** Slot in which it was made. */
  readonly slot: number;
  readonly status: "open" | RequestEnd;
  /** When it ended, and the transaction that ended it, if known. */
  readonly closed?: { readonly slot: number; readonly tx: string | undefined };
}

/** Selects requests. */
export interface HistoryQuery {
  readonly token: string;
  /** Digest of the key, in hexadecimal. */
  readonly path?: string | undefined;
  readonly owner?: string | undefined;
  /** Unless `open`, requests are ordered by when they ended; otherwise by when they were made. */
  readonly status?: PastRequest["status"] | undefined;
}

interface HistoryPage {
  readonly requests: readonly PastRequest[];
  /** Where the next page begins; undefined at the end. */
  readonly next?: string | undefined;
}

/**
 * A page of at most `limit` requests. `after` is the last request of the previous page. Undefined if that request does not
 * exist (any more).
 */
export async function readHistory(
  sql: Queries,
  query: HistoryQuery,
  after: string | undefined,
  limit: number,
): Promise<HistoryPage | undefined> {
  const { token, path, owner, status } = query;
  const isClosed = status !== undefined && status !== "open";
  // the conditions apply to the table whose index gives the order
  const by = isClosed ? "e" : "r";
  const conditions: Fragment[] = [sql`${sql(by)}.token = ${token}`];
  if (path !== undefined) conditions.push(isClosed ? sql`e.entry = ${`${token}:${path}`}` : sql`r.path = ${path}`);
  if (owner !== undefined) conditions.push(sql`r.owner = ${owner}`);
  // literals, not parameters: otherwise the planner does not use the partial index
  if (status === "applied") conditions.push(sql`e.status = 'applied'`);
  if (status === "refused") conditions.push(sql`e.status = 'refused'`);
  if (status === "retracted") conditions.push(sql`e.status = 'retracted'`);
  if (status === "open") conditions.push(sql`r.to_slot is null`);
  if (after !== undefined) {
    const [place] = isClosed
      ? await sql<Row[]>`select from_slot, position from token_request_end where ref = ${after} and token = ${token}`
      : await sql<Row[]>`select from_slot, position from token_request where ref = ${after} and token = ${token}`;
    if (!place) return undefined;
    const [slot, position] = [bigint(place, "from_slot"), bigint(place, "position")];
    conditions.push(
      isClosed
        ? sql`(e.from_slot, e.position) < (${slot}, ${position})`
        : sql`(r.from_slot, r.position, r.ref) < (${slot}, ${position}, ${after})`,
    );
  }
  const all = conditions.reduce((before, one) => sql`${before} and ${one}`);
  const rows = await sql<Row[]>`
    select r.*, e.status, e.tx from token_request r
    ${isClosed ? sql`join` : sql`left join`} token_request_end e on e.ref = r.ref where ${all}
    order by ${isClosed ? sql`e.from_slot desc, e.position desc` : sql`r.from_slot desc, r.position desc, r.ref desc`}
    limit ${limit + 1}`;
  const requests = rows.slice(0, limit).map(pastRequest);
  const last = requests.at(-1);
  return { requests, ...(last && rows.length > limit ? { next: last.ref } : {}) };
}

/** One request of a token, open or ended. */
export async function readPastRequest(sql: Queries, token: string, ref: string): Promise<PastRequest | undefined> {
  const [row] = await sql<Row[]>`
    select r.*, e.status, e.tx from token_request r left join token_request_end e on e.ref = r.ref
    where r.ref = ${ref} and r.token = ${token}`;
  return row && pastRequest(row);
}

/** How a request ended, from its row; one that is not known was retracted. */
function endOf(status: unknown): RequestEnd {
  return status === "applied" || status === "refused" ? status : "retracted";
}

function pastRequest(row: Row): PastRequest {
  return {
    ref: text(row, "ref"),
    owner: text(row, "owner"),
    key: bytes(row, "key"),
    operation: operationOf(row),
    lovelace: bigint(row, "lovelace"),
    fee: bigint(row, "fee"),
    slot: number(row, "from_slot"),
    status: row.to_slot === null ? "open" : endOf(row.status),
    ...(row.to_slot === null ? {} : { closed: { slot: number(row, "to_slot"), tx: maybeText(row, "tx") } }),
  };
}
