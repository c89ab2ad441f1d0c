/**
 * Members that are read apart from the rest of the index, from a start point until they have caught up with the main
 * cursor.
 *
 * Terms: a member is a thing whose rows belong to it alone (a wallet, a token). Its start point (`birth_slot`,
 * `birth_hash`) is the block after which it is read. A restore group is a cursor other than the main one, with its
 * members.
 *
 * Assumptions: a member belongs to one cursor, or to none before it is assigned and after it is dismissed. Every change
 * of that raises the generation of the cursors concerned, so that a batch folded without the change is not written. A
 * group's cursor never passes the main one, and joins it in a transaction that sees both at the same block. A cursor
 * may be before the start point of a member: the blocks up to the start point then change nothing of the member.
 */
import { type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { Projection } from "#src/chain/index/projection.ts";
import { type CursorState, MAIN, pointOf, readCursor, tipOf } from "#src/chain/index/cursor.ts";
import { BETWEEN_BLOCKS } from "#src/chain/index/checkpoint.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";

/** Members whose start points are at most this many slots apart are read together. */
const GROUP_SLOTS = 86_400;
/** Rows changed by one statement. */
const BATCH = 2_000;

/** A cursor other than the main one, with its members of one projection. */
export interface RestoreGroup {
  readonly cursor: string;
  /** Slot of the cursor. */
  readonly slot: number;
  readonly projection: string;
  readonly members: number;
}

/**
 * Has members read from the block after `start` on (`origin`: all blocks). Runs in the transaction that creates them,
 * together with the rows that say what is theirs. The follower assigns them when it next polls, at once if it is woken.
 * A member that is enrolled already stays as it is. Gives the members whose rows of an earlier enrolment are still
 * being erased: enrol these again later.
 */
export async function enrol(
  sql: Queries,
  projection: string,
  members: readonly string[],
  start: Point,
): Promise<string[]> {
  const ids = sql.array([...members]);
  await sql`insert into chain_member (projection, member, birth_slot, birth_hash)
    select ${projection}, unnest(${ids}::text[]), ${start.slot}, ${start.hash} on conflict do nothing`;
  const gone = await sql<{ member: string }[]>`
    select member from chain_member where projection = ${projection} and member = any(${ids}) and gone`;
  return gone.map(({ member }) => member);
}

/** Whether a member is enrolled and not dismissed. */
export async function isEnrolled(sql: Queries, projection: string, member: string): Promise<boolean> {
  const [row] = await sql`select 1 from chain_member
    where projection = ${projection} and member = ${member} and not gone`;
  return row !== undefined;
}

/** Has members no longer read, and their index rows erased. Runs in the transaction that ends them. */
export async function dismiss(sql: Queries, projection: string, members: readonly string[]): Promise<void> {
  await sql`update chain_member set gone = true
    where projection = ${projection} and member = any(${sql.array([...members])})`;
}

/** Positions of members; before assignment, that is their start point. Members that are not enrolled are left out. */
export async function readMemberPositions(
  sql: Queries,
  projection: string,
  members: readonly string[],
): Promise<ReadonlyMap<string, MemberPosition>> {
  return memberPositionsOf(await sql`${memberPositionsQuery(sql, projection, members)}`);
}

/** How far a member is read. */
export interface MemberPosition {
  readonly at: Tip;
  /** Whether it is assigned to a restore group or not assigned yet. */
  readonly restoring: boolean;
}

/**
 * The query of `readMemberPositions`, to be read together with others. Members are looked up one by one: before version
 * 17 PostgreSQL may read all members of the projection for `any`.
 */
export function memberPositionsQuery(sql: Queries, projection: string, members: readonly string[]): Fragment {
  return sql`select member, cursor, coalesce(c.slot, birth_slot) as slot, coalesce(c.hash, birth_hash) as hash,
      coalesce(c.height, (select b.height from chain_block b where b.slot = birth_slot and b.hash = birth_hash), 0) as height
    from unnest(${sql.array([...members])}::text[]) of(name)
    cross join lateral (
      select * from chain_member m where m.projection = ${projection} and m.member = of.name and not m.gone offset 0) m
    left join chain_cursor c on c.id = cursor`;
}

/** Positions by member, from rows of `memberPositionsQuery`. */
export function memberPositionsOf(rows: readonly JsonRow[]): ReadonlyMap<string, MemberPosition> {
  return new Map(rows.map((row) => [String(row.member), {
    at: tipOf(row),
    restoring: row.cursor !== MAIN,
  }]));
}

/** The members of a projection that the main cursor reads, as a table with a column `member`. */
export function currentMembers(sql: Queries, projection: string): Fragment {
  return sql`(select member from chain_member where projection = ${projection} and cursor = ${MAIN} and not gone)`;
}

/** The restore groups of some projections. */
export async function readRestoreGroups(sql: Queries, projections: readonly string[]): Promise<RestoreGroup[]> {
  const rows = await sql<{ cursor: string; slot: bigint; projection: string; members: number }[]>`
    select cursor, slot, projection, count(*)::int as members from chain_member join chain_cursor on id = cursor
    where cursor is distinct from ${MAIN} and cursor is not null and projection = any(${sql.array([...projections])})
    group by cursor, slot, projection order by cursor`;
  return rows.map((row) => ({ ...row, slot: Number(row.slot) }));
}

/** Raises the generations of cursors, and locks them until the transaction ends. */
async function raiseGenerations(sql: Queries, cursors: readonly string[]): Promise<void> {
  for (const cursor of [...new Set(cursors)].sort((a, b) => Number(b === MAIN) - Number(a === MAIN))) {
    await sql`update chain_cursor set generation = generation + 1 where id = ${cursor}`;
  }
}

/** The result of an assignment of members to cursors. */
interface AssignedMembers {
  /** Whether any member was assigned. */
  readonly any: boolean;
  /** Members assigned to the main cursor. */
  readonly current: readonly { readonly projection: string; readonly member: string }[];
  /** Position of the main cursor. */
  readonly at: Tip;
}

/**
 * Assigns some unassigned members to a cursor, in a fenced transaction. Members that start at the main cursor or after
 * it go to the main cursor. Of the others, those that start within a day of the latest start point go to one restore
 * group, which must be at or before the earliest start point among them and less than a day from it. If there is no
 * such group, a new one begins there, provided that `mayBegin` allows it.
 */
export async function assignMembers(
  sql: Queries,
  projections: readonly string[],
  mayBegin: (start: number) => boolean,
): Promise<AssignedMembers> {
  await sql`select 1 from chain_cursor where id = ${MAIN} for update`;
  const { at } = await readCursor(sql);
  const names = sql.array([...projections]);
  const current = await sql<{ projection: string; member: string }[]>`
    update chain_member set cursor = ${MAIN} where ctid = any(array(
    select ctid from chain_member where cursor is null and not gone and projection = any(${names})
      and (birth_slot > ${at.slot} or (birth_slot = ${at.slot} and birth_hash = ${at.hash}))
      limit ${BATCH})) returning projection, member`;
  if (current.length > 0) {
    await raiseGenerations(sql, [MAIN]);
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
      and birth_slot >= ${youngest.birth_slot - BigInt(GROUP_SLOTS)} order by birth_slot limit 1`;
  if (!oldest) return { any: false, current, at };
  const { birth_slot: slot, birth_hash: hash } = oldest;
  const cursor = await openGroup(sql, projection, slot) ??
    (mayBegin(Number(slot)) ? await createGroup(sql, { slot, hash }, at) : undefined);
  if (cursor === undefined) return { any: false, current, at };
  await raiseGenerations(sql, [cursor]);
  await sql`update chain_member set cursor = ${cursor} where ctid = any(array(
    select ctid from chain_member where cursor is null and not gone and projection = ${projection}
      and birth_slot >= ${slot} order by birth_slot limit ${BATCH}))`;
  return { any: true, current, at };
}

/**
 * A group's cursor that is before a start point and less than a day from it. It is locked until the transaction ends.
 */
async function openGroup(sql: Queries, projection: string, start: bigint): Promise<string | undefined> {
  const [found] = await sql<{ id: string }[]>`
    select id from chain_cursor c where id <> ${MAIN} and slot <= ${start} and slot > ${start - BigInt(GROUP_SLOTS)}
      and exists (select 1 from chain_member m where m.cursor = c.id and m.projection = ${projection})
    order by slot desc limit 1 for update of c`;
  return found?.id;
}

/** Creates a cursor at a start point. Only recent blocks are known with their heights; an older one counts as 0. */
async function createGroup(sql: Queries, start: { slot: bigint; hash: string }, tip: Tip): Promise<string> {
  const rows = await sql<{ id: string }[]>`insert into chain_cursor (id, slot, hash, height, tip_slot, tip_height)
    values ('restoring-' || nextval('chain_restoring'), ${start.slot}, ${start.hash},
      coalesce((select b.height from chain_block b where b.slot = ${start.slot} and b.hash = ${start.hash}), 0),
      ${tip.slot}, ${tip.height})
    returning id`;
  return onlyRow(rows).id;
}

/** Start points that a cursor has not passed, by projection and member. */
export type LaterStarts = ReadonlyMap<string, Point>;

const memberKey = (projection: string, member: string) => `${projection}\u0000${member}`;

/** Reads the members of a cursor whose start point is after a position. */
export async function readLaterStarts(sql: Queries, cursor: string, at: Point): Promise<LaterStarts> {
  // a block may share its slot with the one before it: Byron's epochs begin with a block that has no slot of its own
  const rows = await sql<{ projection: string; member: string; slot: bigint; hash: string }[]>`
    select projection, member, birth_slot as slot, birth_hash as hash from chain_member
    where birth_slot >= ${at.slot} and birth_hash <> ${at.hash} and cursor = ${cursor}`;
  return new Map(rows.map((row) => [memberKey(row.projection, row.member), pointOf(row)]));
}

/** Whether a member's start point is this block or a later one: the block then says nothing of the member. */
export function startsLater(later: LaterStarts, projection: string, member: string, block: Point): boolean {
  const start = later.get(memberKey(projection, member));
  return start !== undefined && (block.slot < start.slot || samePoint(block, start));
}

/**
 * A cursor goes back to a point: members that start after it, on the branch that ends there, now start at the point. So
 * none of the new branch is missed, whose blocks may have slots before the old start point. The main cursor moves the
 * start points of all members. If it went back before a group does, the group's remaining start points are of the new
 * branch.
 */
export async function moveStartPoints(sql: Queries, cursor: string, to: Point): Promise<void> {
  // lock cursors before members, as everywhere
  const others = await sql<{ cursor: string }[]>`select distinct cursor from chain_member
    where ${cursor === MAIN} and birth_slot > ${to.slot} and cursor <> ${MAIN}`;
  await raiseGenerations(sql, others.map((row) => row.cursor));
  await sql`update chain_member set birth_slot = ${to.slot}, birth_hash = ${to.hash}
    where birth_slot > ${to.slot} and (${cursor === MAIN} or (cursor = ${cursor}
      and not exists (select 1 from chain_cursor where id = ${cursor} and fork_slot <= ${to.slot})))`;
}

/**
 * The main cursor went back to a slot: groups beyond that slot have read blocks of another branch than the main cursor
 * will.
 */
export async function markFork(sql: Queries, slot: number): Promise<void> {
  await sql`update chain_cursor set fork_slot = least(fork_slot, ${slot}) where id <> ${MAIN} and slot > ${slot}`;
}

/** A group's cursor went back to a slot. */
export async function clearFork(sql: Queries, cursor: string, slot: number): Promise<void> {
  await sql`update chain_cursor set fork_slot = null where id = ${cursor} and fork_slot >= ${slot}`;
}

/**
 * Points from which a group continues, newest first: its cursor's position if that is a block, and, as far as they are of
 * its own branch, the main cursor's points before it and its members' start points. Below all of these is the origin.
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
    where slot >= 0 and hash <> ${BETWEEN_BLOCKS} order by slot desc`;
  return rows.map(pointOf);
}

/**
 * Moves a group's cursor over blocks that do not concern its members, in a fenced transaction: from a position that was
 * read before to one on the main cursor's branch. Gives whether it moved. It does not if members were assigned
 * meanwhile or the main cursor is on another branch.
 */
export async function skipTo(
  sql: Queries,
  cursor: string,
  from: CursorState,
  to: Tip,
  keepBlocks: number,
): Promise<boolean> {
  const rows = await sql<
    { slot: bigint; hash: string; height: bigint; generation: bigint; fork_slot: bigint | null }[]
  >`select * from chain_cursor where id in (${MAIN}, ${cursor}) order by id = ${MAIN} desc for update`;
  const [main, group] = rows;
  if (!main || !group || group.fork_slot !== null || group.generation !== from.generation) return false;
  if (Number(group.slot) !== from.at.slot || group.hash !== from.at.hash || Number(main.slot) < to.slot) return false;
  // no rollback reaches below the blocks that are kept, so below them there is only one branch
  const kept = await sql`select 1 from chain_block where slot = ${to.slot} and hash = ${to.hash}`;
  if (main.hash !== to.hash && kept.length === 0 && to.height >= Number(main.height) - keepBlocks) return false;
  await sql`update chain_cursor set slot = ${to.slot}, hash = ${to.hash}, height = ${to.height} where id = ${cursor}`;
  return true;
}

/** Members of a group that were handed to the main cursor. */
export interface JoinedMembers {
  readonly members: readonly string[];
  readonly at: Tip;
  /** Whether the group has more members; its cursor exists until it has none. */
  readonly more: boolean;
}

/**
 * Hands some members of a group to the main cursor, in a fenced transaction; undefined unless both are at the same
 * block.
 */
export async function joinMembers(sql: Queries, cursor: string): Promise<JoinedMembers | undefined> {
  const rows = await sql<{ id: string; hash: string }[]>`
    select id, hash from chain_cursor where id in (${MAIN}, ${cursor}) order by id = ${MAIN} desc for update`;
  const [main, group] = rows;
  if (!main || main.hash !== group?.hash) return undefined;
  const { at } = await readCursor(sql);
  await raiseGenerations(sql, [MAIN, cursor]);
  const joined = await sql<{ member: string }[]>`update chain_member set cursor = ${MAIN} where ctid = any(array(
    select ctid from chain_member where cursor = ${cursor} limit ${BATCH})) returning member`;
  const more = joined.length === BATCH;
  if (!more) await sql`delete from chain_cursor where id = ${cursor}`;
  return { members: joined.map(({ member }) => member), at, more };
}

/**
 * Takes some dismissed members off their cursors, in a fenced transaction. A group's cursor without members is deleted.
 * Gives whether there may be more.
 */
export async function releaseMembers(sql: Queries): Promise<boolean> {
  const rows = await sql<{ id: string; cursor: string }[]>`
    select ctid::text as id, cursor from chain_member where gone and cursor is not null limit ${BATCH}`;
  if (rows.length === 0) return false;
  await raiseGenerations(sql, rows.map(({ cursor }) => cursor));
  await sql`update chain_member set cursor = null
    where ctid = any(${sql.array(rows.map(({ id }) => id))}::text[]::tid[]) and gone`;
  await sql`delete from chain_cursor c where id <> ${MAIN}
    and not exists (select 1 from chain_member m where m.cursor = c.id)`;
  return rows.length === BATCH;
}

/** The row of a statement that always gives one. */
function onlyRow<T>([row]: readonly T[]): T {
  if (row === undefined) throw new Error("a statement gave no row");
  return row;
}

/** Progress of members that the main cursor does not read yet. */
export interface RestoreProgress {
  readonly groups: number;
  /** Members of these groups, and unassigned ones. */
  readonly members: number;
  /** Slots between the group that is farthest behind and the main cursor. */
  readonly behind: number;
}

/** Reads the progress of the members of some projections. */
export async function readRestoreProgress(sql: Queries, projections: readonly string[]): Promise<RestoreProgress> {
  const rows = await sql<{ groups: number; members: number; behind: bigint }[]>`
    select count(distinct m.cursor)::int as groups, count(*)::int as members,
      coalesce(greatest(max(main.slot - coalesce(c.slot, m.birth_slot)), 0), 0) as behind
    from chain_member m join chain_cursor main on main.id = ${MAIN} left join chain_cursor c on c.id = m.cursor
    where m.cursor is distinct from ${MAIN} and not m.gone and m.projection = any(${sql.array([...projections])})`;
  const { groups, members, behind } = onlyRow(rows);
  return { groups, members, behind: Number(behind) };
}

/** Erases some rows of dismissed members, in a fenced transaction; gives whether there may be more. */
export async function eraseMembers(sql: Queries, projections: readonly Projection[]): Promise<boolean> {
  for (const { name, members, tables } of projections) {
    if (!members) continue;
    const own = [...members.tables.filter((table) => tables.includes(table)), ...(members.kept ?? [])];
    for (const table of own) {
      const erased = await sql`delete from ${sql(table)} where ctid = any(array(
        select t.ctid from ${sql(table)} t join chain_member m on m.member = t.${sql(members.column)}
        where m.projection = ${name} and m.gone and m.cursor is null limit ${BATCH})) returning 1`;
      if (erased.length === BATCH) return true;
    }
    await sql`delete from chain_member where projection = ${name} and gone and cursor is null`;
  }
  return false;
}
