/** A failing script's message is stored in rows, whatever it contains. */
import { describe, expect, it } from "vitest";
import { named } from "#actors/transaction.ts";
import { transactionOutcomes } from "#machines/transaction.ts";
import { isWellFormed } from "#src/base/bytes.ts";

describe("a refusal", () => {
  it("has texts that rows can store, whatever a script traced", () => {
    const failures = named({
      outcome: "refused",
      failures: [{
        name: "ValidationTagMismatch",
        kind: "FailedUnexpectedly",
        message: "no\0way",
        logs: ["a\0b", "half \ud83d", "x".repeat(10_000)],
      }],
    });
    const event = transactionOutcomes.parse({ type: "REFUSED", attempt: 1, failures });
    const texts: string[] = [];
    JSON.stringify(event, (_, value) => {
      if (typeof value === "string") texts.push(value);
      return value;
    });
    expect(texts.length).toBeGreaterThan(5);
    for (const text of texts) {
      expect(text.includes("\0")).toBe(false);
      expect(isWellFormed(text)).toBe(true);
      expect(text.length).toBeLessThanOrEqual(4_000);
    }
    expect(failures[0]).toMatchObject({ logs: ["a\ufffdb", "half \ufffd", "x".repeat(4_000)] });
    expect((failures[0] as { message: string }).message).toMatch(
      /^A script fails: no\ufffdway; a\ufffdb; half \ufffd; x+$/,
    );
  });
});
