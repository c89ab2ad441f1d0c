/** Tokens and requests by their owner and by the transactions that made their outputs, for operators. */
import type { Queries } from "#src/store/store.ts";

/** A token, or a request for one (`request` is its output), and the transaction that made it. */
export interface TokenTrace {
  readonly token: string;
  readonly request: string | null;
  readonly hash: string;
}

/** The tokens whose state transactions changed, and the requests that they made, by transaction; at most `most`. */
export async function readTokenTraces(
  sql: Queries,
  hashes: readonly string[],
  most: number,
): Promise<readonly TokenTrace[]> {
  // The outputs of a transaction follow its hash in any collation; letters after "f" follow them.
  return await sql<TokenTrace[]>`
    select x.hash, o.token, o.request from unnest(${sql.array([...hashes])}::text[]) as x(hash)
    cross join lateral (
      (select token, null as request from token_state
        where ref > x.hash and ref < x.hash || 'g' and starts_with(ref, x.hash || '#') limit ${most})
      union (select token, ref as request from token_request
        where ref > x.hash and ref < x.hash || 'g' and starts_with(ref, x.hash || '#') limit ${most})) o
    limit ${most}`;
}

/** The live tokens that a payment key owns, and its open requests, at most `most` of each. */
export async function readOwned(
  sql: Queries,
  owner: string,
  most: number,
): Promise<readonly Omit<TokenTrace, "hash">[]> {
  return await sql<TokenTrace[]>`
    (select token, null as request from token_state where owner = ${owner} and to_slot is null limit ${most})
    union all (select token, ref from token_request where owner = ${owner} and to_slot is null limit ${most})`;
}
