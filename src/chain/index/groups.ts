/**
 * Things that are read from a birth point on, apart from the rest of the index, until they have come to where the rest stands.
 *
 * Hypotheses: a thing belongs to one cursor or, before and after its life here, to none; whatever changes that raises the generation
 * of the cursors concerned, so that what was folded without it is not written; a cursor apart stays at or behind the main one, and joins
 * it in a transaction that sees both at the same block. A cursor may stand before the birth of a thing: the blocks up to the birth then
 * change nothing of the thing.
 */
import { type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { Projection } from "#src/cardano/projection.ts";
import { MAIN, type Place, readPlace } from "#src/chain/index/cursor.ts";
import { BETWEEN } from "#src/chain/index/checkpoint.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";

/** Slots that births may lie apart for their things to be read together. */
const TOGETHER = 86_400;
/** Rows that are changed at once. */
const AT_ONCE = 2_000;

/** A cursor of things that are read apart. */
export interface Group {
  readonly cursor: string;
  /** The slot that it has come to. */
  readonly slot: number;
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

/** Whether a thing is enrolled, and not dismissed since. */
export async function isEnrolled(sql: Queries, projection: string, member: string): Promise<boolean> {
  const [row] = await sql`select 1 from chain_member
    where projection = ${projection} and member = ${member} and not gone`;
  return row !== undefined;
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

/** Where things are read, or are to be read once somebody does: their birth. Those that nobody knows are left out. */
export async function readPlaces(
  sql: Queries,
  projection: string,
  members: readonly string[],
): Promise<ReadonlyMap<string, MemberPlace>> {
  return placesOf(await sql`${placesQuery(sql, projection, members)}`);
}

/** Where a thing stands. */
export interface MemberPlace {
  readonly at: Tip;
  /** Whether it is read apart, or is to be. */
  readonly restoring: boolean;
}

/** What `readPlaces` asks, to be read together with other things. */
export function placesQuery(sql: Queries, projection: string, members: readonly string[]): Fragment {
  return sql`select member, cursor, coalesce(c.slot, birth_slot) as slot, coalesce(c.hash, birth_hash) as hash,
      coalesce(c.height, (select b.height from chain_block b where b.slot = birth_slot and b.hash = birth_hash), 0) as height
    from chain_member left join chain_cursor c on c.id = cursor
    where projection = ${projection} and member = any(${sql.array([...members])}) and not gone`;
}

/** Places by thing, of rows of `placesQuery`. */
export function placesOf(rows: readonly JsonRow[]): ReadonlyMap<string, MemberPlace> {
  return new Map(rows.map((row) => [String(row.member), {
    at: { slot: Number(row.slot), hash: String(row.hash), height: Number(row.height) },
    restoring: row.cursor !== MAIN,
  }]));
}

/** The things of a projection that are read with all others, as a table with a column `member`. */
export function currentMembers(sql: Queries, projection: string): Fragment {
  return sql`(select member from chain_member where projection = ${projection} and cursor = ${MAIN} and not gone)`;
}

/** The cursors that are apart, of these projections. */
export async function readGroups(sql: Queries, projections: readonly string[]): Promise<Group[]> {
  const rows = await sql<{ cursor: string; slot: bigint; projection: string; members: number }[]>`
    select cursor, slot, projection, count(*)::int as members from chain_member join chain_cursor on id = cursor
    where cursor is distinct from ${MAIN} and cursor is not null and projection = any(${sql.array([...projections])})
    group by cursor, slot, projection order by cursor`;
  return rows.map((row) => ({ ...row, slot: Number(row.slot) }));
}

/** Raises the generations of cursors, and holds them until the transaction ends. */
async function regenerate(sql: Queries, cursors: readonly string[]): Promise<void> {
  for (const cursor of [...new Set(cursors)].sort((a, b) => Number(b === MAIN) - Number(a === MAIN))) {
    await sql`update chain_cursor set generation = generation + 1 where id = ${cursor}`;
  }
}

/** What came to a cursor. */
export interface Assigned {
  readonly any: boolean;
  /** Those that came to the main one. */
  readonly current: readonly { readonly projection: string; readonly member: string }[];
  /** Where the main one stands. */
  readonly at: Tip;
}

/**
 * Gives some things that nobody reads yet to a cursor, in a fenced transaction: those that were born where the main cursor stands, or
 * later, to it; of the others the youngest, with all born within a day of it, to one at the birth of the oldest among them: one that
 * stands not after it and less than a day before, else a new one where there may be another from there. Gives whether there were any, and which of
 * them are read with all others at once.
 */
export async function assign(
  sql: Queries,
  projections: readonly string[],
  another: (birth: number) => boolean,
): Promise<Assigned> {
  await sql`select 1 from chain_cursor where id = ${MAIN} for update`;
  const { at } = (await readPlace(sql, MAIN))!;
  const names = sql.array([...projections]);
  const current = await sql<{ projection: string; member: string }[]>`
    update chain_member set cursor = ${MAIN} where ctid = any(array(
    select ctid from chain_member where cursor is null and not gone and projection = any(${names})
      and (birth_slot > ${at.slot} or (birth_slot = ${at.slot} and birth_hash = ${at.hash}))
      limit ${AT_ONCE})) returning projection, member`;
  if (current.length > 0) {
    await regenerate(sql, [MAIN]);
    return { any: true, current, at };
  }
  const [youngest] = await sql<{ projection: string; birth_slot: bigint }[]>`
    select projection, birth_slot from chain_member
    where cursor is null and not gone and projection = any(${names}) order by birth_slot desc limit 1`;
  if (!youngest) return { any: false, current, at };
  const { projection } = youngest;
  const [oldest] = await sql<{ birth_slot: bigint; birth_hash: string }[]>`
    select birth_slot, birth_hash from chain_member
    where cursor is null and not gone and projection = ${projection}
      and birth_slot >= ${youngest.birth_slot - BigInt(TOGETHER)} order by birth_slot limit 1`;
  const { birth_slot: slot, birth_hash: hash } = oldest!;
  const cursor = await joinable(sql, projection, slot) ??
    (another(Number(slot)) ? await begin(sql, { slot, hash }, at) : undefined);
  if (cursor === undefined) return { any: false, current, at };
  await regenerate(sql, [cursor]);
  await sql`update chain_member set cursor = ${cursor} where ctid = any(array(
    select ctid from chain_member where cursor is null and not gone and projection = ${projection}
      and birth_slot >= ${slot} order by birth_slot limit ${AT_ONCE}))`;
  return { any: true, current, at };
}

/** A cursor apart that has not passed a birth, and has little way to it; it does not move before the transaction ends. */
async function joinable(sql: Queries, projection: string, birth: bigint): Promise<string | undefined> {
  const [found] = await sql<{ id: string }[]>`
    select id from chain_cursor c where id <> ${MAIN} and slot <= ${birth} and slot > ${birth - BigInt(TOGETHER)}
      and exists (select 1 from chain_member m where m.cursor = c.id and m.projection = ${projection})
    order by slot desc limit 1 for update of c`;
  return found?.id;
}

/** Begins a cursor at a birth. */
async function begin(sql: Queries, birth: { slot: bigint; hash: string }, tip: Tip): Promise<string> {
  const [begun] = await sql<{ id: string }[]>`insert into chain_cursor (id, slot, hash, height, tip_slot, tip_height)
    values ('restoring-' || nextval('chain_restoring'), ${birth.slot}, ${birth.hash}, 0, ${tip.slot}, ${tip.height})
    returning id`;
  return begun!.id;
}

/** Births that a cursor has not passed, by projection and member. */
export type Unborn = ReadonlyMap<string, Point>;

const memberKey = (projection: string, member: string) => `${projection}\u0000${member}`;

/** Reads the things of a cursor whose birth is beyond a place, and their births. */
export async function readUnborn(sql: Queries, cursor: string, at: Point): Promise<Unborn> {
  // a block may share its slot with the one before it: Byron's epochs begin with a block that has no slot of its own
  const rows = await sql<{ projection: string; member: string; birth_slot: bigint; birth_hash: string }[]>`
    select projection, member, birth_slot, birth_hash from chain_member
    where birth_slot >= ${at.slot} and birth_hash <> ${at.hash} and cursor = ${cursor}`;
  return new Map(
    rows.map((row) => [
      memberKey(row.projection, row.member),
      { slot: Number(row.birth_slot), hash: row.birth_hash },
    ]),
  );
}

/** Whether a block is none of those that a thing is read from. */
export function isUnborn(unborn: Unborn, projection: string, member: string, block: Point): boolean {
  const birth = unborn.get(memberKey(projection, member));
  return birth !== undefined && (block.slot < birth.slot || samePoint(block, birth));
}

/**
 * A cursor goes back to a point: what was born beyond it, on the branch that ends there, is read from that point on. So nothing is
 * missed of the new branch, whose blocks may have slots before the birth. The main cursor moves the births of all; where it went back
 * before a cursor apart does, the births that are left are of the new branch.
 */
export async function moveBirths(sql: Queries, cursor: string, to: Point): Promise<void> {
  // cursors before things, as everywhere
  const others = await sql<{ cursor: string }[]>`select distinct cursor from chain_member
    where ${cursor === MAIN} and birth_slot > ${to.slot} and cursor <> ${MAIN}`;
  await regenerate(sql, others.map((row) => row.cursor));
  await sql`update chain_member set birth_slot = ${to.slot}, birth_hash = ${to.hash}
    where birth_slot > ${to.slot} and (${cursor === MAIN} or (cursor = ${cursor}
      and not exists (select 1 from chain_cursor where id = ${cursor} and fork_slot <= ${to.slot})))`;
}

/** The main cursor goes back to a slot: the blocks that it reads from there on are not those that cursors beyond it have read. */
export async function forkAt(sql: Queries, slot: number): Promise<void> {
  await sql`update chain_cursor set fork_slot = least(fork_slot, ${slot}) where id <> ${MAIN} and slot > ${slot}`;
}

/** A cursor apart goes back to a slot. */
export async function passedFork(sql: Queries, cursor: string, slot: number): Promise<void> {
  await sql`update chain_cursor set fork_slot = null where id = ${cursor} and fork_slot >= ${slot}`;
}

/**
 * Where a cursor apart goes on, newest first: its own place, where that is a block, and, as far as they are of its own branch, the main
 * cursor's points before it and its things' births. Below all of these is the origin.
 */
export async function groupPoints(sql: Queries, cursor: string): Promise<Point[]> {
  const rows = await sql<{ slot: bigint; hash: string }[]>`
    select distinct slot, hash from (
      select slot, hash from chain_cursor where id = ${cursor}
      union all
      (select b.slot, b.hash from chain_block b, chain_cursor c
        where c.id = ${cursor} and b.slot < c.slot and (fork_slot is null or b.slot <= fork_slot)
        order by b.slot desc limit 64)
      union all
      select birth_slot, birth_hash from chain_member join chain_cursor on id = cursor
        where cursor = ${cursor} and (birth_slot < slot or birth_slot = slot and birth_hash = hash)
          and (fork_slot is null or birth_slot <= fork_slot)) p
    where slot >= 0 and hash <> ${BETWEEN} order by slot desc`;
  return rows.map((row) => ({ slot: Number(row.slot), hash: row.hash }));
}

/**
 * Takes a cursor apart over blocks that say nothing of its things, in a fenced transaction: from a place as it was read to one on the main
 * cursor's way. Gives whether it stands there; not where things have come meanwhile, or where the main cursor is on another way.
 */
export async function passOver(
  sql: Queries,
  cursor: string,
  from: Place,
  to: Tip,
  keepBlocks: number,
): Promise<boolean> {
  const rows = await sql<
    { slot: bigint; hash: string; height: bigint; generation: bigint; fork_slot: bigint | null }[]
  >`select * from chain_cursor where id in (${MAIN}, ${cursor}) order by id = ${MAIN} desc for update`;
  const [main, apart] = rows;
  if (!main || !apart || apart.fork_slot !== null || apart.generation !== from.generation) return false;
  if (Number(apart.slot) !== from.at.slot || apart.hash !== from.at.hash || Number(main.slot) < to.slot) return false;
  // no rollback reaches deeper than the blocks that are kept, so there is one way there
  const kept = await sql`select 1 from chain_block where slot = ${to.slot} and hash = ${to.hash}`;
  if (main.hash !== to.hash && kept.length === 0 && to.height >= Number(main.height) - keepBlocks) return false;
  await sql`update chain_cursor set slot = ${to.slot}, hash = ${to.hash}, height = ${to.height} where id = ${cursor}`;
  return true;
}

/** What of a cursor has joined the main one. */
export interface Joined {
  readonly members: readonly string[];
  readonly at: Tip;
  /** Whether there are others; while there are, the cursor is there as well. */
  readonly more: boolean;
}

/** Joins some things of a cursor with the main one, in a fenced transaction, if both stand at the same block; else undefined. */
export async function join(sql: Queries, cursor: string): Promise<Joined | undefined> {
  const rows = await sql<{ id: string; hash: string }[]>`
    select id, hash from chain_cursor where id in (${MAIN}, ${cursor}) order by id = ${MAIN} desc for update`;
  if (rows.length < 2 || rows[0]!.hash !== rows[1]!.hash) return undefined;
  const { at } = (await readPlace(sql, MAIN))!;
  await regenerate(sql, [MAIN, cursor]);
  const joined = await sql<{ member: string }[]>`update chain_member set cursor = ${MAIN} where ctid = any(array(
    select ctid from chain_member where cursor = ${cursor} limit ${AT_ONCE})) returning member`;
  const more = joined.length === AT_ONCE;
  if (!more) await sql`delete from chain_cursor where id = ${cursor}`;
  return { members: joined.map(({ member }) => member), at, more };
}

/**
 * Takes some things that are gone off their cursors, in a fenced transaction; a cursor apart that has none left goes as well. Gives
 * whether there may be more.
 */
export async function release(sql: Queries): Promise<boolean> {
  const rows = await sql<{ id: string; cursor: string }[]>`
    select ctid::text as id, cursor from chain_member where gone and cursor is not null limit ${AT_ONCE}`;
  if (rows.length === 0) return false;
  await regenerate(sql, rows.map(({ cursor }) => cursor));
  await sql`update chain_member set cursor = null
    where ctid = any(${sql.array(rows.map(({ id }) => id))}::text[]::tid[]) and gone`;
  await sql`delete from chain_cursor c where id <> ${MAIN}
    and not exists (select 1 from chain_member m where m.cursor = c.id)`;
  return rows.length === AT_ONCE;
}

/** How far things that are read apart have come. */
export interface Restored {
  readonly groups: number;
  /** Things of these groups, and those that wait. */
  readonly things: number;
  /** Slots from the group that is farthest behind to the main cursor. */
  readonly behind: number;
}

/** Looks how far things of these projections are that are not read with all others. */
export async function readRestored(sql: Queries, projections: readonly string[]): Promise<Restored> {
  const [row] = await sql<{ groups: number; things: number; behind: bigint }[]>`
    select count(distinct m.cursor)::int as groups, count(*)::int as things,
      coalesce(greatest(max(main.slot - coalesce(c.slot, m.birth_slot)), 0), 0) as behind
    from chain_member m join chain_cursor main on main.id = ${MAIN} left join chain_cursor c on c.id = m.cursor
    where m.cursor is distinct from ${MAIN} and not m.gone and m.projection = any(${sql.array([...projections])})`;
  return { groups: row!.groups, things: row!.things, behind: Number(row!.behind) };
}

/** Erases some rows of things that are gone, in a fenced transaction; gives whether there may be more. */
export async function erase(sql: Queries, projections: readonly Projection[]): Promise<boolean> {
  for (const { name, members, tables } of projections) {
    if (!members) continue;
    const own = [...members.tables.filter((table) => tables.includes(table)), ...(members.kept ?? [])];
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
