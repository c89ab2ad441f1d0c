/**
 * Entries of an instance's log: what became of a token, as JSON with sorted members and without spaces.
 *
 * An entry holds no hash of a block: an index keeps those of the last blocks alone, and all instances must make the same
 * entries, whenever they began. The output names the transaction, which names its block. Facts are never in a log.
 */
import { z } from "zod";
import { fromUtf8, utf8 } from "#src/base/bytes.ts";

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));
const count = z.int().min(0);
const version = z.literal(1);
const net = z.int().min(0).max(0xffff_ffff);

/** A state of a token: its first one (`boot`), a later one (`update`), or the end of its last one (`end`). */
const stateLeaf = z.strictObject({
  v: version,
  net,
  kind: z.enum(["boot", "update", "end"]),
  /** Hash of the contract, by which the token is minted. */
  policy: hex(28),
  token: z.string().regex(/^([0-9a-f]{2}){0,32}$/),
  /** Number of this entry among those of the token, from 0: a span without gaps is its whole history. */
  seq: count,
  /** Slot of the block that made the state or, of an `end`, that spent it. */
  slot: count,
  /** The state's output, `<transaction hash>#<index>`; of an `end` the one that was spent. */
  ref: z.string().regex(/^[0-9a-f]{64}#(0|[1-9]\d{0,4})$/),
  /** Root of the facts. */
  root: hex(32),
});

/** A rollback below what was logged: the entries from `first` on whose slot is above `slot` are not on the chain. */
const rollbackLeaf = z.strictObject({
  v: version,
  net,
  kind: z.literal("rollback"),
  first: count,
  slot: z.int().min(-1),
});

const leaf = z.discriminatedUnion("kind", [stateLeaf, rollbackLeaf]);

export type StateLeaf = z.output<typeof stateLeaf>;
export type LogLeaf = z.output<typeof leaf>;

/** The text of an entry. */
export function leafText(value: LogLeaf): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)));
}

/** The entry of some bytes; undefined where they are not the one text of an entry. */
export function parseLeaf(bytes: Uint8Array): LogLeaf | undefined {
  const text = fromUtf8(bytes);
  if (text === undefined || text.length > 1_024) return undefined;
  try {
    const parsed = leaf.safeParse(JSON.parse(text));
    return parsed.success && leafText(parsed.data) === text ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** The bytes of an entry. */
export function leafBytes(value: LogLeaf): Uint8Array {
  return utf8(leafText(value));
}
