/**
 * A place in the order of commits, which is the order in which transitions are read back: by transaction, then by entity and
 * version. A serial number would not do: numbers are given out before the commit, so that a later one may appear first.
 */
import type { EntityRef } from "#src/runtime/types.ts";
import { subjectToken } from "#src/runtime/events/transition.ts";

/** Behind one transition, or (`entity` missing) behind everything of the transactions below `tx`. */
export interface Position {
  /** The database's 64-bit transaction id. */
  readonly tx: bigint;
  readonly entity?: EntityRef;
  readonly version?: number;
}

/** Before everything. */
export const START: Position = { tx: 0n };

const FORM = /^(\d{1,20})(?:\.([a-z][a-z0-9-]{0,63})\.(\d{1,15})\.([A-Za-z0-9_%-]{1,2400}))?$/;

/** A position as text: ASCII without spaces, so that it fits into an SSE id and an HTTP header. */
export function positionText({ tx, entity, version }: Position): string {
  return entity === undefined ? `${tx}` : `${tx}.${entity.kind}.${version}.${subjectToken(entity.id)}`;
}

/** The position of a text, or undefined where it is none. */
export function parsePosition(text: string): Position | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const tx = BigInt(match[1]!);
  if (tx >= 2n ** 64n) return undefined;
  if (match[2] === undefined) return { tx };
  try {
    const id = decodeURIComponent(match[4]!);
    // No id has it, and no database takes it.
    if (id.includes("\0")) return undefined;
    return { tx, entity: { kind: match[2], id }, version: Number(match[3]) };
  } catch {
    return undefined;
  }
}

/** Negative when `a` comes before `b`, 0 when they are the same. */
export function comparePositions(a: Position, b: Position): number {
  if (a.tx !== b.tx) return a.tx < b.tx ? -1 : 1;
  if (a.entity === undefined || b.entity === undefined) {
    return Number(b.entity === undefined) - Number(a.entity === undefined);
  }
  return compareText(a.entity.kind, b.entity.kind) || compareText(a.entity.id, b.entity.id) ||
    a.version! - b.version!;
}

/** As the database's "C" collation has it: by bytes of UTF-8, which is by code points. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  const x = a.charCodeAt(i);
  const y = b.charCodeAt(i);
  if (Number.isNaN(x)) return -1;
  if (Number.isNaN(y)) return 1;
  // A surrogate stands for a code point above all others of UTF-16.
  const wide = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;
  if (wide(x) !== wide(y)) return wide(x) ? 1 : -1;
  return x - y;
}
