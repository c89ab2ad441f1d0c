/**
 * Entries of an instance's log: what became of a token, as JSON with sorted members and without spaces.
 *
 * An entry holds no hash of a block: an index keeps those of the last blocks alone, and all instances must make the same
 * entries, whenever they began. The output names the transaction, which names its block. Facts are never in a log.
 */
import { fromUtf8, isHex, utf8 } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";

/** A state of a token: its first one (`boot`), a later one (`update`), or the end of its last one (`end`). */
export interface StateLeaf {
  readonly v: 1;
  /** Magic of the network. */
  readonly net: number;
  readonly kind: "boot" | "update" | "end";
  /** Hash of the contract, by which the token is minted. */
  readonly policy: string;
  readonly token: string;
  /** Number of this entry among those of the token, from 0, never used again: a span without gaps is its whole history. */
  readonly seq: number;
  /** Slot of the block that made the state or, of an `end`, that spent it. */
  readonly slot: number;
  /** The state's output, `<transaction hash>#<index>`; of an `end` the one that was spent. */
  readonly ref: string;
  /** Root of the facts. */
  readonly root: string;
}

/** The root of all unspent outputs after a block (see `src/csmt`). */
export interface SnapshotLeaf {
  readonly v: 1;
  readonly net: number;
  readonly kind: "snapshot";
  readonly token?: never;
  /** Number of this entry among snapshots, never used again. */
  readonly seq: number;
  readonly slot: number;
  /** Hash of the block. */
  readonly block: string;
  readonly utxo_root: string;
}

/** As `RollbackLeaf`, of snapshots. */
export interface SnapshotRollbackLeaf {
  readonly v: 1;
  readonly net: number;
  readonly kind: "rollback";
  readonly token?: never;
  readonly seq: number;
  readonly first: number;
  readonly slot: number;
}

/** A rollback below what was logged: the token's entries from number `first` to the one before this are not on the chain. */
export interface RollbackLeaf {
  readonly v: 1;
  readonly net: number;
  readonly kind: "rollback";
  readonly policy: string;
  readonly token: string;
  /** Number of this entry among those of the token. */
  readonly seq: number;
  /** Number of the first entry that is withdrawn, below `seq`. */
  readonly first: number;
  /** Slot to which the chain was rolled back; −1: before the first block. */
  readonly slot: number;
}

/**
 * A rollback in a log of an earlier build: the entries of all tokens from index `first` on whose slot is above `slot` are not
 * on the chain, and later ones have their numbers.
 */
export interface FormerRollbackLeaf {
  readonly v: 1;
  readonly net: number;
  readonly kind: "rollback";
  readonly token?: never;
  readonly first: number;
  readonly slot: number;
}

/** An entry of a token. */
export type TokenLeaf = StateLeaf | RollbackLeaf;
/** An entry of snapshots, which are numbered as the entries of one token. */
export type SnapshotsLeaf = SnapshotLeaf | SnapshotRollbackLeaf;
export type LogLeaf = TokenLeaf | SnapshotsLeaf | FormerRollbackLeaf;

/** Most bytes of an entry. */
const MOST = 1_024;
const LOWER = /^[0-9a-f]*$/;
const REF = /^[0-9a-f]{64}#(0|[1-9]\d{0,4})$/;

/** The text of an entry. */
export function leafText(value: LogLeaf): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)));
}

/** The bytes of an entry. */
export function leafBytes(value: LogLeaf): Uint8Array {
  return utf8(leafText(value));
}

/** The entry of some bytes; undefined where they are not the one text of an entry. */
export function parseLeaf(bytes: Uint8Array): LogLeaf | undefined {
  const text = bytes.length > MOST ? undefined : fromUtf8(bytes);
  if (text === undefined) return undefined;
  try {
    const leaf = leafOf(JSON.parse(text));
    return leaf && leafText(leaf) === text ? leaf : undefined;
  } catch {
    return undefined;
  }
}

function leafOf(json: Json): LogLeaf | undefined {
  if (!isObject(json) || json.v !== 1 || !isCount(json.net)) return undefined;
  const { v, net, kind, policy, token, seq, slot, ref, root, first } = json;
  const members = Object.keys(json).length;
  if (kind === "rollback" && isCount(first) && (slot === -1 || isCount(slot))) {
    if (members === 5) return { v, net, kind, first, slot };
    if (members === 6) return isCount(seq) && first < seq ? { v, net, kind, seq, first, slot } : undefined;
    const isNamed = isId(policy, 28) && isTokenName(token) && isCount(seq) && first < seq && members === 8;
    return isNamed ? { v, net, kind, policy, token, seq, first, slot } : undefined;
  }
  if (kind === "snapshot") {
    const { block, utxo_root } = json;
    const isWhole = isCount(seq) && isCount(slot) && isId(block, 32) && isId(utxo_root, 32) && members === 7;
    return isWhole ? { v, net, kind, seq, slot, block, utxo_root } : undefined;
  }
  if (kind !== "boot" && kind !== "update" && kind !== "end") return undefined;
  if (!isId(policy, 28) || !isId(root, 32) || !isTokenName(token) || !isCount(seq) || !isCount(slot)) return undefined;
  if (typeof ref !== "string" || !REF.test(ref) || members !== 9) return undefined;
  return { v, net, kind, policy, token, seq, slot, ref, root };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isTokenName(value: Json | undefined): value is string {
  return isId(value) && value.length <= 64;
}

function isId(value: Json | undefined, bytes?: number): value is string {
  return typeof value === "string" && LOWER.test(value) && isHex(value, bytes);
}
