/** Folds a run of blocks without writing any of them. */
import type { ScannedBlock } from "#src/cardano/block.ts";
import type { Projection, Row, RowQuery, Touched, Want } from "#src/chain/index/projection.ts";
import type { ForwardStep } from "#src/chain/index/lookAhead.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { Catalog } from "#src/chain/index/catalog.ts";
import { MAIN } from "#src/chain/index/cursor.ts";
import { PrefetchedRows, StagedRows } from "#src/chain/index/stagedRows.ts";
import { type LaterStarts, startsLater } from "#src/chain/index/groups.ts";
import { type CursorScope, fetchOne, mergeRows, rowsOf } from "#src/chain/index/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** What a run of blocks changes. */
export interface Batch {
  /** The blocks that were folded: at least one, unless the fold of the first requested something. */
  readonly blocks: readonly ScannedBlock[];
  /** What the fold of the first block requested, by projection; empty if blocks were folded. */
  readonly wants: ReadonlyMap<string, readonly Want[]>;
  readonly overlay: StagedRows;
  readonly touched: readonly Touched[];
}

type FoldStep = Pick<ForwardStep, "block" | "tip" | "keys">;

export interface BatchOptions {
  readonly sql: Queries;
  readonly catalog: Catalog;
  readonly projections: readonly Projection[];
  readonly scope: CursorScope;
  /** Members that start at a later block than some of these. */
  readonly laterStarts: LaterStarts;
  /** Whether no rollback reaches a block any more. */
  readonly isFinal: (step: FoldStep) => boolean;
  /** Whether the batch ends before a block; not called for the first. */
  readonly ends: (step: FoldStep, changes: number, last: ScannedBlock) => boolean;
}

/**
 * Folds linked blocks in order, until `ends` says so, a fold queries what only the database can answer after the
 * changes are written, or a fold requests something. The rows that the blocks' keys name are read for all of them at
 * once.
 */
export async function foldBlocks(steps: readonly FoldStep[], options: BatchOptions): Promise<Batch> {
  const { sql, catalog, projections, scope, laterStarts } = options;
  const pace = new EventLoopPacer();
  const queries = steps.flatMap(({ keys }) => keys.flat());
  await catalog.load(sql, [...scope.tables, ...queries.map(({ table }) => table)]);
  const prefetched = await PrefetchedRows.read(queries, (query) => fetchOne(sql, query, scope));
  const overlay = new StagedRows(catalog, scope);
  const blocks: ScannedBlock[] = [];
  const touched: Touched[] = [];
  const wants = new Map<string, readonly Want[]>();
  const answer = (query: RowQuery, stored: readonly Row[], { block }: FoldStep) => {
    const rows = overlay.answer(query, stored);
    const member = scope.members.get(query.table);
    if (laterStarts.size === 0 || !member) return rows;
    return rows.filter((row) => !startsLater(laterStarts, member.projection, String(row[member.column]), block));
  };
  /** Undefined if a query must wait until earlier changes are written, or the fold requested something. */
  const fold = async (projection: Projection, queries: readonly RowQuery[], step: FoldStep) => {
    if (queries.some((query) => overlay.defers(query))) return undefined;
    let rows = rowsOf(queries, queries.map((query) => answer(query, prefetched.get(query), step)));
    for (;;) {
      const folded = projection.fold(step.block, rows, options.isFinal(step), scope.cursor !== MAIN);
      if (folded.type === "done") return folded;
      if (folded.type === "want") {
        wants.set(projection.name, folded.wants);
        return undefined;
      }
      await catalog.load(sql, folded.queries.map(({ table }) => table));
      if (folded.queries.some((query) => overlay.defers(query))) return undefined;
      const answers = await Promise.all(
        folded.queries.map(async (query) =>
          answer(query, await prefetched.fetchMore(query, (one) => fetchOne(sql, one, scope)), step)
        ),
      );
      rows = mergeRows(rows, rowsOf(folded.queries, answers));
    }
  };
  for (const step of steps) {
    const last = blocks.at(-1);
    if (last && options.ends(step, overlay.size + touched.length, last)) break;
    const folds = await Promise.all(projections.map((projection, p) => fold(projection, step.keys[p] ?? [], step)));
    const done = folds.filter((one) => one !== undefined);
    if (done.length < folds.length) break;
    for (const one of done) {
      overlay.write(step.block.slot, one.writes);
      touched.push(...one.touched);
    }
    blocks.push(step.block);
    await pace.step();
  }
  return { blocks, overlay, touched: withoutRepeatedStanding(touched), wants: blocks.length === 0 ? wants : new Map() };
}

/** Keeps only the first of equal `oneUnread` events: one per batch is enough. */
function withoutRepeatedStanding(touched: readonly Touched[]): readonly Touched[] {
  const seen = new Set<string>();
  return touched.filter(({ entity, event, oneUnread }) => {
    if (!oneUnread) return true;
    const key = `${entity.kind} ${entity.id} ${event.type}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
