/** Values of SQL as the model holds them. */
import { type Json, parseWritten } from "#src/base/json.ts";
import { readArray } from "#src/store/arrays.ts";
import { DatabaseError } from "#src/runtime/testing/memory/table.ts";

/** A text as `text`: PostgreSQL's has no NUL. @throws {DatabaseError} */
export function text(value: unknown): string {
  const written = String(value);
  if (written.includes("\0")) throw new DatabaseError("22021", 'invalid byte sequence for encoding "UTF8": 0x00');
  return written;
}

/** A text as `jsonb`. @throws {DatabaseError} where PostgreSQL refuses it. */
export function jsonb(written: string): Json {
  if (/(?<!\\)(?:\\\\)*\\u0000/.test(written)) throw new DatabaseError("22P05", "unsupported Unicode escape sequence");
  return json(written);
}

/** A text as `json`. @throws {DatabaseError} */
export function json(written: string): Json {
  try {
    return parseWritten(written);
  } catch {
    throw new DatabaseError("22P02", "invalid input syntax for type json");
  }
}

/** Reads a parameter of a type, as `StatementBuilder` writes them: `null` stays. */
const READ: { readonly [type: string]: (value: unknown) => unknown } = {
  int: Number,
  bigint: Number,
  float8: Number,
  text,
};

/** A parameter with one value. */
export function scalarOf(type: string, value: unknown): unknown {
  return value === null || value === undefined ? null : READ[type]?.(value);
}

/** A parameter with an array. */
export function arrayOf(type: string, value: unknown): readonly unknown[] {
  return readArray(String(value), (item) => scalarOf(type, item));
}

/** A time as the client reads it. */
export const date = (ms: number): Date => new Date(ms);

/** A statement with single spaces. */
export function flat(sql: string): string {
  return sql.replace(/\s+/g, " ").trim();
}
