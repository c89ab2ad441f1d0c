/** Text of ids and names in requests; safe in a browser. */
import { z } from "zod";
import { isWellFormed } from "#src/base/bytes.ts";

/** Text that a database takes: 1 to `most` UTF-16 units, without NUL and lone surrogates. */
export const plainText = (most: number) =>
  z.string().min(1).max(most).refine((value) => !value.includes("\0") && isWellFormed(value), "no plain text");
