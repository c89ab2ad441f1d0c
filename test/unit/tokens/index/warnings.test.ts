/** Which requests would fail after the open ones for their key, and with which one of those they conflict. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import type { Operation } from "#src/contract/datum.ts";
import { expectedFailure, requestOutlooks } from "#src/tokens/index/warnings.ts";

const insert = (value: string): Operation => ({ type: "insert", value: utf8(value) });
const remove = (value: string): Operation => ({ type: "delete", value: utf8(value) });
const update = (old: string, value: string): Operation => ({ type: "update", old: utf8(old), value: utf8(value) });
const open = (...operations: Operation[]) => operations.map((operation, i) => ({ ref: `open ${i}`, operation }));
const found = (value: string | undefined, before: Operation[], operation: Operation) => {
  const failure = expectedFailure(value === undefined ? undefined : utf8(value), open(...before), operation);
  return failure && [failure.code, failure.request];
};

describe("a request", () => {
  it("without open ones conflicts with none, whether it fails or not", () => {
    expect(found(undefined, [], insert("a"))).toBeUndefined();
    expect(found("a", [], insert("a"))).toEqual(["fact_exists", undefined]);
    expect(found(undefined, [], remove("a"))).toEqual(["fact_missing", undefined]);
    expect(found("a", [], update("b", "c"))).toEqual(["fact_differs", undefined]);
  });

  it("may follow open ones", () => {
    expect(found("a", [update("a", "b")], update("b", "c"))).toBeUndefined();
    expect(found("a", [remove("a")], insert("b"))).toBeUndefined();
    expect(found(undefined, [insert("a"), update("a", "b")], remove("b"))).toBeUndefined();
    expect(found("a", [update("a", "b"), update("b", "a")], remove("a"))).toBeUndefined();
    // the open one fails itself
    expect(found("a", [insert("b")], remove("a"))).toBeUndefined();
  });

  it("conflicts with the one after which it cannot be applied", () => {
    expect(found(undefined, [insert("a")], insert("a"))).toEqual(["fact_exists", "open 0"]);
    expect(found("a", [remove("a")], remove("a"))).toEqual(["fact_missing", "open 0"]);
    expect(found("a", [remove("b"), update("a", "b")], update("a", "c"))).toEqual(["fact_differs", "open 1"]);
    expect(found(undefined, [insert("a"), update("a", "b")], remove("a"))).toEqual(["fact_differs", "open 1"]);
    expect(found("a", [update("a", "b"), update("b", "a"), remove("a")], remove("a"))).toEqual([
      "fact_missing",
      "open 2",
    ]);
  });

  it("that could never be applied conflicts with none", () => {
    expect(found("a", [update("a", "b")], remove("c"))).toEqual(["fact_differs", undefined]);
    expect(found("a", [update("a", "b")], insert("c"))).toEqual(["fact_exists", undefined]);
  });

  it("fails exactly if the open ones leave another value, and conflicts exactly if it could be applied before", () => {
    const value = fc.constantFrom("a", "b");
    const operation = fc.oneof(
      value.map(insert),
      value.map(remove),
      fc.tuple(value, value).map(([old, next]) => update(old, next)),
    );
    const needs = (one: Operation) =>
      one.type === "insert" ? undefined : String.fromCharCode((one.type === "update" ? one.old : one.value)[0]!);
    const gives = (one: Operation) => one.type === "delete" ? undefined : String.fromCharCode(one.value[0]!);
    fc.assert(
      fc.property(
        fc.option(value, { nil: undefined }),
        fc.array(operation, { maxLength: 6 }),
        operation,
        (start, before, last) => {
          const values: (string | undefined)[] = [start];
          for (const one of before) values.push(needs(one) === values.at(-1) ? gives(one) : values.at(-1));
          const failure = found(start, before, last);
          expect(failure === undefined).toBe(values.at(-1) === needs(last));
          if (failure) {
            const applies = values.lastIndexOf(needs(last));
            expect(failure[1]).toBe(applies < 0 ? undefined : `open ${applies}`);
          }
        },
      ),
    );
  });
});

describe("the outlook of open requests for a key", () => {
  const outlooks = (value: string | undefined, ...operations: Operation[]) => {
    const open = operations.map((operation, i) => ({ ref: `open ${i}`, operation }));
    const all = requestOutlooks(value === undefined ? undefined : utf8(value), open);
    return open.map(({ ref }) => {
      const { failure, older } = all.get(ref)!;
      return [failure?.code, older];
    });
  };

  it("is that of the oldest first: each after those that would be applied", () => {
    expect(outlooks(undefined, insert("a"), insert("b"), update("a", "c"), remove("c"))).toEqual([
      [undefined, undefined],
      ["fact_exists", "open 0"],
      [undefined, "open 0"],
      [undefined, "open 2"],
    ]);
  });

  it("names no older request where it would fail without it as well", () => {
    expect(outlooks("a", insert("b"), update("x", "y"), remove("a"), remove("a"))).toEqual([
      ["fact_exists", undefined],
      ["fact_differs", undefined],
      [undefined, undefined],
      ["fact_missing", "open 2"],
    ]);
  });
});
