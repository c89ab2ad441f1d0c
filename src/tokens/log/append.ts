/**
 * Appends to the log what the index knows and what is final: states of tokens and their ends, in the ledger's order, and
 * roots of the unspent outputs where they are wanted.
 *
 * Assumptions:
 * - The caller holds the follower's lease and runs each call in a transaction of its own, which locks the index's cursor:
 *   what is read here does not move.
 * - The order is that of slots, in a block that of the tokens' names, and of one token that of its transactions. Another
 *   order in a block would need the position of each state, which rows of earlier releases lack.
 * - A rollback below the log's slot is noted in the rollback's own transaction (`noteRollback`).
 * - A root is that of a block that is final; where it is not known when the block becomes final, the log has none of it.
 * - Numbers of a token's entries ascend with the log and are never used again. What an earlier build withdrew has none.
 */
import { compareBytes, toHex, utf8 } from "#src/base/bytes.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import type { Point } from "#src/cardano/block.ts";
import { lockCursor, readSlotBelow } from "#src/chain/index/cursor.ts";
import { insertRows } from "#src/chain/index/rows.ts";
import type { Row } from "#src/chain/index/projection.ts";
import { planLookups } from "#src/store/readPool.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";
import { newestStates } from "#src/tokens/index/read.ts";
import { signCheckpoint } from "#src/tlog/checkpoint.ts";
import { leafHash } from "#src/tlog/hash.ts";
import type { NoteSigner } from "#src/tlog/note.ts";
import { appendedTiles, hashesOfTiles, type Tile, TILE_WIDTH, tileLookup, type TilePlace } from "#src/tlog/tiles.ts";
import { treeRoot } from "#src/tlog/tree.ts";
import {
  leafBytes,
  leafText,
  type RollbackLeaf,
  type SnapshotLeaf,
  type SnapshotRollbackLeaf,
  type SnapshotsLeaf,
  type StateLeaf,
  type TokenLeaf,
} from "#src/contract/logLeaf.ts";
import { scriptOf } from "#src/tokens/index/projection.ts";
import { bytes, number, text } from "#src/tokens/index/rows.ts";
import { newestCounted, readRoot, readTiles, SNAPSHOTS } from "#src/tokens/log/rows.ts";

/**
 * Entries in one transaction, which holds the index's cursor: a block with more is divided. Of a rollback, as many are
 * withdrawn in one transaction.
 */
const MOST = 64;
/** Checkpoints that are kept. */
const CHECKPOINTS = 256;

export interface AppendOptions {
  /** Magic of the network, which each entry names. */
  readonly net: number;
  /** Blocks above a block before its states enter. */
  readonly depth: number;
  readonly signer: NoteSigner;
  readonly snapshots?: Snapshots | undefined;
}

/** Entries with the root of all unspent outputs. */
export interface Snapshots {
  /** After each block whose height is a multiple of that. */
  readonly every: number;
  /** These blocks after a slot, up to another one, at most `most`, the oldest first; without a root where it is not known. */
  readonly blocks: (sql: Queries, span: SnapshotSpan & { readonly most?: number }) => Promise<readonly SnapshotBlock[]>;
  /** The slot up to which no root can become known later; undefined: all. */
  readonly until?: (sql: Queries, span: SnapshotSpan) => Promise<number>;
}

interface SnapshotSpan {
  readonly after: number;
  readonly until: number;
}

interface SnapshotBlock extends Pick<Point, "slot" | "hash"> {
  readonly root?: Uint8Array | null;
}

/** Whether there is something to append. */
export async function hasFinal(
  sql: Queries,
  { depth, snapshots }: Pick<AppendOptions, "depth" | "snapshots">,
): Promise<boolean> {
  const head = await onlyRow(sql<{ slot: bigint; undone: boolean }[]>`
    select slot, undone_to is not null as undone from log_head`);
  if (head.undone) return true;
  const span = { after: Number(head.slot), until: await readSlotBelow(sql, depth) };
  const until = await knownUntil(sql, span, snapshots);
  const { due } = await onlyRow(sql<{ due: boolean }[]>`select
    exists (select from token_state s where s.from_slot > ${span.after} and s.from_slot <= ${until})
    or exists (select from token_state s where s.to_slot > ${span.after} and s.to_slot <= ${until}) as due`);
  return due || (await snapshots?.blocks(sql, { ...span, until, most: 1 }) ?? []).length > 0;
}

async function knownUntil(sql: Queries, span: SnapshotSpan, snapshots: Snapshots | undefined): Promise<number> {
  return await snapshots?.until?.(sql, span) ?? span.until;
}

/** Notes in the transaction of a rollback to a slot that the log may have entries above it. */
export async function noteRollback(sql: Queries, slot: number): Promise<void> {
  await sql`update log_head set undone_to = least(undone_to, ${slot}) where slot > ${slot}
    or exists (select from log_entry where slot > ${slot} and not withdrawn and undoes is null)`;
}

/** Appends some of what is final and signs a checkpoint; gives how many entries came and whether there may be more. */
export async function appendFinal(
  sql: Queries,
  { net, depth, signer, snapshots }: AppendOptions,
): Promise<{ readonly added: number; readonly more: boolean }> {
  // statements that are sent together run in their order; plans that were made for small tables would read whole ones
  const [, , head, final] = await Promise.all([
    planLookups(sql),
    lockCursor(sql),
    onlyRow(sql<{ slot: bigint; size: bigint; undone_to: bigint | null }[]>`
      select slot, size, undone_to from log_head for update`),
    readSlotBelow(sql, depth),
  ]);
  const size = Number(head.size);
  const slot = Number(head.slot);
  const [{ leaves, ...next }, open] = await Promise.all([
    head.undone_to === null
      ? finalLeaves(sql, slot, await knownUntil(sql, { after: slot, until: final }, snapshots), { net, snapshots })
      : withdrawnLeaves(sql, Math.min(slot, Number(head.undone_to)), net),
    readTiles(sql, openPlaces(size)),
  ]);
  await Promise.all([
    sql`update log_head set slot = ${next.slot}, undone_to = ${next.undoneTo}, size = ${size + leaves.length}`,
    leaves.length > 0 && appendLeaves(sql, { size, open }, leaves, signer),
  ]);
  return { added: leaves.length, more: next.more };
}

type NumberedLeaf = TokenLeaf | SnapshotsLeaf;

/** Entries to append, and where the log then is. */
interface NextLeaves {
  readonly leaves: readonly NumberedLeaf[];
  readonly slot: number;
  readonly undoneTo: number | null;
  readonly more: boolean;
}

/** The next entries. Those of a block that was divided are above the log's slot until all are there. */
async function finalLeaves(
  sql: Queries,
  slot: number,
  final: number,
  { net, snapshots }: Pick<AppendOptions, "net" | "snapshots">,
): Promise<NextLeaves> {
  if (final <= slot) return { leaves: [], slot, undoneTo: null, more: false };
  const until = await windowEnd(sql, slot, final, snapshots);
  const [{ done }, states, roots] = await Promise.all([
    onlyRow(sql<{ done: number }[]>`
      select count(*)::int as done from log_entry where slot > ${slot} and not withdrawn and undoes is null`),
    readLeaves(sql, slot, until, net),
    snapshots ? readSnapshots(sql, slot, until, { net, snapshots }) : [],
  ]);
  const all: readonly Unnumbered[] = [...states, ...roots].sort((a, b) => a.slot - b.slot);
  const leaves = await numbered(sql, all.slice(done, done + MOST));
  const next = all[done + MOST];
  if (!next) return { leaves, slot: until, undoneTo: null, more: until < final };
  return { leaves, slot: next.slot - 1, undoneTo: null, more: true };
}

/** Signs the log as it is where no checkpoint of this key and name is there. */
export async function ensureCheckpoint(sql: Queries, signer: NoteSigner): Promise<void> {
  await lockCursor(sql);
  const { size } = await onlyRow(sql<{ size: bigint }[]>`select size from log_head for update`);
  const note = checkpointOf(signer, Number(size), await readRoot(sql, Number(size)));
  const [known] = await sql<{ note: string }[]>`select note from log_checkpoint where size = ${size}`;
  if (known?.note !== note) await writeCheckpoint(sql, Number(size), note);
}

function checkpointOf(signer: NoteSigner, size: number, root: Uint8Array): string {
  return signCheckpoint(signer, { origin: signer.name, size, root });
}

async function writeCheckpoint(sql: Queries, size: number, note: string): Promise<void> {
  await Promise.all([
    sql`delete from log_checkpoint where size = ${size} or size < (
      select min(size) from (select size from log_checkpoint order by size desc limit ${CHECKPOINTS}) newest)`,
    sql`insert into log_checkpoint (size, note) values (${size}, ${note})`,
  ]);
}

/**
 * Marks some of the entries above a slot as withdrawn, the last one of the log first; a token gets an entry that says so with
 * the first of its own.
 */
async function withdrawnLeaves(sql: Queries, slot: number, net: number): Promise<NextLeaves> {
  const rows = await sql<{ token: string; policy: string | null; first: bigint; seq: bigint; more: boolean | null }[]>`
    with gone as (
      update log_entry set withdrawn = true where n = any(array(
        select n from log_entry where slot > ${slot} and not withdrawn and undoes is null and seq is not null
        order by slot desc, n desc limit ${MOST}))
      returning token, seq, entry
    ), turn as (
      select token, min(entry::json->>'policy') as policy, min(seq) as first from gone group by token
    )
    select token, policy, first, (select max(seq) + 1 from log_entry e where e.token = turn.token) as seq,
      ${newestCounted(sql, "slot", sql`token = turn.token and seq < turn.first`)} > ${slot} as more
    from turn order by token collate "C"`;
  const leaves = rows.filter(({ more }) => !more).map(
    ({ policy, token, ...row }): RollbackLeaf | SnapshotRollbackLeaf => {
      const said = { v: 1, net, kind: "rollback", seq: Number(row.seq), first: Number(row.first), slot } as const;
      return policy === null ? said : { ...said, policy, token };
    },
  );
  return { leaves, slot, undoneTo: rows.length === 0 ? null : slot, more: true };
}

/** The slot up to which there are at least `MOST` states that begin or end, or snapshots, if there are. */
async function windowEnd(
  sql: Queries,
  after: number,
  final: number,
  snapshots: Snapshots | undefined,
): Promise<number> {
  const { slot } = await onlyRow(sql<{ slot: bigint | null }[]>`select least(
    (select from_slot from token_state where from_slot > ${after} and from_slot <= ${final}
      order by from_slot offset ${MOST - 1} limit 1),
    (select to_slot from token_state where to_slot > ${after} and to_slot <= ${final}
      order by to_slot offset ${MOST - 1} limit 1)) as slot`);
  const until = slot === null ? final : Number(slot);
  const blocks = await snapshots?.blocks(sql, { after, until, most: MOST });
  return blocks?.[MOST - 1]?.slot ?? until;
}

type UnnumberedState = Omit<StateLeaf, "seq">;
type UnnumberedSnapshot = Omit<SnapshotLeaf, "seq">;
type Unnumbered = UnnumberedState | UnnumberedSnapshot;

/** Snapshots after blocks up to a slot, in order; they are the last entries of their blocks. */
async function readSnapshots(
  sql: Queries,
  after: number,
  until: number,
  { net, snapshots }: { readonly net: number; readonly snapshots: Snapshots },
): Promise<UnnumberedSnapshot[]> {
  const blocks = await snapshots.blocks(sql, { after, until });
  return blocks.flatMap(({ slot, hash: block, root }) => {
    return root ? [{ v: 1 as const, net, kind: "snapshot" as const, slot, block, utxo_root: toHex(root) }] : [];
  });
}

/** States made and ended after a slot, up to another one, in order. */
async function readLeaves(sql: Queries, after: number, until: number, net: number): Promise<UnnumberedState[]> {
  const [states, ends] = await Promise.all([
    sql<Row[]>`
      select ref, token, root, output, from_slot as slot, 0 as last, coalesce(position, -1) as position
      from token_state where from_slot > ${after} and from_slot <= ${until}`,
    // a token has ended where it has no state that outlives the span: the newest ones are looked at first, not all of them
    sql<Row[]>`
      select distinct on (token) ref, token, root, output, to_slot as slot, 1 as last, 0 as position
      from token_state s where to_slot > ${after} and to_slot <= ${until} and (
        select bool_and(coalesce(to_slot <= ${until}, false)) from token_state
        where ${newestStates(sql, sql`s.token`, until)}) and not exists (
        select from token_state o where o.token = s.token and o.from_slot <= ${until}
          and (o.to_slot is null or o.to_slot > ${until}))
      order by token, to_slot desc, from_slot desc, s.position desc nulls last`,
  ]);
  return [...states, ...ends].sort(compareRows).map((row) => ({
    v: 1,
    net,
    kind: number(row, "last") === 1 ? "end" : "update",
    policy: scriptOf(readOutput(decode(bytes(row, "output"))).address) ?? "",
    token: text(row, "token"),
    slot: number(row, "slot"),
    ref: text(row, "ref"),
    root: text(row, "root"),
  }));
}

function compareRows(a: Row, b: Row): number {
  return number(a, "slot") - number(b, "slot") || compareText(text(a, "token"), text(b, "token")) ||
    number(a, "last") - number(b, "last") || number(a, "position") - number(b, "position") ||
    compareText(text(a, "ref"), text(b, "ref"));
}

const compareText = (a: string, b: string) => compareBytes(utf8(a), utf8(b));

/** Numbers the entries of each token, after all that it ever had. The first one that is on the chain is its `boot`. */
async function numbered(sql: Queries, leaves: readonly Unnumbered[]): Promise<NumberedLeaf[]> {
  const tokens = [...new Set(leaves.map(sequenceOf))];
  const rows = await sql<{ token: string; seq: bigint; begun: boolean }[]>`
    select t.token, e.seq + 1 as seq, ${newestCounted(sql, "n", sql`token = t.token`)} is not null as begun
    from unnest(${tokens}::text[]) t(token) cross join lateral (
      select seq from log_entry where token = t.token and seq is not null order by seq desc limit 1) e`;
  const next = new Map(rows.map(({ token, seq, begun }) => [token, { seq: Number(seq), begun }]));
  return leaves.map((leaf) => {
    const { seq, begun } = next.get(sequenceOf(leaf)) ?? { seq: 0, begun: false };
    next.set(sequenceOf(leaf), { seq: seq + 1, begun: true });
    if (leaf.kind === "snapshot") return { ...leaf, seq };
    return { ...leaf, seq, kind: begun ? leaf.kind : "boot" };
  });
}

const sequenceOf = ({ token = SNAPSHOTS }: { readonly token?: string }) => token;

/** Writes entries after the first `size` ones, their tiles and a checkpoint; `open` are the tiles that are not full. */
async function appendLeaves(
  sql: Queries,
  { size, open }: { readonly size: number; readonly open: readonly Tile[] },
  leaves: readonly NumberedLeaf[],
  signer: NoteSigner,
): Promise<void> {
  const rows = leaves.map((leaf, i) => ({
    n: size + i,
    entry: leafText(leaf),
    token: sequenceOf(leaf),
    seq: leaf.seq,
    ref: leaf.kind === "boot" || leaf.kind === "update" ? leaf.ref : leaf.kind === "snapshot" ? leaf.block : null,
    slot: leaf.slot,
    withdrawn: false,
    undoes: leaf.kind === "rollback" ? leaf.first : null,
  }));
  const tiles = appendedTiles(size, leaves.map((leaf) => leafHash(leafBytes(leaf))), tileLookup(open));
  const after = size + leaves.length;
  const root = treeRoot(after, hashesOfTiles(tileLookup([...open, ...tiles])));
  await Promise.all([
    insertRows(sql, "log_entry", ["n", "entry", "token", "seq", "ref", "slot", "withdrawn", "undoes"], rows),
    writeTiles(sql, tiles),
    writeCheckpoint(sql, after, checkpointOf(signer, after, root)),
  ]);
}

async function writeTiles(sql: Queries, tiles: readonly Tile[]): Promise<void> {
  await sql`insert into log_tile (level, n, hashes)
    select * from unnest(${tiles.map(({ level }) => level)}::int[], ${tiles.map(({ index }) => index)}::bigint[],
      array(select decode(h, 'hex') from unnest(${
    tiles.map(({ hashes }) => toHex(hashes))
  }::text[]) with ordinality t(h, i)
        order by i))
    on conflict (level, n) do update set hashes = excluded.hashes`;
}

/** The tiles of a log that are not full. */
function openPlaces(size: number): TilePlace[] {
  const places: TilePlace[] = [];
  for (let [level, hashes] = [0, size]; hashes > 0; level++, hashes = Math.floor(hashes / TILE_WIDTH)) {
    if (hashes % TILE_WIDTH > 0) places.push({ level, index: Math.floor(hashes / TILE_WIDTH) });
  }
  return places;
}
