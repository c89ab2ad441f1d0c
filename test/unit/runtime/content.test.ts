/** The content of events: what a schema names, within its bound, for readers with the right to it. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { CONTENT_BYTES, contentsOf } from "#src/runtime/events/content.ts";
import { cloudEvent, eventMessages, type Transition, transitionOf } from "#src/runtime/events/transition.ts";

const schemas = { PAID: z.object({ amount: z.string(), note: z.string().optional() }) };
const contents = contentsOf([{ kind: "door" }, { kind: "till", content: { schemas } }, {
  kind: "safe",
  content: { schemas, guarded: true },
}]);
const row = (kind: string, body: Parameters<typeof contents.of>[1]) =>
  transitionOf({
    kind,
    id: "a b",
    version: 3n,
    from_state: "open",
    to_state: "open",
    type: "PAID",
    cause: "c",
    at: new Date(0),
    body: JSON.parse(JSON.stringify(body)),
    generation: "",
  }, contents);

describe("the content of an event", () => {
  test("has the members that the kind's schema names, and no others", () => {
    expect(row("till", { type: "PAID", amount: "5", secret: "x" }).content).toEqual({ amount: "5" });
  });

  test("is missing without a schema, and where the stored event has another form", () => {
    expect(row("door", { type: "PAID", amount: "5" })).not.toHaveProperty("content");
    expect(row("till", { type: "SOLD", amount: "5" })).not.toHaveProperty("content");
    expect(row("till", { type: "PAID", amount: 5 })).not.toHaveProperty("content");
    expect(row("till", { type: "constructor" })).not.toHaveProperty("content");
    expect(contents.of("till", "PAID")).toBeUndefined();
    expect(contents.of("till", null)).toBeUndefined();
  });

  test("is replaced by a reference beyond its bound, which counts bytes", () => {
    const around = '{"amount":""}'.length;
    expect(row("till", { type: "PAID", amount: "5".repeat(CONTENT_BYTES - around) }).content).toHaveProperty("amount");
    const large = row("till", { type: "PAID", amount: "é".repeat(CONTENT_BYTES / 2) });
    expect(large.content).toBe("large");
    const { data } = cloudEvent(large);
    expect(data).not.toHaveProperty("content");
    expect(data).toHaveProperty("contentReference", "/actors/till/a%20b/history?before=4&limit=1");
  });
});

describe("the messages of a transition", () => {
  const subjectsOf = (transition: Transition) =>
    eventMessages(transition, contents).map(({ subject, body: { data } }) => [subject, Object.keys(data as object)]);
  const members = ["entity", "version", "from", "to", "cause"];

  test("have the content at the subject that guests may read", () => {
    expect(subjectsOf(row("till", { type: "PAID", amount: "5" }))).toEqual([
      ["arbor.event.till.a%20b.paid", [...members, "content"]],
    ]);
  });

  test("have content that guests may not read in a second message with the same id", () => {
    const transition = row("safe", { type: "PAID", amount: "5" });
    expect(subjectsOf(transition)).toEqual([
      ["arbor.event.safe.a%20b.paid", members],
      ["arbor.content.safe.a%20b.paid", [...members, "content"]],
    ]);
    expect(new Set(eventMessages(transition, contents).map(({ id }) => id))).toEqual(new Set(["safe/a b:3"]));
    expect(subjectsOf(row("safe", { type: "SOLD" }))).toEqual([["arbor.event.safe.a%20b.paid", members]]);
  });
});
