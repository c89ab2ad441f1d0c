/**
 * Columns of the index's rows, checked as they are read: int8 is a `bigint` in rows of SQL and a `number` in rows that the
 * block under way made. Each function throws a `TypeError` where a column has another type, which is an internal error.
 */
import type { Row, Rows } from "#src/chain/index/projection.ts";

function wrong(row: Row, column: string): never {
  throw new TypeError(`a row's column ${column} has the type ${typeof row[column]}`);
}

/** A text that is not null. */
export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : wrong(row, column);
}

/** A text; undefined if it is null. */
export function maybeText(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

/** Bytes; none if the row is missing or the column is null. */
export function bytes(row: Row | undefined, column: string): Uint8Array {
  const value = row?.[column] ?? null;
  if (!row || value === null) return new Uint8Array();
  return value instanceof Uint8Array ? new Uint8Array(value) : wrong(row, column);
}

/** An integer of eight bytes. */
export function bigint(row: Row, column: string): bigint {
  const value = row[column];
  return typeof value === "bigint" || typeof value === "number" ? BigInt(value) : wrong(row, column);
}

/** An integer that is exact as a number: a slot, a position or a count. */
export function number(row: Row, column: string): number {
  return Number(bigint(row, column));
}

/** A slot; null if the column is. */
export function maybeSlot(row: Row, column: string): number | null {
  return row[column] === null ? null : number(row, column);
}

export function flag(row: Row, column: string): boolean {
  const value = row[column];
  return typeof value === "boolean" ? value : wrong(row, column);
}

/** The texts in one column of a table's rows. */
export function texts(rows: Rows, table: string, column: string): string[] {
  return (rows.get(table) ?? []).map((row) => text(row, column));
}
