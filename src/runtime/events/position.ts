/**
 * Positions in the log of transitions, which is ordered by transaction id, then by entity and version. A serial number
 * would not do: numbers are assigned before the commit, so that a row with a greater number can become visible first.
 */
import type { EntityRef } from "#src/runtime/types.ts";
import { subjectToken } from "#src/runtime/events/transition.ts";

/** The position after one transition, or without `entity` the position before all transitions of `tx` and later. */
export type Position =
  & {
    /** The database's 64-bit transaction id. */
    readonly tx: bigint;
  }
  & (
    | { readonly entity?: undefined; readonly version?: undefined }
    | { readonly entity: EntityRef; readonly version: number }
  );

/** The position before all transitions. */
export const START: Position = { tx: 0n };

const FORM = /^(\d{1,20})(?:\.([a-z][a-z0-9-]{0,63})\.(\d{1,15})\.([A-Za-z0-9_%-]{1,2400}))?$/;

/** A position as text: ASCII without spaces, valid as an SSE id and in an HTTP header. */
export function positionText({ tx, entity, version }: Position): string {
  return entity === undefined ? `${tx}` : `${tx}.${entity.kind}.${version}.${subjectToken(entity.id)}`;
}

/** Parses a position; `undefined` when the text is malformed. */
export function parsePosition(text: string): Position | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, number = "", kind, version, token] = match;
  const tx = BigInt(number);
  if (tx >= 2n ** 64n) return undefined;
  if (kind === undefined || version === undefined || token === undefined) return { tx };
  try {
    const id = decodeURIComponent(token);
    // Not valid in an id, and PostgreSQL rejects it.
    if (id.includes("\0")) return undefined;
    return { tx, entity: { kind, id }, version: Number(version) };
  } catch {
    return undefined;
  }
}

/** Negative when `a` is before `b`, 0 when they are equal, else positive. */
export function comparePositions(a: Position, b: Position): number {
  if (a.tx !== b.tx) return a.tx < b.tx ? -1 : 1;
  if (a.entity === undefined || b.entity === undefined) {
    return Number(b.entity === undefined) - Number(a.entity === undefined);
  }
  return compareText(a.entity.kind, b.entity.kind) || compareText(a.entity.id, b.entity.id) ||
    a.version - b.version;
}

/** Compares as the database's "C" collation does: by bytes of UTF-8, which is by code points. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  const x = a.charCodeAt(i);
  const y = b.charCodeAt(i);
  if (Number.isNaN(x)) return -1;
  if (Number.isNaN(y)) return 1;
  // Surrogates encode code points above all others, although their UTF-16 units are not the greatest.
  const wide = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;
  if (wide(x) !== wide(y)) return wide(x) ? 1 : -1;
  return x - y;
}
