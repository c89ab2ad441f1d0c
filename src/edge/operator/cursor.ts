/** The end of a page as opaque text. */
import { z, type ZodType } from "zod";
import { refusal } from "#src/edge/operator/status.ts";

/** The text of a place: JSON in base64url. */
export function writeCursor(place: unknown): string {
  return Buffer.from(JSON.stringify(place), "utf8").toString("base64url");
}

/** The place of a text that `writeCursor` gave. Throws `HttpFailure` 400 `bad_cursor` on anything else. */
export function readCursor<T>(text: string | undefined, place: ZodType<T>): T | undefined {
  if (text === undefined) return undefined;
  try {
    return place.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error;
    throw refusal({ code: "bad_cursor", message: "after is not a cursor of this list." });
  }
}

/** The rows of a page, and the cursor of the next one where more may follow. */
export function page<T>(rows: readonly T[], limit: number, place: (last: T) => unknown): string | null {
  return rows.length < limit ? null : writeCursor(place(rows.at(-1)!));
}
