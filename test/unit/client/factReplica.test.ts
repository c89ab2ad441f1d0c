/** A replica of tokens' facts where its events are old, missing, repeated or rolled back; and texts by reference. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FactText } from "#machines/token.ts";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { type ActorEvent, FactReplica, readFactText } from "#src/client/factReplica.ts";
import { digest } from "#src/forestry/hash.ts";

const REF = `${"ab".repeat(32)}#0`;
const caged = { owner: "0c".repeat(28), root: "00".repeat(32), ref: REF };

/** Events of one token, one version each. */
class Story {
  private version = 0;
  readonly events: ActorEvent[] = [];

  add(type: string, to: string, content?: object): this {
    const data = { entity: { kind: "token", id: "t" }, version: ++this.version, to, ...(content && { content }) };
    this.events.push({ type: `arbor.token.${type}`, data });
    return this;
  }
  booted = (slot: number) => this.add("booted", "live", { slot, ...caged });
  updated = (slot: number, facts: Record<string, string | null>, more: object = {}, to = "live") => {
    const changes = Object.entries(facts).map(([key, value]) => ({
      request: REF,
      requester: "0d",
      key,
      ...(value === null ? { operation: "delete" } : { operation: "insert", newValue: value }),
    }));
    return this.add("updated", to, { slot, ...caged, applied: changes.length, changes, ...more });
  };
  rolledBack = (slot: number, to = "live") => this.add("rolled-back", to, { slot, to, ...caged, reason: null });
}

function replicaOf({ events }: Story, keepSlots?: number): FactReplica {
  const replica = new FactReplica(keepSlots);
  for (const event of events) replica.apply(event);
  return replica;
}
const factsOf = (replica: FactReplica) => {
  const facts = replica.facts("t");
  return facts && Object.fromEntries(facts.map(({ key, value }) => [key as string, value]));
};

describe("a replica", () => {
  it("is incomplete where a restore of the database replaced what it has, until it has all again", () => {
    const before = new Story().booted(1).updated(2, { a: "1" });
    const replica = replicaOf(new Story().booted(1).updated(2, { a: "1" }).updated(3, { lost: "1" }));
    const after = before.updated(3, { b: "1" }).events.map((event, i) =>
      i < 2 ? event : { ...event, generation: "mx1sjqtc" }
    );
    expect(replica.apply(after[2]!)).toBe(true);
    expect(replica.token("t")).toMatchObject({ complete: false });
    // Once more: it was applied before.
    expect(replica.apply(after[2]!)).toBe(false);
    const saved = FactReplica.from(JSON.parse(JSON.stringify(replica)));
    expect(saved.apply(after[2]!)).toBe(false);
    replica.clear();
    expect(replica.tokens()).toEqual([]);
    for (const event of after) replica.apply(event);
    expect(factsOf(replica)).toEqual({ a: "1", b: "1" });
  });

  it("has the facts of the state to which the chain was rolled back", () => {
    const story = new Story().booted(1).updated(2, { a: "1", b: "1" }).updated(3, { a: "2", b: null, c: "1" });
    const back = replicaOf(story.rolledBack(2));
    expect(factsOf(back)).toEqual({ a: "1", b: "1" });
    expect(factsOf(replicaOf(story.updated(4, { b: null })))).toEqual({ a: "1" });
    expect(factsOf(replicaOf(story.rolledBack(1)))).toEqual({});
    expect(replicaOf(story.rolledBack(-1, "absent")).token("t")).toEqual({
      status: "absent",
      owner: null,
      root: null,
      ref: null,
      complete: true,
    });
    expect(factsOf(replicaOf(story.booted(5).updated(6, { z: "1" })))).toEqual({ z: "1" });
  });

  it("changes a key that a block changes twice back to its first value", () => {
    const story = new Story().booted(1).updated(2, { a: "1" }).updated(3, { a: "2" }).updated(3, { a: "3" });
    expect(factsOf(replicaOf(story.rolledBack(2)))).toEqual({ a: "1" });
  });

  it("ignores events that it has applied, and events of other kinds", () => {
    const story = new Story().booted(1).updated(2, { a: "1" }).updated(3, { a: null });
    const replica = replicaOf(story);
    expect(story.events.map((event) => replica.apply(event))).toEqual([false, false, false]);
    const { type, data } = story.events[0]!;
    expect(replica.apply({ type, data: { ...data, entity: { kind: "wallet", id: "w" } } })).toBe(false);
    expect(factsOf(replica)).toEqual({});
    expect(replica.tokens()).toEqual(["t"]);
  });

  it("has no facts of a token that has ended or is quarantined, and has them again after a rollback", () => {
    const story = new Story().booted(1).updated(2, { a: "1" }).add("ended", "ended", { slot: 3 });
    expect(factsOf(replicaOf(story))).toBeUndefined();
    expect(replicaOf(story).tokens()).toEqual([]);
    expect(factsOf(replicaOf(story.rolledBack(2)))).toEqual({ a: "1" });
    story.updated(4, { a: null, b: "1" }, { unexplained: true }).add("quarantined", "quarantined", { slot: 4 });
    expect(factsOf(replicaOf(story))).toBeUndefined();
    expect(factsOf(replicaOf(story.rolledBack(3)))).toEqual({ a: "1" });
  });

  it("applies what a quarantine held back once the token is released, and a rollback undoes it by its blocks", () => {
    const story = new Story().booted(1).updated(2, { a: "1" })
      .updated(3, { b: "1" }, { unexplained: true }).add("quarantined", "quarantined", { slot: 3 })
      .updated(4, { c: "1" }, { unexplained: true }, "quarantined").updated(
        5,
        { d: "1" },
        { unexplained: true },
        "quarantined",
      );
    story.rolledBack(4, "quarantined").add("released", "live", { slot: 6 });
    expect(factsOf(replicaOf(story))).toEqual({ a: "1", b: "1", c: "1" });
    expect(factsOf(replicaOf(story.rolledBack(3)))).toEqual({ a: "1", b: "1" });
  });

  it("says when changes are missing, and is complete again where the chain has none of them", () => {
    const complete = (story: Story, keepSlots?: number) => {
      const replica = replicaOf(story, keepSlots);
      const { complete, status } = replica.token("t")!;
      expect(replica.facts("t") !== undefined).toBe(complete && status === "live");
      return complete;
    };
    const old = new Story().booted(1).add("updated", "live", { slot: 2, ...caged, applied: 1 });
    expect(complete(old)).toBe(false);
    expect(complete(old.updated(3, { a: "1" }))).toBe(false);
    expect(complete(old.rolledBack(2))).toBe(false);
    expect(complete(old.rolledBack(1))).toBe(true);
    const gap = new Story().booted(1).updated(2, { a: "1" }).updated(3, { b: "1" });
    gap.events.splice(1, 1);
    expect(complete(gap)).toBe(false);
    expect(complete(gap.rolledBack(-1, "absent"))).toBe(true);
    const late = new Story().booted(1).updated(2, { a: "1" });
    late.events.shift();
    expect(complete(late)).toBe(false);
    expect(complete(new Story().booted(1).add("updated", "live"))).toBe(false);
    const deep = new Story().booted(1).updated(2, { a: "1" }).updated(10, { b: "1" }).updated(20, { c: "1" });
    expect(complete(deep, 10)).toBe(true);
    expect(complete(deep.rolledBack(2), 10)).toBe(true);
    expect(complete(deep.rolledBack(1), 10)).toBe(false);
  });

  it("continues from its JSON, between the parts of one update as well", () => {
    const story = new Story().booted(1).updated(2, { a: "1" }).updated(3, { b: "1" }, { unexplained: true });
    story.add("quarantined", "quarantined", { slot: 3 }).add("released", "live", { slot: 4 });
    story.add("applied", "live", {
      slot: 5,
      part: 1,
      parts: 2,
      changes: [{ request: REF, requester: "0d", key: "c", operation: "insert", newValue: "1" }],
    });
    story.updated(5, { d: "1" }, { applied: 2, parts: 2 }).rolledBack(4).updated(6, { e: "1" });
    const expected = replicaOf(story);
    expect(factsOf(expected)).toEqual({ a: "1", b: "1", e: "1" });
    for (let cut = 0; cut <= story.events.length; cut++) {
      const first = new FactReplica();
      for (const event of story.events.slice(0, cut)) first.apply(event);
      const saved = JSON.stringify(first);
      const second = FactReplica.from(JSON.parse(saved));
      for (const event of story.events) second.apply(event);
      expect(second.toJSON()).toEqual(expected.toJSON());
      expect(JSON.stringify(first)).toBe(saved);
    }
  });

  it("verifies its facts against the root", () => {
    const story = new Story().booted(1);
    expect(replicaOf(story).verify("t")).toBe(true);
    expect(replicaOf(story.updated(2, { a: "1" })).verify("t")).toBe(false);
    expect(new FactReplica().verify("t")).toBe(false);
  });
});

describe("a text by reference", () => {
  let base: string;
  const value = utf8("a".repeat(3_000));
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ change: { key: "6b", value: toHex(value) } }));
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it("is read from the service and must have the digest", async () => {
    const text: FactText = { size: 3_000, digest: toHex(digest(value)), href: "/token/t/requests/r-0" };
    expect(await readFactText(base, text, "value")).toBe("a".repeat(3_000));
    expect(asked).toEqual(["/token/t/requests/r-0?encoding=hex"]);
    await expect(readFactText(base, text, "key")).rejects.toThrow("/token/t/requests/r-0 answers another key");
  });
});
