/**
 * The set of all unspent outputs that a follower keeps from the first block on, with its root.
 *
 * Assumptions: `allOutputsProjection` writes the outputs. The tree is moved in the transaction that writes blocks or undoes
 * them. The outputs of a genesis are in no block, so they are given at the first start.
 */
import type { Log } from "#src/base/log.ts";
import { type Failure, ok, type Result } from "#src/base/result.ts";
import { created, type ScannedBlock, spent, type Tip } from "#src/cardano/block.ts";
import { isRedeemAddress } from "#src/cardano/byron.ts";
import { decode } from "#src/cardano/cbor.ts";
import { parseRefKey, readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import { type Cursor, MAIN, readCursor } from "#src/chain/index/cursor.ts";
import { fenced } from "#src/chain/index/indexerCursor.ts";
import type { IndexerOptions } from "#src/chain/index/indexerOptions.ts";
import type { Rows } from "#src/chain/index/projection.ts";
import { insertRows } from "#src/chain/index/rows.ts";
import { type Exclusively, KeptTree } from "#src/chain/utxoRoot/keptTree.ts";
import { type OutputsSize, UtxoRootReads } from "#src/chain/utxoRoot/reads.ts";
import type { MovedBlock, OutputChanges, TreeTables } from "#src/chain/utxoRoot/treeRows.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

const OUTPUT_TREE: TreeTables = {
  rows: "chain_output_tree",
  place: "chain_output_place",
  roots: "chain_output_root",
};

interface OutputRow {
  readonly ref: string;
  readonly output: Uint8Array;
}

/** A block whose root is kept, and its root if it is known; null: no output. */
export interface RootSnapshot {
  readonly slot: number;
  readonly hash: string;
  readonly root?: Uint8Array | null;
}

/** Blocks behind the network's tip with which the index counts as caught up. */
const NEAR = 20;

/** Roots of blocks in one answer, at most. */
const MOST_ROOTS = 2_500;

type OutputsIncomplete = Failure<"outputs_incomplete">;

interface OutputSetOptions extends Pick<IndexerOptions, "store" | "fence"> {
  readonly log: Log;
  /** Blocks whose roots are kept. */
  readonly keepBlocks: number;
  /** The roots after blocks whose heights are multiples of that stay; undefined: of none. */
  readonly snapshotEvery?: number | undefined;
  /** Outputs up to which a lost tree is built before blocks go on; see `KeptTree`. */
  readonly treeAtOnce?: number;
}

export class OutputSet {
  private readonly tree: KeptTree;

  constructor(private readonly options: OutputSetOptions) {
    const { store, log, treeAtOnce: atOnce } = options;
    this.tree = new KeptTree({
      store,
      write: (work) => fenced(options, work),
      tables: OUTPUT_TREE,
      tip: async (sql) => (await readCursor(sql)).at,
      count: async (sql, most) => {
        const { count } = await onlyRow(sql<{ count: number }[]>`
          select count(*)::int as count from
            (select 1 from chain_output where to_slot is null limit ${most ?? null}) as counted`);
        return count;
      },
      eachOutput: async (sql, each) => {
        const rows = sql<OutputRow[]>`select ref, output from chain_output where to_slot is null`;
        for await (const some of rows.cursor(1_000)) for (const row of some) each(utxoOf(row));
      },
      log,
      atOnce,
    });
  }

  /**
   * Prepares the set before blocks are read, and builds a small tree again where it is lost. `genesis` gives the outputs
   * that are in no block. Fails where blocks were read without it.
   */
  async open(genesis: () => Promise<readonly Utxo[]>): Promise<Result<void, OutputsIncomplete>> {
    const { store: { sql } } = this.options;
    const incomplete = await outputsIncomplete(sql);
    if (incomplete) return { ok: false, error: incomplete };
    if (!await isWhole(sql)) {
      const outputs = await genesis();
      await fenced(this.options, (sql) => begin(sql, outputs));
    }
    await this.complete();
    return ok(undefined);
  }

  /**
   * Builds the tree again unless it is at the cursor. Must run while no step is applied. A large tree is built beside the
   * steps once the index is near the network's tip, where `exclusively` does work between them.
   */
  async complete(exclusively?: Exclusively): Promise<void> {
    const { store: { sql } } = this.options;
    if (!await isWhole(sql)) return;
    await this.tree.complete(isFar(await readCursor(sql)) ? undefined : exclusively);
  }

  /** Ends the build of a tree. */
  close(): Promise<void> {
    return this.tree.close();
  }

  /**
   * Moves the tree over blocks whose rows were written in the same transaction. With `settled`, no rollback reaches them,
   * and only the roots of the last one and of those that stay are computed.
   */
  async apply(sql: Queries, from: Tip, blocks: readonly ScannedBlock[], settled: boolean): Promise<void> {
    const passed = await passAllegra(sql, blocks);
    const moves = await this.#movesOf(sql, blocks, passed);
    if (!moves) {
      this.options.log.error(
        "an output was spent that is not known: the set of outputs is not whole, and has no root",
        {
          slot: from.slot,
        },
      );
      await sql`delete from chain_output_whole`;
      await sql`delete from chain_output_place`;
      void this.tree.close();
      return;
    }
    const last = moves.at(-1);
    if (!last) return;
    const stays = blocks.filter(({ height }) => this.#stays(height));
    const all = settled ? merged(moves, ({ height }) => this.#stays(height)) : moves;
    if (!await this.tree.move(sql, from, all)) this.#noteLost(last.height);
    if (this.options.snapshotEvery !== undefined) await keepSnapshots(sql, stays);
    await sql`delete from chain_output_root where height < ${last.height - this.options.keepBlocks}`;
  }

  #stays(height: number): boolean {
    return this.options.snapshotEvery !== undefined && height % this.options.snapshotEvery === 0;
  }

  /** Moves the tree back to a slot; `affected` are the rows that the undo deletes or reopens, as they were. */
  async undo(sql: Queries, slot: number, affected: Rows): Promise<void> {
    await sql`update chain_output_whole set allegra_slot = null where allegra_slot > ${slot}`;
    await sql`delete from chain_output_snapshot where slot > ${slot}`;
    const { at } = await readCursor(sql);
    const [block] = await sql<{ hash: string; height: bigint }[]>`
      select hash, height from chain_block where slot = ${slot}`;
    const changes: { created: Utxo[]; spent: OutputChanges["spent"][number][] } = { created: [], spent: [] };
    for (const row of affected.get("chain_output") ?? []) {
      const one = { ref: String(row.ref), address: String(row.address), output: row.output };
      if (Number(row.from_slot) <= slot) changes.created.push(utxoOf({ ref: one.ref, output: bytesOf(one.output) }));
      else if (row.to_slot === null) {
        changes.spent.push({ ref: parseRefKey(one.ref), output: { address: one.address } });
      }
    }
    const to = { hash: block?.hash ?? "", height: Number(block?.height ?? 0) };
    if (!await this.tree.move(sql, at, [{ ...to, changes }])) this.#noteLost(to.height);
  }

  /** What each block changes; undefined if it spends an output that is not known. `passed`: what the Allegra era removes. */
  async #movesOf(sql: Queries, blocks: readonly ScannedBlock[], passed: Awaited<ReturnType<typeof passAllegra>>) {
    const transactions = blocks.flatMap((block) => block.transactions);
    const addresses = new Map(
      transactions.flatMap((one) => created(one).map(({ ref, output }) => [refKey(ref), output.address] as const)),
    );
    const earlier = transactions.flatMap((one) => spent(one).map(refKey)).filter((ref) => !addresses.has(ref));
    if (earlier.length > 0) {
      const rows = await sql<{ ref: string; address: string }[]>`
        select ref, address from chain_output where ref = any(${sql.array(earlier)}::text[])`;
      for (const { ref, address } of rows) addresses.set(ref, address);
    }
    if (earlier.some((ref) => !addresses.has(ref))) return undefined;
    return blocks.map(({ height, hash, transactions }) => ({
      height,
      hash,
      changes: {
        created: transactions.flatMap(created),
        spent: [
          ...transactions.flatMap((one) =>
            spent(one).map((ref) => ({ ref, output: { address: addresses.get(refKey(ref)) ?? "" } }))
          ),
          ...passed?.hash === hash ? passed.removed : [],
        ],
      },
    }));
  }

  #noteLost(height: number): void {
    this.options.log.warn("the tree of the unspent outputs is lost and is built again", { height });
  }
}

/** Moves as one, up to each block at which one ends. */
function merged<M extends MovedBlock>(moves: readonly M[], endsAt: (move: M) => boolean): MovedBlock[] {
  const all: MovedBlock[] = [];
  let from = 0;
  for (const [i, move] of moves.entries()) {
    if (i < moves.length - 1 && !endsAt(move)) continue;
    const some = moves.slice(from, from = i + 1).map(({ changes }) => changes);
    const changes = {
      created: some.flatMap(({ created }) => created),
      spent: some.flatMap(({ spent }) => spent),
    };
    all.push({ ...move, changes });
  }
  return all;
}

/** Keeps blocks whose roots stay. Roots of earlier ones may have become known since: a tree was built beside the blocks. */
async function keepSnapshots(sql: Queries, blocks: readonly ScannedBlock[]): Promise<void> {
  // of an epoch boundary block of Byron and the block that shares its slot, the second
  const kept = [...new Map(blocks.map((block) => [block.slot, block])).values()];
  if (kept.length > 0) {
    await sql`insert into chain_output_snapshot (slot, hash, height) select * from unnest(
        ${kept.map(({ slot }) => slot)}::bigint[], ${kept.map(({ hash }) => hash)}::text[],
        ${kept.map(({ height }) => height)}::bigint[])
      on conflict (slot) do update set hash = excluded.hash, height = excluded.height, known = false, root = null`;
  }
  await sql`update chain_output_snapshot s set known = true, root = r.root
    from chain_output_root r where not s.known and r.hash = s.hash`;
}

/** Blocks after a slot, up to another one, whose roots stay; at most `most`, the oldest first. */
export async function readRootSnapshots(
  sql: Queries,
  every: number,
  { after, until, most }: { readonly after: number; readonly until: number; readonly most?: number },
): Promise<readonly RootSnapshot[]> {
  const rows = await sql<{ slot: bigint; hash: string; known: boolean; root: Uint8Array | null }[]>`
    select s.slot, s.hash, s.known or r.hash is not null as known, coalesce(s.root, r.root) as root
    from chain_output_snapshot s left join chain_output_root r on r.hash = s.hash and not s.known
    where s.slot > ${after} and s.slot <= ${until} and s.height % ${every}::int = 0
    order by s.slot limit ${most ?? null}`;
  return rows.map(({ slot, hash, known, root }) => ({ slot: Number(slot), hash, ...known ? { root } : {} }));
}

/**
 * The slot up to which all roots that stay are known: before the first one, after a slot, that the build of a tree may still
 * give. One that a lost tree never gave is passed once there is a tree.
 */
export async function readSnapshotsUntil(
  sql: Queries,
  { after, until }: { readonly after: number; readonly until: number },
): Promise<number> {
  const { slot } = await onlyRow(sql<{ slot: bigint | null }[]>`
    select min(s.slot) as slot from chain_output_snapshot s where not s.known and s.slot > ${after} and s.slot <= ${until}
      and not exists (select from chain_output_root r where r.hash = s.hash)
      and not exists (select from chain_output_place p join chain_cursor c using (hash) where c.id = ${MAIN})`);
  return slot === null ? until : Number(slot) - 1;
}

/** The first era without the outputs that keys redeem: the ledger moved what was left of them to the reserves. */
const ALLEGRA = 3;

/**
 * Ends the outputs that keys redeem with the first block of Allegra or a later era, if it is among some blocks whose rows are
 * written. Reads all unspent outputs of Byron's addresses, once in a chain's life.
 */
async function passAllegra(sql: Queries, blocks: readonly ScannedBlock[]) {
  const first = blocks.find(({ era }) => era >= ALLEGRA);
  if (!first) return undefined;
  const { slot, hash } = first;
  const passing =
    await sql`update chain_output_whole set allegra_slot = ${slot} where allegra_slot is null returning 1`;
  if (passing.length === 0) return undefined;
  const rows = await sql<{ ref: string; address: string }[]>`
    select ref, address from chain_output
    where to_slot is null and from_slot < ${slot} and address >= '82d818' and address < '82d819'`;
  const removed = rows.filter(({ address }) => isRedeemAddress(address));
  await sql`
    update chain_output set to_slot = ${slot} where ref = any(${sql.array(removed.map(({ ref }) => ref))}::text[])`;
  return { hash, removed: removed.map(({ ref, address }) => ({ ref: parseRefKey(ref), output: { address } })) };
}

/** The reads of a follower's set, for `utxoRootRoutes`. */
export function followerUtxoRoot(store: Pick<Store, "sql">): UtxoRootReads {
  return new UtxoRootReads({
    store,
    tables: OUTPUT_TREE,
    tip: async (sql) => (await readCursor(sql)).at,
    behind: async (sql) => {
      const cursor = await readCursor(sql);
      return isFar(cursor) ? cursor.networkTip.slot : undefined;
    },
    unspent: async (sql, refs) => {
      const rows = await sql<OutputRow[]>`
        select ref, output from chain_output
        where to_slot is null and ref = any(${sql.array(refs.map(refKey))}::text[])`;
      return rows.map(utxoOf);
    },
    sizeAt: (sql, address, most) =>
      onlyRow(sql<OutputsSize[]>`
        select count(*)::int as count, coalesce(sum(octet_length(output)), 0)::int as bytes from
          (select output from chain_output where to_slot is null and address = ${address} limit ${most}) as counted`),
    unspentAt: async (sql, address) => {
      const rows = await sql<OutputRow[]>`
        select ref, output from chain_output where to_slot is null and address = ${address}`;
      return rows.map(({ ref, output }) => ({ ref: parseRefKey(ref), cbor: output }));
    },
    roots: async (sql) => {
      const rows = await sql<{ slot: bigint; hash: string; root: Uint8Array | null }[]>`
        select slot, hash, root from chain_block join chain_output_root using (hash)
        order by slot desc limit ${MOST_ROOTS}`;
      return rows.map(({ slot, hash, root }) => ({ slot: Number(slot), hash, root }));
    },
  });
}

/** Why the set cannot be kept in this database; undefined where it can. */
export async function outputsIncomplete(sql: Queries): Promise<OutputsIncomplete | undefined> {
  const { at } = await readCursor(sql);
  if (at.slot < 0 || await isWhole(sql)) return undefined;
  return {
    code: "outputs_incomplete",
    message:
      `The root of the unspent outputs needs all blocks from the first one on, and this database has read the chain up to slot ${at.slot} without keeping all outputs. Use another database for it, or leave the root out.`,
    details: { slot: at.slot },
  };
}

/** Forgets that the set is whole: a follower without it is about to read blocks. */
export async function leaveOutputSet({ sql }: Pick<Store, "sql">): Promise<void> {
  if (!await isWhole(sql)) return;
  await sql`truncate chain_output_whole, chain_output, chain_output_tree, chain_output_place, chain_output_root,
    chain_output_snapshot`;
}

/** Whether the index is far behind the network. */
function isFar({ at, networkTip }: Cursor): boolean {
  return networkTip.height - at.height > NEAR;
}

async function isWhole(sql: Queries): Promise<boolean> {
  return (await sql`select 1 from chain_output_whole`).length > 0;
}

/** Begins the set with the outputs of the genesis. */
async function begin(sql: Queries, genesis: readonly Utxo[]): Promise<void> {
  await sql`truncate chain_output, chain_output_tree, chain_output_place, chain_output_root, chain_output_snapshot`;
  const rows = genesis.map(({ ref, output }) => ({
    ref: refKey(ref),
    address: output.address,
    output: output.raw,
    from_slot: -1,
  }));
  if (rows.length > 0) await insertRows(sql, "chain_output", ["ref", "address", "output", "from_slot"], rows);
  await sql`insert into chain_output_whole default values`;
}

function utxoOf({ ref, output }: OutputRow): Utxo {
  return { ref: parseRefKey(ref), output: readOutput(decode(new Uint8Array(output))) };
}

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError("a column of bytes has another value");
}
