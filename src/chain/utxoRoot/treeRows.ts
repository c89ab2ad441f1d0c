/**
 * The rows of a tree over all unspent outputs (`src/csmt/rows.ts`), of the block that the tree is at, and of the roots of
 * blocks.
 *
 * Assumptions: one process at a time writes them, in the transaction that writes the outputs. A tree is a function of its
 * outputs, so one that is at the chain's newest block, and of this release, is right.
 */
import { toHex } from "#src/base/bytes.ts";
import type { Output, OutRef, Utxo } from "#src/cardano/output.ts";
import { outputKey } from "#src/csmt/key.ts";
import { type ChangedRows, LoadedTree, type TreeChanges } from "#src/csmt/loading.ts";
import { outputValue } from "#src/csmt/output.ts";
import { rowsAhead, topBytes } from "#src/csmt/rows.ts";
import type { Queries } from "#src/store/store.ts";
import { together } from "#src/store/together.ts";

/** Changes when the rows of a release are not those of the one before; the tree is then built again. */
export const TREE_RELEASE = 1;

/**
 * Names of the tables of a tree: its rows (`name`, `nodes`), the block that it is at (one row of `height`, `hash`,
 * `release`, `top`, `root`), the roots of blocks (`hash`, `height`, `root`).
 */
export interface TreeTables {
  readonly rows: string;
  readonly place: string;
  readonly roots: string;
}

/** A block that a tree is at; before the first one the height is -1 and the hash empty. */
export interface TreeBlock {
  readonly height: number;
  readonly hash: string;
}

/** Outputs that a block adds and removes; one that it does both with has not changed. */
export interface OutputChanges {
  readonly created: readonly Utxo[];
  readonly spent: readonly { readonly ref: OutRef; readonly output: Pick<Output, "address"> }[];
}

/** A block, with what it changes since the one before it. */
export interface MovedBlock extends TreeBlock {
  readonly changes: OutputChanges;
}

interface PlaceRow {
  readonly height: bigint;
  readonly hash: string;
  readonly release: number;
  readonly top: Uint8Array;
  readonly root: Uint8Array | null;
}

/** The place of a tree that this release can read. */
export async function readPlace(sql: Queries, { place }: TreeTables): Promise<PlaceRow | undefined> {
  const [row] = await sql<PlaceRow[]>`select height, hash, release, top, root from ${sql(place)}`;
  return row?.release === TREE_RELEASE ? row : undefined;
}

/** Roots after blocks, by hash; without those that are not kept. Null: no output. */
export async function readRootsOf(
  sql: Queries,
  { roots }: TreeTables,
  hashes: readonly string[],
): Promise<Map<string, Uint8Array | null>> {
  const rows = await sql<{ hash: string; root: Uint8Array | null }[]>`
    select hash, root from ${sql(roots)} where hash = any(${sql.array([...hashes])}::text[])`;
  return new Map(rows.map(({ hash, root }) => [hash, root]));
}

/** The tree at a place, which reads rows as it needs them. */
export function treeAt(sql: Queries, tables: TreeTables, { top }: Pick<PlaceRow, "top">): LoadedTree {
  return new LoadedTree(top, (names) => readRows(sql, tables, names));
}

/** Rows by their names; and those whose name begins with `below`. */
export async function readRows(
  sql: Queries,
  { rows }: TreeTables,
  names: readonly string[],
  below?: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = await sql<{ name: string; nodes: Uint8Array }[]>`
    select name, nodes from ${sql(rows)} where name = any(${sql.array([...names])}::text[])
    ${
    below === undefined
      ? sql``
      : sql`union select name, nodes from ${sql(rows)} where name >= ${below} and name < ${below + "g"}`
  }`;
  return new Map(found.map(({ name, nodes }) => [name, nodes]));
}

/**
 * Moves a tree from a block over others, each with the changes since the one before it: to following blocks, or back to an
 * earlier one. False: there is no such tree, or it does not fit; it is then removed, and must be built again.
 */
export async function moveTree(
  sql: Queries,
  tables: TreeTables,
  from: TreeBlock,
  blocks: readonly MovedBlock[],
): Promise<boolean> {
  const last = blocks.at(-1);
  if (!last) return true;
  const moves = blocks.map((block) => ({ ...block, changes: treeChanges(block.changes) }));
  const keys = moves.flatMap(({ changes: { added, removed } }) => [...added.map(({ key }) => key), ...removed]);
  if (keys.length === 0) return await moveUnchanged(sql, tables, from, blocks);
  const [place, rows] = await together([
    readPlace(sql, tables),
    keys.length > MOST_AHEAD ? new Map<string, Uint8Array>() : readRows(sql, tables, rowsAhead(keys)),
  ]);
  if (place?.hash !== from.hash) return await dropTree(sql, tables);
  const roots: (Uint8Array | undefined)[] = [];
  let tree: LoadedTree;
  try {
    tree = treeAt(sql, tables, place);
    tree.add(rows);
    for (const { changes } of moves) {
      await tree.change(changes);
      roots.push(tree.root);
    }
  } catch (error) {
    // a row or an element is missing, or a row cannot be read
    if (!(error instanceof RangeError)) throw error;
    return await dropTree(sql, tables);
  }
  const [known] = await together([insertRoots(sql, tables, blocks, roots), writeTree(sql, tables, last, tree)]);
  return known ? true : await dropTree(sql, tables);
}

/** Writes what changed of a tree, and that it is at a block. */
export async function writeTree(sql: Queries, tables: TreeTables, at: TreeBlock, tree: LoadedTree): Promise<void> {
  await together([writeRows(sql, tables, tree.changedRows()), writePlace(sql, tables, at, tree)]);
}

/** Keys whose rows are read before it is known which there are, at most. */
const MOST_AHEAD = 2_000;

/** Moves a tree over blocks that change no output. */
async function moveUnchanged(
  sql: Queries,
  { place, roots }: TreeTables,
  from: TreeBlock,
  blocks: readonly TreeBlock[],
): Promise<boolean> {
  const { height, hash } = blocks.at(-1) ?? from;
  const moved = await sql`
    with moved as (
      update ${
    sql(place)
  } set height = ${height}, hash = ${hash} where hash = ${from.hash} and release = ${TREE_RELEASE}
      returning root),
    added as (
      insert into ${sql(roots)} (hash, height, root) select one.hash, one.height, root from moved,
        unnest(${sql.array(blocks.map((block) => block.hash))}::text[],
          ${sql.array(blocks.map((block) => block.height))}::bigint[]) as one (hash, height)
      on conflict do nothing)
    select 1 from moved`;
  return moved.length > 0;
}

/** Inserts the roots of blocks; whether those that were there are the same. */
export async function insertRoots(
  sql: Queries,
  { roots: table }: TreeTables,
  blocks: readonly TreeBlock[],
  roots: readonly (Uint8Array | undefined)[],
): Promise<boolean> {
  const hashes = sql.array(blocks.map(({ hash }) => hash));
  const [, different] = await together([
    sql`
      insert into ${sql(table)} (hash, height, root) select hash, height, decode(root, 'hex') from unnest(
        ${hashes}::text[], ${sql.array(blocks.map(({ height }) => height))}::bigint[],
        ${sql.array(roots.map((root) => root ? toHex(root) : null))}::text[]) as new (hash, height, root)
      on conflict do nothing`,
    sql`
      select 1 from ${sql(table)} as known join unnest(${hashes}::text[],
        ${sql.array(roots.map((root) => root ? toHex(root) : null))}::text[]) as new (hash, root)
        on known.hash = new.hash and known.root is distinct from decode(new.root, 'hex')`,
  ]);
  return different.length === 0;
}

export async function writeRows(sql: Queries, { rows }: TreeTables, { written, deleted }: ChangedRows): Promise<void> {
  const statements: PromiseLike<unknown>[] = [];
  if (written.size > 0) {
    statements.push(sql`
      insert into ${sql(rows)} (name, nodes) select name, decode(nodes, 'hex') from unnest(
        ${sql.array([...written.keys()])}::text[], ${
      sql.array([...written.values()].map(toHex))
    }::text[]) as new (name, nodes)
      on conflict (name) do update set nodes = excluded.nodes`);
  }
  if (deleted.length > 0) {
    statements.push(sql`delete from ${sql(rows)} where name = any(${sql.array([...deleted])}::text[])`);
  }
  await together(statements);
}

async function writePlace(
  sql: Queries,
  { place }: TreeTables,
  { height, hash }: TreeBlock,
  { top, root }: LoadedTree,
): Promise<void> {
  await sql`
    insert into ${sql(place)} (height, hash, release, top, root)
    values (${height}, ${hash}, ${TREE_RELEASE}, ${topBytes(top)}, ${root ?? null})
    on conflict (one) do update set height = excluded.height, hash = excluded.hash, release = excluded.release,
      top = excluded.top, root = excluded.root`;
}

/** Removes the place of a tree that does not fit, or that of a block's: it is built again. */
export async function dropTree(sql: Queries, { place }: TreeTables, hash?: string): Promise<false> {
  await sql`delete from ${sql(place)} ${hash === undefined ? sql`` : sql`where hash = ${hash}`}`;
  return false;
}

/** Keys and values of outputs. */
export function treeChanges({ created, spent }: OutputChanges): TreeChanges {
  const added = new Map(created.map(({ ref, output }) => {
    const key = outputKey(output.address, ref);
    return [toHex(key), { key, output }];
  }));
  const removed = new Map(spent.map(({ ref, output }) => {
    const key = outputKey(output.address, ref);
    return [toHex(key), key];
  }));
  return {
    added: [...added].filter(([text]) => !removed.has(text)).map(([, { key, output }]) => ({
      key,
      value: outputValue(output),
    })),
    removed: [...removed].filter(([text]) => !added.has(text)).map(([, key]) => key),
  };
}
