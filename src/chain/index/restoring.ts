/** Reads things that were born before the index's place, apart, until they have caught up with it. */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { origin, type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { Projection, Touched } from "#src/cardano/projection.ts";
import {
  assign,
  erase,
  type Group,
  groupPoints,
  join,
  type Joined,
  passOver,
  readGroups,
  readRestored,
  release,
  type Restored,
} from "#src/chain/index/groups.ts";
import { Lane, type LaneOptions, type LaneWay } from "#src/chain/index/indexer.ts";
import * as measure from "#src/chain/index/metrics.ts";
import { fetchRows, reachOf } from "#src/chain/index/rows.ts";
import { MAIN, readPlace } from "#src/chain/index/cursor.ts";
import { type Progress, ProgressMeter } from "#src/chain/index/progress.ts";
import type { Queries } from "#src/store/store.ts";

/** Cursors that are read apart at the same time, each over a connection of its own; other things wait, and then go together. */
const MOST = 4;
/** So many wherever they stand; further ones where they have far less of a way to go than any. */
const ANYWHERE = 2;
const FAR_LESS = 4;
/** A cursor that has not moved for so long keeps no other from beginning. */
const STUCK_MS = 30_000;
const LOOK_EVERY_MS = 1_000;

/** What the lanes of restored things have from the follower. */
export interface RestoringOptions extends
  Pick<
    LaneOptions,
    "store" | "port" | "fence" | "supplies" | "append" | "ring" | "keepBlocks" | "onStep" | "trails"
  > {
  /** Those that have members. */
  readonly projections: readonly Projection[];
  readonly log: Log;
  /** The lane of the main cursor. */
  readonly main: Lane;
  readonly onProgress?: ((progress: Progress, group: Group) => void) | undefined;
}

export class Restoring {
  private readonly running = new Map<string, Promise<void>>();
  private woken: () => void = () => {};
  private moved: (() => void)[] = [];
  /** Since when each cursor stands where it does. */
  private since = new Map<string, { readonly slot: number; readonly from: number }>();

  constructor(private readonly options: RestoringOptions) {}

  /** Somebody wants things read, or read no more. */
  wake(): void {
    this.woken();
  }

  /** The main cursor has moved. */
  mainMoved(): void {
    for (const tell of this.moved.splice(0)) tell();
  }

  /** Looks after things until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { projections, store, log } = this.options;
    const names = projections.map(({ name }) => name);
    while (names.length > 0 && !signal.aborted) {
      const doorbell = new Promise<void>((resolve) => this.woken = resolve);
      try {
        await this.releaseGone();
        let groups = await this.look(names);
        while (await this.waiting(names) && await this.assign(names, (birth) => this.another(groups, birth))) {
          groups = await this.look(names);
        }
        for (const group of groups) if (this.running.size < MOST) this.start(group, signal);
        tell(await readRestored(store.sql, names));
      } catch (error) {
        if (!signal.aborted) log.warn("looking after restored things is interrupted", { reason: reason(error) });
      }
      await Promise.race([doorbell, sleep(LOOK_EVERY_MS, signal)]);
    }
    await Promise.all(this.running.values());
    tell({ groups: 0, things: 0, behind: 0 });
  }

  private async look(names: readonly string[]): Promise<Group[]> {
    const groups = await readGroups(this.options.store.sql, names);
    this.since = new Map(groups.map(({ cursor, slot }) => {
      const before = this.since.get(cursor);
      return [cursor, before?.slot === slot ? before : { slot, from: performance.now() }];
    }));
    return groups;
  }

  /** Whether one more cursor may begin at a birth: those that wait do so for less than a few times their own way. */
  private another(groups: readonly Group[], birth: number): boolean {
    const moving = groups.filter(({ cursor }) => performance.now() - this.since.get(cursor)!.from < STUCK_MS);
    if (moving.length < ANYWHERE) return groups.length < MOST;
    const way = (slot: number) => (this.options.main.at?.slot ?? -1) - slot;
    return groups.length < MOST && moving.every(({ slot }) => way(birth) * FAR_LESS < way(slot));
  }

  /** Whether nobody reads some things yet. */
  private async waiting(names: readonly string[]): Promise<boolean> {
    const { sql } = this.options.store;
    const rows = await sql`select 1 from chain_member
      where cursor is null and not gone and projection = any(${sql.array([...names])}) limit 1`;
    return rows.length > 0;
  }

  /** Gives waiting things to cursors; those that come to the main one are told at once that they are there. */
  private async assign(names: readonly string[], another: (birth: number) => boolean): Promise<boolean> {
    const { append, ring, projections } = this.options;
    let told: Touched[] = [];
    const { any } = await this.fenced(async (sql) => {
      told = [];
      const assigned = await assign(sql, names, another);
      for (const projection of projections) {
        const members = assigned.current.filter((one) => one.projection === projection.name).map(({ member }) =>
          member
        );
        if (members.length > 0) told.push(...await tellJoined(sql, [projection], { members, at: assigned.at }));
      }
      await append(sql, told);
      return assigned;
    });
    ring(told);
    return any;
  }

  private async releaseGone(): Promise<void> {
    const { store, projections } = this.options;
    const [gone] = await store.sql`select 1 from chain_member where gone limit 1`;
    if (!gone) return;
    while (await this.fenced(release));
    while (await this.fenced((sql) => erase(sql, projections)));
  }

  private async fenced<T>(work: (sql: Queries) => Promise<T>): Promise<T> {
    return await this.options.store.sql.begin(async (sql) => {
      await this.options.fence(sql);
      return await work(sql);
    }) as T;
  }

  private start(group: Group, signal: AbortSignal): void {
    const { cursor } = group;
    if (this.running.has(cursor)) return;
    const { main, projections, store, port, fence, supplies, append, ring, keepBlocks, onStep, onProgress, trails } =
      this.options;
    const log = this.options.log.with({ cursor });
    const lane = new Lane({
      store,
      port,
      fence,
      supplies,
      append,
      ring,
      keepBlocks,
      onStep,
      cursor,
      log,
      projections: projections.filter(({ name }) => name === group.projection),
      keepsPoints: false,
      near: 0,
      ...(trails ? { trails } : {}),
      ...(onProgress ? { meter: new ProgressMeter((progress) => onProgress(progress, group)) } : {}),
      points: () => groupPoints(store.sql, cursor),
      limit: () => main.at?.slot ?? -1,
      changed: () => new Promise((resolve) => this.moved.push(resolve)),
      ended: (way) => this.join(group, way, log),
    });
    const work = this.passAll(group, log).then(async (joined) => {
      if (joined || signal.aborted) return;
      log.info("things are read apart", { things: group.members, projection: group.projection });
      await lane.run(signal);
    }).finally(() => {
      this.running.delete(cursor);
      this.wake();
    });
    this.running.set(cursor, work);
  }

  /** Takes a group over the blocks that are remembered to say nothing of it; gives whether it has joined: it is read no more then. */
  private async passAll(group: Group, log: Log): Promise<boolean> {
    try {
      const passed = await this.pass(group);
      if (!passed.near) return false;
      const reach = async (point: Point) => samePoint((await this.pass(group)).at, point);
      return await this.join(group, { at: passed.at, near: () => true, reach }, log);
    } catch (error) {
      log.warn("nothing is passed over", { reason: reason(error) });
      return false;
    }
  }

  /** Takes a group towards the main cursor as far as is known to say nothing of it; gives whether all of the way was. */
  private async pass({ cursor, projection }: Group): Promise<{ readonly at: Tip; readonly near: boolean }> {
    const { main, store, trails, keepBlocks } = this.options;
    const trail = trails?.find((one) => one.projection.name === projection);
    const [tip, from] = [main.at, await readPlace(store.sql, cursor)];
    const { at } = from ?? { at: { ...origin, height: 0 } };
    const concerns = tip && from && await trail?.concerns(store.sql, cursor);
    if (!tip || !trail || !concerns) return { at, near: false };
    const to = await trail.pass(at, tip, concerns);
    if (!samePoint(to, at) && !await this.fenced((sql) => passOver(sql, cursor, from, to, keepBlocks))) {
      return { at, near: false };
    }
    return { at: to, near: samePoint(to, tip) };
  }

  /**
   * Joins a group with the rest. Where it is near, it takes its last blocks while the main lane waits between two steps: both stand at
   * the same block then, however fast others come.
   */
  private async join({ cursor, projection }: Group, way: LaneWay, log: Log): Promise<boolean> {
    const { main, projections, append, ring, onStep } = this.options;
    if (!main.at || !way.near(main.at)) return false;
    const joining = projections.filter(({ name }) => name === projection);
    await onStep?.("before-join", cursor);
    const touched: Touched[] = [];
    let things = 0;
    // what the main lane would do meanwhile would be in vain; it moves only when all have joined
    const joined = await main.serially(async () => {
      if (!main.at || !await way.reach(main.at)) return false;
      for (;;) {
        let told: readonly Touched[] = [];
        const done = await this.fenced(async (sql) => {
          const some = await join(sql, cursor);
          if (some) await append(sql, told = await tellJoined(sql, joining, some));
          return some;
        });
        if (!done) return false;
        touched.push(...told);
        things += done.members.length;
        if (!done.more) return true;
      }
    });
    if (!joined) return false;
    await onStep?.("after-join", cursor);
    log.info("things have caught up and are read with all others", { things, slot: main.at.slot });
    ring(touched);
    return true;
  }
}

/** What things that have joined the main cursor are told. */
async function tellJoined(
  sql: Queries,
  projections: readonly Projection[],
  { members, at }: Pick<Joined, "members" | "at">,
): Promise<Touched[]> {
  const told: Touched[] = [];
  for (const { members: membership } of projections) {
    const queries = membership?.joinedKeys?.(members) ?? [];
    const rows = await fetchRows(sql, queries, reachOf(projections, MAIN));
    told.push(...(membership?.joined?.(members, at, rows) ?? []));
  }
  return told;
}

function tell({ groups, things, behind }: Restored): void {
  measure.restoringGroups.of().set(groups);
  measure.restoringThings.of().set(things);
  measure.restoringBehind.of().set(behind);
}
