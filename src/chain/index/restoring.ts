/**
 * Restores members that start before the main cursor's position: restore groups read for them until they have caught
 * up.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { mustGet } from "#src/base/maps.ts";
import { origin, type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { Projection, Touched } from "#src/chain/index/projection.ts";
import {
  assignMembers,
  eraseMembers,
  groupPoints,
  type JoinedMembers,
  joinMembers,
  readRestoreGroups,
  readRestoreProgress,
  releaseMembers,
  type RestoreGroup,
  type RestoreProgress,
  skipTo,
} from "#src/chain/index/groups.ts";
import { Indexer } from "#src/chain/index/indexer.ts";
import { fenced } from "#src/chain/index/indexerCursor.ts";
import type { IndexerOptions, IndexerPosition } from "#src/chain/index/indexerOptions.ts";
import * as measure from "#src/chain/index/metrics.ts";
import { fetchRows, scopeOf } from "#src/chain/index/rows.ts";
import { MAIN, readCursorById } from "#src/chain/index/cursor.ts";
import { type Progress, ProgressMeter } from "#src/chain/index/progress.ts";
import type { Queries } from "#src/store/store.ts";

/** Groups that are read at the same time, each over its own connection. Other members wait and are then grouped. */
const MAX_GROUPS = 4;
/**
 * Number of moving groups that may begin anywhere; a further one must have `FAR_LESS` times less to read than any of
 * them.
 */
const ANYWHERE = 2;
const FAR_LESS = 4;
/** A group that has not moved for this long does not count as moving. */
const STUCK_MS = 30_000;
const POLL_MS = 1_000;

/** What the indexers of restore groups share with the main one. */
interface RestoringOptions extends
  Pick<
    IndexerOptions,
    "store" | "port" | "fence" | "supplies" | "append" | "ring" | "keepBlocks" | "onStep" | "recentBlocks"
  > {
  /** Projections that have members. */
  readonly projections: readonly Projection[];
  readonly log: Log;
  /** The indexer of the main cursor. */
  readonly main: Indexer;
  readonly onProgress?: ((progress: Progress, group: RestoreGroup) => void) | undefined;
}

export class Restoring {
  private readonly running = new Map<string, Promise<void>>();
  private wakeUp: () => void = () => {};
  private moved: (() => void)[] = [];
  /** Since when each cursor is at its present slot. */
  private since = new Map<string, { readonly slot: number; readonly from: number }>();

  constructor(private readonly options: RestoringOptions) {}

  /** Wakes this: members were enrolled or dismissed. */
  wake(): void {
    this.wakeUp();
  }

  /** The main cursor has moved: groups may read on. */
  mainMoved(): void {
    for (const wake of this.moved.splice(0)) wake();
  }

  /** Assigns, restores and releases members until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { projections, store, log } = this.options;
    const names = projections.map(({ name }) => name);
    while (names.length > 0 && !signal.aborted) {
      const woken = new Promise<void>((resolve) => this.wakeUp = resolve);
      try {
        await this.releaseGone();
        let groups = await this.readGroups(names);
        while (await this.hasUnassigned(names) && await this.assign(names, (start) => this.mayBegin(groups, start))) {
          groups = await this.readGroups(names);
        }
        for (const group of groups) if (this.running.size < MAX_GROUPS) this.start(group, signal);
        setGauges(await readRestoreProgress(store.sql, names));
      } catch (error) {
        if (!signal.aborted) log.warn("restoring is interrupted", { reason: reason(error) });
      }
      await Promise.race([woken, sleep(POLL_MS, signal)]);
    }
    await Promise.all(this.running.values());
    setGauges({ groups: 0, members: 0, behind: 0 });
  }

  private async readGroups(names: readonly string[]): Promise<RestoreGroup[]> {
    const groups = await readRestoreGroups(this.options.store.sql, names);
    this.since = new Map(groups.map(({ cursor, slot }) => {
      const before = this.since.get(cursor);
      return [cursor, before?.slot === slot ? before : { slot, from: performance.now() }];
    }));
    return groups;
  }

  /**
   * Whether one more group may begin at a start point. So members wait at most a few times as long as they need to be
   * read.
   */
  private mayBegin(groups: readonly RestoreGroup[], start: number): boolean {
    const moving = groups.filter(({ cursor }) => performance.now() - mustGet(this.since, cursor).from < STUCK_MS);
    if (moving.length < ANYWHERE) return groups.length < MAX_GROUPS;
    const distance = (slot: number) => (this.options.main.at?.slot ?? -1) - slot;
    return groups.length < MAX_GROUPS && moving.every(({ slot }) => distance(start) * FAR_LESS < distance(slot));
  }

  /** Whether there are unassigned members. */
  private async hasUnassigned(names: readonly string[]): Promise<boolean> {
    const { sql } = this.options.store;
    const rows = await sql`select 1 from chain_member
      where cursor is null and not gone and projection = any(${sql.array([...names])}) limit 1`;
    return rows.length > 0;
  }

  /** Assigns waiting members to cursors. Those assigned to the main cursor are notified at once. */
  private async assign(names: readonly string[], mayBegin: (start: number) => boolean): Promise<boolean> {
    const { append, ring, projections } = this.options;
    let events: Touched[] = [];
    const { any } = await this.fenced(async (sql) => {
      events = [];
      const assigned = await assignMembers(sql, names, mayBegin);
      for (const projection of projections) {
        const members = assigned.current.filter((one) => one.projection === projection.name).map(({ member }) =>
          member
        );
        if (members.length > 0) events.push(...await joinedEvents(sql, [projection], { members, at: assigned.at }));
      }
      await append(sql, events);
      return assigned;
    });
    ring(events);
    return any;
  }

  private async releaseGone(): Promise<void> {
    const { store, projections } = this.options;
    const [gone] = await store.sql`select 1 from chain_member where gone limit 1`;
    if (!gone) return;
    while (await this.fenced(releaseMembers));
    while (await this.fenced((sql) => eraseMembers(sql, projections)));
  }

  private fenced<T>(work: (sql: Queries) => Promise<T>): Promise<T> {
    return fenced(this.options, work);
  }

  private start(group: RestoreGroup, signal: AbortSignal): void {
    const { cursor } = group;
    if (this.running.has(cursor)) return;
    const { main, projections, onProgress, ...shared } = this.options;
    const log = this.options.log.with({ cursor });
    const indexer = new Indexer({
      ...shared,
      cursor,
      log,
      projections: projections.filter(({ name }) => name === group.projection),
      keepsPoints: false,
      near: 0,
      ...(onProgress ? { meter: new ProgressMeter((progress) => onProgress(progress, group)) } : {}),
      points: () => groupPoints(shared.store.sql, cursor),
      limit: () => main.at?.slot ?? -1,
      changed: () => new Promise((resolve) => this.moved.push(resolve)),
      ended: (position) => this.join(group, position, log),
    });
    const work = this.skipAll(group, log).then(async (joined) => {
      if (joined || signal.aborted) return;
      log.info("restoring members", { members: group.members, projection: group.projection });
      await indexer.run(signal);
    }).finally(() => {
      this.running.delete(cursor);
      this.wake();
    });
    this.running.set(cursor, work);
  }

  /**
   * Skips recent blocks that do not concern a group. Gives whether it has joined the main cursor: then it needs no
   * indexer.
   */
  private async skipAll(group: RestoreGroup, log: Log): Promise<boolean> {
    try {
      const passed = await this.skip(group);
      if (!passed.near) return false;
      const advanceTo = async (point: Point) => samePoint((await this.skip(group)).at, point);
      return await this.join(group, { at: passed.at, canReach: () => true, advanceTo }, log);
    } catch (error) {
      log.warn("skipping blocks failed", { reason: reason(error) });
      return false;
    }
  }

  /**
   * Moves a group towards the main cursor over recent blocks that do not concern it; `near`: it is at the main cursor.
   */
  private async skip({ cursor, projection }: RestoreGroup): Promise<{ readonly at: Tip; readonly near: boolean }> {
    const { main, store, recentBlocks, keepBlocks } = this.options;
    const recent = recentBlocks?.find((one) => one.projection.name === projection);
    const [tip, from] = [main.at, await readCursorById(store.sql, cursor)];
    const { at } = from ?? { at: { ...origin, height: 0 } };
    const fingerprints = tip && from && await recent?.rowFingerprints(store.sql, cursor);
    if (!tip || !recent || !fingerprints) return { at, near: false };
    const to = await recent.skipUnconcerned(at, tip, fingerprints);
    if (!samePoint(to, at) && !await this.fenced((sql) => skipTo(sql, cursor, from, to, keepBlocks))) {
      return { at, near: false };
    }
    return { at: to, near: samePoint(to, tip) };
  }

  /**
   * Hands a group's members to the main cursor. If the group is near, it reads its last blocks while the main indexer
   * waits between two steps: so both are at the same block, however fast others arrive.
   */
  private async join({ cursor, projection }: RestoreGroup, position: IndexerPosition, log: Log): Promise<boolean> {
    const { main, projections, append, ring, onStep } = this.options;
    if (!main.at || !position.canReach(main.at)) return false;
    const joining = projections.filter(({ name }) => name === projection);
    await onStep?.("before-join", cursor);
    const touched: Touched[] = [];
    let members = 0;
    // the main indexer continues only when all members have joined: the fold of an earlier step would be lost
    const joined = await main.serially(async () => {
      if (!main.at || !await position.advanceTo(main.at)) return false;
      for (;;) {
        let events: readonly Touched[] = [];
        const done = await this.fenced(async (sql) => {
          const joined = await joinMembers(sql, cursor);
          if (joined) await append(sql, events = await joinedEvents(sql, joining, joined));
          return joined;
        });
        if (!done) return false;
        touched.push(...events);
        members += done.members.length;
        if (!done.more) return true;
      }
    });
    if (!joined) return false;
    await onStep?.("after-join", cursor);
    log.info("members have caught up", { members, slot: main.at.slot });
    ring(touched);
    return true;
  }
}

/** Notifications of members that have joined the main cursor. */
async function joinedEvents(
  sql: Queries,
  projections: readonly Projection[],
  { members, at }: Pick<JoinedMembers, "members" | "at">,
): Promise<Touched[]> {
  const events: Touched[] = [];
  for (const { members: membership } of projections) {
    const queries = membership?.joinedKeys?.(members) ?? [];
    const rows = await fetchRows(sql, queries, scopeOf(projections, MAIN));
    events.push(...(membership?.joined?.(members, at, rows) ?? []));
  }
  return events;
}

function setGauges({ groups, members, behind }: RestoreProgress): void {
  measure.restoringGroups.of().set(groups);
  measure.restoringThings.of().set(members);
  measure.restoringBehind.of().set(behind);
}
