import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { backoffMs } from "#src/runtime/effects/effects.ts";
import { cloudEvent, eventSubject, kebab, subjectToken, type Transition } from "#src/runtime/events/transition.ts";
import { entityHash, partitionOf } from "#src/runtime/placement/partitions.ts";

describe("partitions", () => {
  test("of an entity never change", () => {
    // Entities are stored under these numbers: another hash would lose them.
    expect(entityHash({ kind: "token", id: "abc" })).toBe(2_314_903_536);
    expect(entityHash({ kind: "wallet", id: "ünï/cødé" })).toBe(3_944_723_347);
  });
  test("are filled evenly", () => {
    const counts = new Array<number>(64).fill(0);
    for (let i = 0; i < 64_000; i++) counts[partitionOf({ kind: "transaction", id: i.toString(16) }, 64)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1_150);
  });
});

describe("subjects", () => {
  const transition: Transition = {
    entity: { kind: "token", id: "a.b" },
    version: 3,
    from: "live",
    to: "ended",
    type: "ROLLED_BACK",
    cause: "c",
    at: 0,
  };
  test("contain an id as one token that decodes to it", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (id) => {
      const token = subjectToken(id);
      expect(token).toMatch(/^[A-Za-z0-9_%-]+$/);
      expect(decodeURIComponent(token)).toBe(id);
    }));
  });
  test("end with the event in kebab case", () => {
    expect(["SUBMIT", "ROLLED_BACK", "rolledBack", "a.b"].map(kebab)).toEqual([
      "submit",
      "rolled-back",
      "rolled-back",
      "a-b",
    ]);
    expect(eventSubject(transition)).toBe("arbor.event.token.a%2Eb.rolled-back");
  });
  test("have a CloudEvents body", () => {
    expect(cloudEvent(transition)).toEqual({
      specversion: "1.0",
      id: "token/a.b:3",
      source: "/arbor/token/a%2Eb",
      type: "arbor.token.rolled-back",
      time: "1970-01-01T00:00:00.000Z",
      datacontenttype: "application/json",
      dataschema: "urn:arbor:event:token.rolled-back:1",
      data: { entity: { kind: "token", id: "a.b" }, version: 3, from: "live", to: "ended", cause: "c" },
    });
  });
});

test("failed effects wait longer each time, half a minute at most", () => {
  for (const [failures, ms] of [[1, 100], [4, 800], [30, 30_000]] as const) {
    for (let i = 0; i < 20; i++) {
      expect(backoffMs(failures)).toBeGreaterThanOrEqual(ms * 0.75);
      expect(backoffMs(failures)).toBeLessThanOrEqual(ms * 1.25);
    }
  }
});
