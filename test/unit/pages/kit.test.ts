/** The parts of the pages' kit that need no browser. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decimalText, unitsOf } from "#src/pages/kit/amounts.tsx";
import { niceMaximum } from "#src/pages/kit/charts.tsx";
import { match, pathOf, type Route } from "#src/pages/kit/router.ts";
import { span } from "#src/pages/kit/span.ts";

describe("amounts", () => {
  it("are read back as they were written, for every number of decimals", () => {
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.nat(18), (amount, decimals) => {
      fc.pre(decimalText(amount, decimals).split(".")[0]!.replaceAll(",", "").length <= 20);
      expect(unitsOf(decimalText(amount, decimals), decimals)).toBe(amount);
    }));
  });

  it.each([
    ["1", 1_000_000n],
    [" 1.5 ", 1_500_000n],
    ["1.", 1_000_000n],
    ["0.000001", 1n],
    ["1,234.5", 1_234_500_000n],
    ["45000000000", 45_000_000_000_000_000n],
  ])("%j is %s lovelace", (text, lovelace) => expect(unitsOf(text, 6)).toBe(lovelace));

  it.each(["", ".", "-1", "+1", "1e3", "1.0000001", "1,23", "0x10", "1 000", "NaN", "１"])("%j is refused", (text) => {
    expect(unitsOf(text, 6)).toBeUndefined();
  });

  it("keep their sign", () => expect(decimalText(-1n, 6)).toBe("-0.000001"));
});

describe("addresses of a page", () => {
  const view = () => null;
  const routes: readonly Route[] = [
    { path: "/", title: "start", view },
    { path: "/token/:id", title: "token", view },
    { path: "/fact/:token/*", title: "rest", view },
  ];
  const found = (path: string) => {
    const one = match(routes, path);
    return one && [one.route.title, one.params];
  };

  it.each([
    ["/", ["start", {}]],
    ["", ["start", {}]],
    ["/token/ab", ["token", { id: "ab" }]],
    ["/token/a%2Fb", ["token", { id: "a/b" }]],
    ["/token/ab/", ["token", { id: "ab" }]],
    ["/fact/ab", ["rest", { token: "ab" }]],
    ["/fact/ab/c/d", ["rest", { token: "ab" }]],
  ])("%j is %j", (path, view) => expect(found(path)).toEqual(view));

  it.each(["/token", "/token/a/b", "/tokens", "/token/%", "/fact", "/token/..", "/token/%2e"])("%j is none", (path) => {
    expect(found(path)).toBeUndefined();
  });

  it("are read back as they were made, whatever a part holds", () => {
    fc.assert(fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (id) => {
      fc.pre(!/^\.\.?$/.test(id));
      expect(found(pathOf("token", id))).toEqual(["token", { id }]);
    }));
  });
});

it.each([[0, "0 ms"], [999, "999 ms"], [1_000, "1.0 s"], [59_000, "59 s"], [120_000, "2 min"], [7_200_000, "2 h"]])(
  "%i ms is %s",
  (ms, text) => expect(span(ms)).toBe(text),
);

it("a scale ends at or above its greatest value, and less than three times as high", () => {
  fc.assert(fc.property(fc.integer({ min: 6, max: 1e9 }), (value) => {
    const end = niceMaximum(value);
    expect(end).toBeGreaterThanOrEqual(value);
    expect(end).toBeLessThan(value * 3);
  }));
});
