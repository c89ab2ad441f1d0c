/**
 * Things that are read from a birth point on, apart from the rest of the index, until they have come to where the rest stands.
 *
 * Hypotheses: a thing belongs to one cursor or, before and after its life here, to none; whatever changes that raises the generation
 * of the cursors concerned, so that what was folded without it is not written; a cursor apart stays at or behind the main one, and joins
 * it in a transaction that sees both at the same block.
 */
import type { Point, Tip } from "#src/cardano/block.ts";
import type { Projection } from "#src/cardano/projection.ts";
import { MAIN, readPlace } from "#src/chain/cursor.ts";
import type { Queries } from "#src/store/store.ts";

/** Slots that births may lie apart for their things to be read together. */
const TOGETHER = 86_400;
/** Rows that are deleted at once. */
const AT_ONCE = 2_000;

/** A cursor of things that are read apart. */
export interface Group {
  readonly cursor: string;
  readonly projection: string;
  readonly members: number;
}

/**
 * Wants things read from the block after `birth` on (`origin`: all blocks); in the transaction of whoever begins them, together with
 * the rows that say what is theirs. The follower takes them on its next look, at once when it is woken. One that is known stays as it
 * is. Gives those whose rows of an earlier life are still being erased: for these it is to be tried again.
 */
export async function enrol(
  sql: Queries,
  projection: string,
  members: readonly string[],
  birth: Point,
): Promise<string[]> {
  const ids = sql.array([...members]);
  await sql`insert into chain_member (projection, member, birth_slot, birth_hash)
    select ${projection}, unnest(${ids}::text[]), ${birth.slot}, ${birth.hash} on conflict do nothing`;
  const gone = await sql<{ member: string }[]>`
    select member from chain_member where projection = ${projection} and member = any(${ids}) and gone`;
  return gone.map(({ member }) => member);
}

/** Wants things read no more, and their rows in the index gone; in the transaction of whoever ends them. */
export async function dismiss(sql: Queries, projection: string, members: readonly string[]): Promise<void> {
  await sql`update chain_member set gone = true
    where projection = ${projection} and member = any(${sql.array([...members])})`;
}

/** Where a thing is read: `undefined` where nobody reads it (yet). */
export async function placeOf(
  sql: Queries,
  projection: string,
  member: string,
): Promise<{ readonly at: Tip; readonly restoring: boolean } | undefined> {
  const [row] = await sql<{ cursor: string; slot: bigint; hash: string; height: bigint }[]>`
    select cursor, slot, hash, height from chain_member join chain_cursor on id = cursor
    where projection = ${projection} and member = ${member} and not gone`;
  return row && {
    at: { slot: Number(row.slot), hash: row.hash, height: Number(row.height) },
    restoring: row.cursor !== MAIN,
  };
}

/** The cursors that are apart, of these projections. */
export async function readGroups(sql: Queries, projections: readonly string[]): Promise<Group[]> {
  const rows = await sql<{ cursor: string; projection: string; members: number }[]>`
    select cursor, projection, count(*)::int as members from chain_member
    where cursor is distinct from ${MAIN} and cursor is not null and projection = any(${sql.array([...projections])})
    group by cursor, projection order by cursor`;
  return [...rows];
}

/** Raises the generations of cursors, and holds them until the transaction ends. */
async function regenerate(sql: Queries, cursors: readonly string[]): Promise<void> {
  for (const cursor of [...new Set(cursors)].sort((a, b) => Number(b === MAIN) - Number(a === MAIN))) {
    await sql`update chain_cursor set generation = generation + 1 where id = ${cursor}`;
  }
}

/**
 * Gives things that nobody reads yet to a cursor, in a fenced transaction: those that were born where the main cursor stands, or
 * later, to it; of the others the youngest, with all born within a day of it, to a new one at the birth of the oldest among them.
 * Gives whether there were any.
 */
export async function assign(sql: Queries, projections: readonly string[]): Promise<boolean> {
  await sql`select 1 from chain_cursor where id = ${MAIN} for update`;
  const { at } = (await readPlace(sql, MAIN))!;
  const names = sql.array([...projections]);
  const current = await sql`update chain_member set cursor = ${MAIN}
    where cursor is null and not gone and projection = any(${names})
      and (birth_slot > ${at.slot} or (birth_slot = ${at.slot} and birth_hash = ${at.hash})) returning 1`;
  if (current.length > 0) {
    await regenerate(sql, [MAIN]);
    return true;
  }
  const [youngest] = await sql<{ projection: string; birth_slot: bigint }[]>`
    select projection, birth_slot from chain_member
    where cursor is null and not gone and projection = any(${names}) order by birth_slot desc limit 1`;
  if (!youngest) return false;
  const [oldest] = await sql<{ birth_slot: bigint; birth_hash: string }[]>`
    select birth_slot, birth_hash from chain_member
    where cursor is null and not gone and projection = ${youngest.projection}
      and birth_slot >= ${youngest.birth_slot - BigInt(TOGETHER)} order by birth_slot limit 1`;
  const [next] = await sql<{ id: string }[]>`select 'restoring-' || nextval('chain_restoring') as id`;
  const { birth_slot: slot, birth_hash: hash } = oldest!;
  await sql`insert into chain_cursor (id, slot, hash, height, tip_slot, tip_height)
    values (${next!.id}, ${slot}, ${hash}, 0, ${at.slot}, ${at.height})`;
  await sql`update chain_member set cursor = ${next!.id}
    where cursor is null and not gone and projection = ${youngest.projection} and birth_slot >= ${slot}`;
  return true;
}

/**
 * Where a cursor apart goes on, newest first: its own place, the main cursor's points before it, and its things' births. Below all of
 * these is the origin.
 */
export async function groupPoints(sql: Queries, cursor: string): Promise<Point[]> {
  const rows = await sql<{ slot: bigint; hash: string }[]>`
    select distinct slot, hash from (
      select slot, hash from chain_cursor where id = ${cursor}
      union all
      (select b.slot, b.hash from chain_block b, chain_cursor c
        where c.id = ${cursor} and b.slot < c.slot order by b.slot desc limit 64)
      union all
      select birth_slot, birth_hash from chain_member join chain_cursor on id = cursor
        where cursor = ${cursor} and birth_slot <= slot) p
    where slot >= 0 order by slot desc`;
  return rows.map((row) => ({ slot: Number(row.slot), hash: row.hash }));
}

/** Joins a cursor with the main one, in a fenced transaction, if both stand at the same block; gives its things, else undefined. */
export async function join(sql: Queries, cursor: string): Promise<{ members: string[]; at: Tip } | undefined> {
  const rows = await sql<{ id: string; hash: string }[]>`
    select id, hash from chain_cursor where id in (${MAIN}, ${cursor}) order by id = ${MAIN} desc for update`;
  if (rows.length < 2 || rows[0]!.hash !== rows[1]!.hash) return undefined;
  const { at } = (await readPlace(sql, MAIN))!;
  await regenerate(sql, [MAIN]);
  const joined = await sql<{ member: string }[]>`
    update chain_member set cursor = ${MAIN} where cursor = ${cursor} returning member`;
  await sql`delete from chain_cursor where id = ${cursor}`;
  return { members: joined.map(({ member }) => member), at };
}

/** Takes things that are gone off their cursors, in a fenced transaction; a cursor apart that has none left goes as well. */
export async function release(sql: Queries): Promise<void> {
  const rows = await sql<{ cursor: string }[]>`
    select distinct cursor from chain_member where gone and cursor is not null`;
  if (rows.length === 0) return;
  await regenerate(sql, rows.map(({ cursor }) => cursor));
  await sql`update chain_member set cursor = null where gone and cursor is not null`;
  await sql`delete from chain_cursor c where id <> ${MAIN}
    and not exists (select 1 from chain_member m where m.cursor = c.id)`;
}

/** Erases some rows of things that are gone, in a fenced transaction; gives whether there may be more. */
export async function erase(sql: Queries, projections: readonly Projection[]): Promise<boolean> {
  for (const { name, members, tables } of projections) {
    if (!members) continue;
    const own = members.tables.filter((table) => tables.includes(table));
    for (const table of own) {
      const erased = await sql`delete from ${sql(table)} where ctid = any(array(
        select t.ctid from ${sql(table)} t join chain_member m on m.member = t.${sql(members.column)}
        where m.projection = ${name} and m.gone and m.cursor is null limit ${AT_ONCE})) returning 1`;
      if (erased.length === AT_ONCE) return true;
    }
    await sql`delete from chain_member where projection = ${name} and gone and cursor is null`;
  }
  return false;
}
