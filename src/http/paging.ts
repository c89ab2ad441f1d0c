/**
 * Paged lists: `limit`, `after`, and a `Link` to the next page. Without a limit a list is whole: existing clients
 * expect that.
 */
import type { Context } from "hono";
import { z } from "zod";
import { fromUtf8, isStorable } from "#src/base/bytes.ts";
import { type Json, parseJson, toJson } from "#src/base/json.ts";
import { HttpFailure } from "#src/http/failure.ts";

/** Adds the `Link` to the next page, where there is one. */
export function linkNext(c: Context, next: Json | undefined): void {
  if (next === undefined) return;
  const { pathname, search } = new URL(c.req.url);
  // the query is kept as it was sent: bytes that are no UTF-8 do not survive decoding
  const kept = search.slice(1).split("&").filter((part) => part !== "" && !new URLSearchParams(part).has("after"));
  c.header("Link", `<${pathname}?${[...kept, `after=${cursorText(next)}`].join("&")}>; rel="next"`);
}

/** The paging parameters of a request. */
export interface PageQuery {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

/**
 * A page of a list in memory; all of it without paging parameters. `keyOf` gives the key of an entry. With ascending
 * keys the next page is found also when the last entry is gone; in any other order that is a 400.
 */
export function pageOf<T>(
  c: Context,
  { limit, after }: PageQuery,
  all: readonly T[],
  keyOf: (one: T) => string,
  order: "ascending" | "other" = "ascending",
): readonly T[] {
  const key = afterIn(after, z.string());
  const from = key === undefined
    ? 0
    : order === "ascending"
    ? all.findIndex((one) => keyOf(one) > key)
    : 1 + all.findIndex((one) => keyOf(one) === key);
  if (from === 0 && key !== undefined && order === "other") throw noPlace();
  const rest = from < 0 ? [] : all.slice(from);
  return firstOf(c, rest, limit, keyOf);
}

/** The first `limit` rows, with the `Link` to the next page where there are more; all rows without a limit. */
export function firstOf<T>(
  c: Context,
  rows: readonly T[],
  limit: number | undefined,
  keyOf: (one: T) => string,
): readonly T[] {
  if (limit === undefined || rows.length <= limit) return rows;
  const some = rows.slice(0, limit);
  linkNext(c, some.slice(-1).map(keyOf)[0]);
  return some;
}

/** A cursor as opaque text. */
export function cursorText(cursor: Json): string {
  return Buffer.from(toJson(cursor)).toString("base64url");
}

/** The cursor in the parameter `after`, where it is given; throws 400 for a text that no page has given. */
export function afterIn<T>(after: string | undefined, schema: z.ZodType<T>, refused?: () => Error): T | undefined {
  return after === undefined ? undefined : readCursorText(after, schema, refused);
}

/** The cursor in a text, by its schema; throws `refused()` for any other text. */
export function readCursorText<T>(text: string, schema: z.ZodType<T>, refused: () => Error = noPlace): T {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const cursor = parseJson(fromUtf8(bytes) ?? "");
    const read = isStored(cursor) ? schema.safeParse(cursor) : undefined;
    if (read?.success) return read.data;
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof DOMException)) throw error;
  }
  throw refused();
}

/** Whether the texts of a cursor can be those of rows. */
const isStored = (cursor: unknown): boolean =>
  typeof cursor === "string"
    ? isStorable(cursor)
    : !(cursor instanceof Object) || Object.values(cursor).every(isStored);

const noPlace = () => new HttpFailure(400, "bad_request", "after is not a cursor of this list.");
