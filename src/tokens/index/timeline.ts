/**
 * The timeline of a token: what happened to it and to its requests, newest first; also for tokens that have ended.
 *
 * Assumptions:
 * - Of several entries of one block, those of requests are in the block's order. Where a state changed its owner within
 *   the block is not stored: a boot is the block's first entry, a transfer and the end are its last ones.
 * - Transfers are rare, and states are many: only the states in the slots of a page are searched for them.
 */
import type { Operation } from "#src/contract/datum.ts";
import { operationOf } from "#src/tokens/index/read.ts";
import { bigint, bytes, maybeText, number, text } from "#src/tokens/index/rows.ts";
import type { Row } from "#src/chain/index/projection.ts";
import type { Queries } from "#src/store/store.ts";

/** An entry of a timeline. */
export interface TimelineEntry {
  readonly type: "booted" | "requested" | "applied" | "refused" | "retracted" | "transferred" | "ended";
  readonly slot: number;
  /** The transaction, if known. */
  readonly tx: string | undefined;
  /** Payment key hash of the token's owner after it, or of the requester; of an ended token its last owner. */
  readonly owner: string;
  /** The request, if it is one of a request. */
  readonly request?: {
    /** `<hash>#<index>` */
    readonly ref: string;
    readonly key: Uint8Array;
    readonly operation: Operation;
    readonly lovelace: bigint;
    readonly fee: bigint;
  };
}

/** Where an entry is, for the next page. */
export interface TimelinePlace {
  readonly slot: number;
  /** Position in the block. */
  readonly position: number;
  /** The output of the entry, `<hash>#<index>`. */
  readonly ref: string;
}

/** Positions of entries that have none: before and after all requests of a block. */
const FIRST = -1;
const TRANSFER = 2 ** 40;
const END = 2 ** 41;

interface Placed {
  readonly place: TimelinePlace;
  readonly entry: TimelineEntry;
}

/** Newest first. */
function compare({ place: a }: Placed, { place: b }: Placed): number {
  if (a.slot !== b.slot) return b.slot - a.slot;
  if (a.position !== b.position) return b.position - a.position;
  return a.ref < b.ref ? 1 : a.ref > b.ref ? -1 : 0;
}

/** A page of at most `limit` entries after a place; `next` is where the following page begins. */
export async function readTimeline(
  sql: Queries,
  token: string,
  after: TimelinePlace | undefined,
  limit: number,
): Promise<{ readonly entries: readonly TimelineEntry[]; readonly next?: TimelinePlace }> {
  const most = limit + 1;
  const rows = (await Promise.all([
    readMade(sql, token, after, most),
    readEnded(sql, token, "applied", after, most),
    readEnded(sql, token, "refused", after, most),
    readEnded(sql, token, "retracted", after, most),
  ])).flat().sort(compare).slice(0, most);
  const lowest = rows.length < most ? -1 : rows.at(-1)?.place.slot ?? -1;
  const states = await readStateEntries(sql, token, lowest, after?.slot ?? Number.MAX_SAFE_INTEGER);
  const later = after && { place: after } as Placed;
  const all = [...rows, ...states.filter((one) => !later || compare(one, later) > 0)].sort(compare);
  const page = all.slice(0, limit);
  const last = page.at(-1);
  return {
    entries: page.map(({ entry }) => entry),
    ...(last && all.length > limit ? { next: last.place } : {}),
  };
}

const txOf = (ref: string) => ref.slice(0, 64);

function requestPart(row: Row) {
  return {
    ref: text(row, "ref"),
    key: bytes(row, "key"),
    operation: operationOf(row),
    lovelace: bigint(row, "lovelace"),
    fee: bigint(row, "fee"),
  };
}

async function readMade(sql: Queries, token: string, after: TimelinePlace | undefined, limit: number) {
  const from = after === undefined
    ? sql``
    : sql`and (from_slot, position, ref) < (${after.slot}, ${after.position}, ${after.ref})`;
  const rows = await sql<Row[]>`
    select ref, owner, type, key, old_value, new_value, lovelace, fee, from_slot, position from token_request
    where token = ${token} ${from} order by from_slot desc, position desc, ref desc limit ${limit}`;
  return rows.map((row): Placed => {
    const [ref, slot] = [text(row, "ref"), number(row, "from_slot")];
    return {
      place: { slot, position: number(row, "position"), ref },
      entry: { type: "requested", slot, tx: txOf(ref), owner: text(row, "owner"), request: requestPart(row) },
    };
  });
}

async function readEnded(
  sql: Queries,
  token: string,
  type: "applied" | "refused" | "retracted",
  after: TimelinePlace | undefined,
  limit: number,
) {
  const from = after === undefined
    ? sql``
    : sql`and (e.from_slot, e.position, e.ref) < (${after.slot}, ${after.position}, ${after.ref})`;
  // literals, not parameters: otherwise the planner does not use the partial index
  const status = { applied: sql`'applied'`, refused: sql`'refused'`, retracted: sql`'retracted'` }[type];
  const rows = await sql<Row[]>`
    select r.ref, r.owner, r.type, r.key, r.old_value, r.new_value, r.lovelace, r.fee, e.from_slot, e.position, e.tx
    from token_request_end e join token_request r on r.ref = e.ref
    where e.token = ${token} and e.status = ${status} ${from}
    order by e.from_slot desc, e.position desc, e.ref desc limit ${limit}`;
  return rows.map((row): Placed => {
    const slot = number(row, "from_slot");
    return {
      place: { slot, position: number(row, "position"), ref: text(row, "ref") },
      entry: { type, slot, tx: maybeText(row, "tx"), owner: text(row, "owner"), request: requestPart(row) },
    };
  });
}

/** The boot, the transfers and the end in the slots from `low` to `high`. */
async function readStateEntries(sql: Queries, token: string, low: number, high: number): Promise<Placed[]> {
  const [firsts, lasts, transfers] = await Promise.all([
    sql<Row[]>`select ref, owner, from_slot as slot from token_state where token = ${token}
      order by from_slot, to_slot nulls last limit 1`,
    sql<
      Row[]
    >`select s.ref, s.owner, s.to_slot as slot, e.tx from token_state s left join token_end e on e.token = s.token
      where s.token = ${token} order by s.from_slot desc, s.to_slot desc nulls first limit 1`,
    sql<Row[]>`select s.ref, s.owner, s.from_slot as slot from token_state s
      cross join lateral (select p.owner from token_state p
        where p.token = s.token and p.to_slot = s.from_slot and p.ref <> s.ref and p.from_slot <= s.from_slot
        order by p.from_slot limit 1) before
      where s.token = ${token} and s.from_slot between ${low} and ${high} and before.owner <> s.owner`,
  ]);
  const [first] = firsts;
  const booted = first && text(first, "ref");
  const placed = (row: Row, type: "booted" | "transferred" | "ended", position: number): Placed => {
    const [ref, slot] = [text(row, "ref"), number(row, "slot")];
    const tx = type === "ended" ? maybeText(row, "tx") : txOf(ref);
    return { place: { slot, position, ref }, entry: { type, slot, tx, owner: text(row, "owner") } };
  };
  return [
    ...firsts.map((row) => placed(row, "booted", FIRST)),
    ...transfers.filter((row) => row.ref !== booted).map((row) => placed(row, "transferred", TRANSFER)),
    ...lasts.filter(({ slot }) => slot !== null).map((row) => placed(row, "ended", END)),
  ].filter(({ place }) => place.slot >= low && place.slot <= high);
}
