/**
 * Pools as a Blockfrost service lists them, a hundred a request: terms, stake and metadata, and who retires. Their owners,
 * relays and keys would take requests for each pool, and no wallet needs them.
 */
import type { Json } from "#src/base/json.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { networkDocument, parse, poolsDocument, retiringDocument } from "#src/chain/provider/blockfrost/documents.ts";
import { poolOf } from "#src/chain/provider/blockfrost/ledger.ts";
import type { StakePool } from "#src/chain/provider/ledgerPort.ts";

/** Entries of a page, the most that the service gives. */
const PAGE = 100;
/** Pages at most: more pools than any network has. */
const MOST_PAGES = 1_000;

/** Every registered pool, ordered by id. Throws `BlockfrostError`. */
export async function readPools(http: BlockfrostHttp): Promise<readonly StakePool[]> {
  const [{ supply }, retiring, pools] = await Promise.all([
    http.get("/network").then((answer) => parse(networkDocument, answer, "the network")),
    paged(http, "/pools/retiring", (answer) => parse(retiringDocument, answer, "retiring pools")),
    paged(http, "/pools/extended", (answer) => parse(poolsDocument, answer, "pools")),
  ]);
  const ends = new Map(retiring.map(({ pool_id, epoch }) => [pool_id, epoch]));
  return pools.map((one): StakePool => ({
    pool: poolOf(one.pool_id),
    pledge: one.declared_pledge,
    cost: one.fixed_cost,
    margin: one.margin_cost,
    metadata: one.metadata?.url && one.metadata.hash ? { url: one.metadata.url, hash: one.metadata.hash } : undefined,
    retiring: ends.get(one.pool_id),
    share: { numerator: one.live_stake, denominator: supply.total },
    stake: one.live_stake,
  })).sort((a, b) => a.pool < b.pool ? -1 : 1);
}

/** The entries of all pages of a list. */
async function paged<T>(
  http: BlockfrostHttp,
  path: string,
  read: (answer: Json) => readonly T[],
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MOST_PAGES; page++) {
    const entries = read(await http.get(`${path}?count=${PAGE}&page=${page}`));
    all.push(...entries);
    if (entries.length < PAGE) break;
  }
  return all;
}
