/** The end of a page as opaque text. */
import type { ZodType } from "zod";
import type { Json } from "#src/base/json.ts";
import { refusal } from "#src/operators/http/status.ts";
import { afterIn, cursorText } from "#src/http/paging.ts";

/** The place of a text that `cursorText` gave. Throws `HttpFailure` 400 `bad_cursor` on anything else. */
export function readCursor<T>(text: string | undefined, place: ZodType<T>): T | undefined {
  return afterIn(text, place, badCursor);
}

const badCursor = () => refusal({ code: "bad_cursor", message: "after is not a cursor of this list." });

/** The cursor of the page after some rows; null where no more can follow. */
export function page<T>(rows: readonly T[], limit: number, place: (last: T) => Json): string | null {
  const [last] = rows.length < limit ? [] : rows.slice(-1).map(place);
  return last === undefined ? null : cursorText(last);
}
