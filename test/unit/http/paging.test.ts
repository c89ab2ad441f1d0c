import { describe, expect, test } from "vitest";
import { z } from "zod";
import { cursorText, readCursorText } from "#src/http/paging.ts";
import { HISTORY_PLACE } from "#src/wallets/http/stream.ts";

const ref = z.object({ request: z.string() });
const refused = expect.objectContaining({ status: 400, code: "bad_request" });

describe("a cursor", () => {
  test("is read as it was written", () => {
    for (const request of ["a#0", "\\u0000", "žluť \u{1f334}"]) {
      expect(readCursorText(cursorText({ request }), ref)).toEqual({ request });
    }
  });

  test("with a text that PostgreSQL cannot store was given by no page", () => {
    const forged = ["\0", "\ud800", "\udc00\ud800"].flatMap((text) =>
      [
        [cursorText({ request: text }), ref],
        [cursorText(text), z.string()],
        [cursorText([[text]]), z.array(z.array(z.string()))],
      ] as const
    );
    for (const [text, schema] of forged) expect(() => readCursorText<unknown>(text, schema)).toThrow(refused);
  });

  test("of a wallet's history has the index of a column", () => {
    const place = { slot: 1, index: 2 ** 31 - 1, hash: "ab" };
    expect(readCursorText(cursorText(place), HISTORY_PLACE)).toEqual(place);
    expect(() => readCursorText(cursorText({ ...place, index: 2 ** 31 }), HISTORY_PLACE)).toThrow(refused);
  });
});
