/** Subjects and routing, compared with a plain definition of matching. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALL, deniedPart, GUEST, mayPublish, maySubscribe } from "#src/embedded/nats/rights.ts";
import { SubscriptionRoutes } from "#src/embedded/nats/routes.ts";
import { isLiteral, isSubscription, isWithin, overlap } from "#src/embedded/nats/subjects.ts";

/** The definition: token by token. */
function matches(subscription: string, subject: string): boolean {
  const pattern = subscription.split(".");
  const tokens = subject.split(".");
  const tail = pattern.at(-1) === ">";
  if (tail ? tokens.length < pattern.length : tokens.length !== pattern.length) return false;
  return (tail ? pattern.slice(0, -1) : pattern).every((token, i) => token === "*" || token === tokens[i]);
}

const token = fc.constantFrom("a", "b", "c");
const literal = fc.array(token, { minLength: 1, maxLength: 4 }).map((tokens) => tokens.join("."));
const pattern = fc
  .tuple(fc.array(fc.oneof(token, fc.constant("*")), { maxLength: 4 }), fc.boolean())
  .map(([tokens, tail]) => [...tokens, ...(tail || tokens.length === 0 ? [">"] : [])].join("."));

const every: string[] = [];
for (let length = 1, level = [""]; length <= 4; length++) {
  level = level.flatMap((prefix) => ["a", "b", "c"].map((token) => (prefix ? `${prefix}.${token}` : token)));
  every.push(...level);
}

describe("subjects", () => {
  test("two subscriptions overlap where some subject is matched by both", () => {
    // a tail starts to match after at most four tokens
    const witnesses = [...every, ...every.flatMap((subject) => ["a", "b", "c"].map((token) => `${subject}.${token}`))];
    fc.assert(fc.property(pattern, pattern, (one, other) => {
      const both = witnesses.some((subject) => matches(one, subject) && matches(other, subject));
      expect(overlap(one.split("."), other.split("."))).toBe(both);
    }));
  });

  test.each([
    ["a", true, true],
    ["a.b-c.D_9", true, true],
    ["ü.ñ", true, true],
    ["a.*", true, false],
    ["a.>", true, false],
    [">", true, false],
    ["a*.b", true, true],
    ["a.>.b", false, false],
    ["", false, false],
    [".a", false, false],
    ["a.", false, false],
    ["a..b", false, false],
    ["a b", false, false],
    ["a\tb", false, false],
    ["a\rb", false, false],
    ["a\u007f", false, false],
  ])("%j can be subscribed to: %j, published to: %j", (subject, subscription, published) => {
    expect(isSubscription(subject)).toBe(subscription);
    expect(isLiteral(subject)).toBe(published);
  });

  test("one subscription is within another exactly if it matches nothing else", () => {
    fc.assert(fc.property(pattern, pattern, (narrow, wide) => {
      const really = every.every((subject) => !matches(narrow, subject) || matches(wide, subject));
      const tooLong = narrow.split(".").length > 4;
      // subjects of up to four tokens decide, except for what a tail matches beyond them
      if (isWithin(narrow, wide)) expect(really || tooLong).toBe(true);
      else if (!narrow.endsWith(">")) expect(really && !tooLong).toBe(false);
    }));
  });

  test.each([
    ["arbor.event.>", true],
    ["arbor.event.token.>", true],
    ["arbor.event.*.*.boot", true],
    ["arbor.event.token.0123.boot", true],
    ["arbor.event.*", true],
    ["arbor.event", false],
    ["arbor.>", false],
    ["arbor.*.token", false],
    ["*.event.token", false],
    [">", false],
    ["*", false],
    ["arbor.events.x", false],
    ["Arbor.event.x", false],
    ["_INBOX.>", false],
    ["w.1.cmd", false],
    ["arbor.content.>", false],
    ["arbor.content.wallet.x.live", false],
    ["arbor.*.wallet.>", false],
    ["*.content.>", false],
    ["*.*.*.*.*", false],
  ])("without the token %j may be subscribed to: %j", (subject, allowed) => {
    expect(maySubscribe(GUEST, subject)).toBe(allowed);
    expect(maySubscribe(ALL, subject)).toBe(true);
  });
});

describe("rights", () => {
  const patterns = fc.array(pattern, { maxLength: 3 });

  test("what a permitted subscription delivers is what is allowed and not denied, and no allowed subject is lost", () => {
    fc.assert(fc.property(patterns, patterns, pattern, (allow, deny, subscription) => {
      const rights = { subscribe: { allow, deny }, publish: { allow: [], deny: [] }, guest: false };
      if (!maySubscribe(rights, subscription)) return;
      const denied = deniedPart(rights, subscription.split("."));
      for (const subject of every.filter((one) => matches(subscription, one))) {
        const delivered = !denied.some((one) => matches(one, subject));
        expect(allow.some((one) => matches(one, subject))).toBe(true);
        expect(delivered).toBe(!deny.some((one) => matches(one, subject)));
      }
    }));
  });

  test("a literal subject may be subscribed to or published to exactly if it is allowed and not denied", () => {
    fc.assert(fc.property(patterns, patterns, literal, (allow, deny, subject) => {
      const set = { allow, deny };
      const expected = allow.some((one) => matches(one, subject)) && !deny.some((one) => matches(one, subject));
      expect(maySubscribe({ subscribe: set, publish: GUEST.publish, guest: false }, subject)).toBe(expected);
      expect(mayPublish({ subscribe: GUEST.subscribe, publish: set, guest: false }, subject)).toBe(expected);
    }));
  });
});

describe("routes", () => {
  interface Member {
    readonly subject: string;
    readonly queue: string;
  }
  const member = fc.record({ subject: pattern, queue: fc.constantFrom("", "", "q1", "q2") });

  test("agree with the definition, while subscriptions are added and removed", () => {
    const step = fc.oneof(
      fc.record({ add: member }),
      fc.record({ remove: fc.nat() }),
      fc.record({ ask: literal }),
    );
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const routes = new SubscriptionRoutes<Member>();
      const present: Member[] = [];
      for (const step of steps) {
        if ("add" in step) {
          const added = { ...step.add };
          present.push(added);
          routes.add(added);
        } else if ("remove" in step) {
          const [removed] = present.splice(step.remove % (present.length || 1), 1);
          if (removed) routes.remove(removed);
        } else {
          const found = routes.match(step.ask);
          const expected = present.filter(({ subject }) => matches(subject, step.ask));
          expect(new Set(found.plain)).toEqual(new Set(expected.filter(({ queue }) => !queue)));
          expect(found.plain.length).toBe(expected.filter(({ queue }) => !queue).length);
          for (const queue of ["q1", "q2"]) {
            const group = expected.filter((one) => one.queue === queue);
            expect(found.groups.filter((members) => members[0]!.queue === queue)).toHaveLength(group.length ? 1 : 0);
            const members = found.groups.find((members) => members[0]!.queue === queue) ?? [];
            expect(members).toHaveLength(group.length);
            expect(new Set(members)).toEqual(new Set(group));
          }
        }
        expect(routes.size).toBe(present.length);
      }
    }));
  });

  test("keep nothing of removed subscriptions, nor of a very long subject", () => {
    const routes = new SubscriptionRoutes<Member>();
    const long = { subject: Array(2_000).fill("*").join("."), queue: "" };
    routes.add(long);
    expect(routes.match(Array(2_000).fill("x").join(".")).plain).toEqual([long]);
    expect(routes.match(Array(1_999).fill("x").join(".")).plain).toEqual([]);
    routes.remove(long);
    routes.remove(long);
    expect(routes.size).toBe(0);
    expect(routes.isEmpty).toBe(true);
  });
});
