/** String schemas that several services share; safe in a browser. */
import { z } from "zod";
import { isStorable } from "#src/base/bytes.ts";

/** Text that PostgreSQL can store: 1 to `most` UTF-16 units, without NUL and lone surrogates. */
export const plainText = (most: number) => z.string().min(1).max(most).refine(isStorable, "not plain text");

/** Kind of an actor. */
export const kindText = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "expected lower-case letters, digits and dashes")
  .meta({
    description: "Kind of an actor.",
    example: "token",
  });

/** A point in time. */
export const timeText = z.string().meta({ description: "ISO 8601, UTC.", format: "date-time" });

/** Most rows of a page; 50 by default. */
export const pageLimit = z.string().regex(/^\d{1,3}$/, "expected a whole number").transform(Number).pipe(
  z.int().min(1).max(500),
)
  .default(50)
  .meta({ type: "integer", minimum: 1, maximum: 500, default: 50, description: "Maximum number of rows in a page." });
