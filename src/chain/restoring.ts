/** Reads things that were born before the index's place, apart, until they have caught up with it. */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Projection, Touched } from "#src/cardano/projection.ts";
import {
  assign,
  erase,
  type Group,
  groupPoints,
  join,
  type Joined,
  readGroups,
  readRestored,
  release,
  type Restored,
} from "#src/chain/groups.ts";
import { Lane, type LaneOptions, type LaneWay } from "#src/chain/lane.ts";
import * as measure from "#src/chain/metrics.ts";
import { fetchRows, reachOf } from "#src/chain/rows.ts";
import { MAIN } from "#src/chain/cursor.ts";
import { type Progress, ProgressMeter } from "#src/chain/progress.ts";
import type { Queries } from "#src/store/store.ts";

/** Cursors that are read apart at the same time; other things wait for one of these to join. */
const MOST = 4;
const LOOK_EVERY_MS = 1_000;

/** What the lanes of restored things have from the follower. */
export interface RestoringOptions
  extends Pick<LaneOptions, "store" | "port" | "fence" | "supplies" | "append" | "ring" | "keepBlocks" | "onStep"> {
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
        let groups = await readGroups(store.sql, names);
        while (await this.waiting(names) && await this.assign(names, groups.length < MOST)) {
          groups = await readGroups(store.sql, names);
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

  /** Whether nobody reads some things yet. */
  private async waiting(names: readonly string[]): Promise<boolean> {
    const { sql } = this.options.store;
    const rows = await sql`select 1 from chain_member
      where cursor is null and not gone and projection = any(${sql.array([...names])}) limit 1`;
    return rows.length > 0;
  }

  /** Gives waiting things to cursors; those that come to the main one are told at once that they are there. */
  private async assign(names: readonly string[], another: boolean): Promise<boolean> {
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
    const work = this.laneOf(group).run(signal).finally(() => {
      this.running.delete(cursor);
      this.wake();
    });
    this.running.set(cursor, work);
  }

  private laneOf(group: Group): Lane {
    const { main, projections, store, port, fence, supplies, append, ring, keepBlocks, onStep, onProgress } =
      this.options;
    const { cursor } = group;
    const log = this.options.log.with({ cursor });
    log.info("things are read apart", { things: group.members, projection: group.projection });
    return new Lane({
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
      ...(onProgress ? { meter: new ProgressMeter((progress) => onProgress(progress, group)) } : {}),
      points: () => groupPoints(store.sql, cursor),
      limit: () => main.at?.slot ?? -1,
      changed: () => new Promise((resolve) => this.moved.push(resolve)),
      ended: (way) => this.join(group, way, log),
    });
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
