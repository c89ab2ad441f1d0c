/** Folds blocks one after another without writing any of them. */
import type { ScannedBlock } from "#src/cardano/block.ts";
import type { Projection, Row, RowQuery, Touched, Want } from "#src/cardano/projection.ts";
import type { Forward } from "#src/chain/index/lookAhead.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { Catalog } from "#src/chain/index/catalog.ts";
import { Overlay, Prefetched } from "#src/chain/index/stagedRows.ts";
import { isUnborn, type Unborn } from "#src/chain/index/groups.ts";
import { fetchOne, mergeRows, type Reach, rowsOf } from "#src/chain/index/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** What is to be written for some blocks together. */
export interface Batch {
  /** The blocks that were folded: at least one, unless something is wanted for the first. */
  readonly blocks: readonly ScannedBlock[];
  /** What is to be made before the first block can be folded, by the name of the projection; empty where blocks were folded. */
  readonly wants: ReadonlyMap<string, readonly Want[]>;
  readonly overlay: Overlay;
  readonly touched: readonly Touched[];
}

type Step = Pick<Forward, "block" | "tip" | "keys">;

export interface BatchOptions {
  readonly sql: Queries;
  readonly catalog: Catalog;
  readonly projections: readonly Projection[];
  readonly reach: Reach;
  /** Members that see none of the blocks up to their birth. */
  readonly unborn: Unborn;
  /** Whether no rollback reaches a block any more. */
  readonly settled: (step: Step) => boolean;
  /** Whether the batch ends before a block; not asked of the first. */
  readonly ends: (step: Step, changes: number, last: ScannedBlock) => boolean;
}

/**
 * Folds a run of linked blocks from the first on, as far as `ends` lets it or until a fold asks for what only the tables can answer, or for
 * what is to be made. The rows that the blocks name are read for all of them at once.
 */
export async function foldBlocks(steps: readonly Step[], options: BatchOptions): Promise<Batch> {
  const { sql, catalog, projections, reach, unborn } = options;
  const pace = new EventLoopPacer();
  const asked = steps.flatMap(({ keys }) => keys.flat());
  await catalog.know(sql, [...reach.tables, ...asked.map(({ table }) => table)]);
  const prefetched = await Prefetched.read(asked, (query) => fetchOne(sql, query, reach));
  const overlay = new Overlay(catalog, reach);
  const blocks: ScannedBlock[] = [];
  const touched: Touched[] = [];
  const wants = new Map<string, readonly Want[]>();
  const answer = (query: RowQuery, stored: readonly Row[], { block }: Step) => {
    const rows = overlay.answer(query, stored);
    const member = reach.members.get(query.table);
    if (unborn.size === 0 || !member) return rows;
    return rows.filter((row) => !isUnborn(unborn, member.projection, String(row[member.column]), block));
  };
  /** Gives undefined where a query must wait until what came before is written, or something is wanted. */
  const fold = async (projection: Projection, queries: readonly RowQuery[], step: Step) => {
    if (queries.some((query) => overlay.defers(query))) return undefined;
    let rows = rowsOf(queries, queries.map((query) => answer(query, prefetched.get(query), step)));
    for (;;) {
      const folded = projection.fold(step.block, rows, options.settled(step));
      if (folded.type === "done") return folded;
      if (folded.type === "want") {
        wants.set(projection.name, folded.wants);
        return undefined;
      }
      await catalog.know(sql, folded.queries.map(({ table }) => table));
      if (folded.queries.some((query) => overlay.defers(query))) return undefined;
      const answers = await Promise.all(
        folded.queries.map(async (query) =>
          answer(query, await prefetched.more(query, (one) => fetchOne(sql, one, reach)), step)
        ),
      );
      rows = mergeRows(rows, rowsOf(folded.queries, answers));
    }
  };
  for (const [i, step] of steps.entries()) {
    if (i > 0 && options.ends(step, overlay.size + touched.length, blocks[i - 1]!)) break;
    const folds = await Promise.all(projections.map((projection, p) => fold(projection, step.keys[p]!, step)));
    const done = folds.filter((one) => one !== undefined);
    if (done.length < folds.length) break;
    for (const one of done) {
      overlay.write(step.block.slot, one.writes);
      touched.push(...one.touched);
    }
    blocks.push(step.block);
    await pace.step();
  }
  return { blocks, overlay, touched: onceStanding(touched), wants: blocks.length === 0 ? wants : new Map() };
}

/** What is told while it holds is told once in a batch. */
function onceStanding(touched: readonly Touched[]): readonly Touched[] {
  const told = new Set<string>();
  return touched.filter(({ entity, event, standing }) => {
    if (!standing) return true;
    const key = `${entity.kind} ${entity.id} ${event.type}`;
    if (told.has(key)) return false;
    told.add(key);
    return true;
  });
}
