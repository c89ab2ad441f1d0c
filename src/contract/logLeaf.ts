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
  /** Number of this entry among those of the token, from 0: a span without gaps is its whole history. */
  readonly seq: number;
  /** Slot of the block that made the state or, of an `end`, that spent it. */
  readonly slot: number;
  /** The state's output, `<transaction hash>#<index>`; of an `end` the one that was spent. */
  readonly ref: string;
  /** Root of the facts. */
  readonly root: string;
}

/** A rollback below what was logged: the entries from `first` on whose slot is above `slot` are not on the chain. */
export interface RollbackLeaf {
  readonly v: 1;
  readonly net: number;
  readonly kind: "rollback";
  readonly first: number;
  readonly slot: number;
}

export type LogLeaf = StateLeaf | RollbackLeaf;

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
  if (kind === "rollback") {
    const isPoint = slot === -1 || isCount(slot);
    return isCount(first) && isPoint && Object.keys(json).length === 5 ? { v, net, kind, first, slot } : undefined;
  }
  if (kind !== "boot" && kind !== "update" && kind !== "end") return undefined;
  if (!isId(policy, 28) || !isId(root, 32) || !isId(token) || token.length > 64 || !isCount(seq) || !isCount(slot)) {
    return undefined;
  }
  if (typeof ref !== "string" || !REF.test(ref) || Object.keys(json).length !== 9) return undefined;
  return { v, net, kind, policy, token, seq, slot, ref, root };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isId(value: Json | undefined, bytes?: number): value is string {
  return typeof value === "string" && LOWER.test(value) && isHex(value, bytes);
}
