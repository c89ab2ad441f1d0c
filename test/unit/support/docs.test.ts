/** The parsers of the documentation, on pages of their own. */
import { describe, expect, it } from "vitest";
import { anchorsOf, blocksOf, differences, inlineCode, lastJson } from "../../support/docs/pages.ts";

describe("a page", () => {
  it("has blocks with the content of their comments", () => {
    const text =
      "<!-- not run: why -->\n\n```sh\nls\n```\n\ntext\n\n```sh\npwd\n```\n\n<!-- varies: a b -->\n```json\n{}\n```\n";
    expect(blocksOf(text)).toEqual([
      { language: "sh", code: "ls\n", line: 3, notRun: "why", varies: [] },
      { language: "sh", code: "pwd\n", line: 9, varies: [] },
      { language: "json", code: "{}\n", line: 14, varies: ["a", "b"] },
    ]);
    expect(() => blocksOf("```sh\nls\n")).toThrow("line 1");
  });

  it("has anchors and inline code outside of its blocks", () => {
    const text = "# A `b` & C\n\n## A\n\n## A\n\n```sh\n# no `heading`\n```\n\nSee `one` and ``two ` three``.\n";
    expect([...anchorsOf(text)]).toEqual(["a-b--c", "a", "a-1"]);
    expect(inlineCode(text)).toEqual(["b", "one", "two ` three"]);
  });
});

describe("a documented answer", () => {
  const real = { id: "ab12", n: 5, list: [1, 2], inner: { a: true, b: null } };
  it.each<[string, unknown, string[], number]>([
    ["is equal", real, [], 0],
    ["shortens identifiers, lists and objects", { id: "…", n: 5, list: [1, "…"], inner: { a: true, "…": "…" } }, [], 0],
    ["has values that vary", { ...real, n: 6, inner: { a: false, b: 1 } }, ["n", "inner"], 0],
    ["has another number", { ...real, n: 6 }, [], 1],
    ["has another type where values vary", { ...real, n: "5" }, ["n"], 1],
    ["has another form where values vary", { ...real, inner: { a: true } }, ["inner"], 1],
    ["lacks a member", { id: "ab12", n: 5, list: [1, 2] }, [], 1],
    ["has an additional member", { ...real, more: 1 }, [], 1],
    ["has fewer elements", { ...real, list: [1] }, [], 1],
    ["begins a sentence differently", { ...real, id: "no such …" }, [], 1],
  ])("that %s", (_, documented, varies, found) => {
    expect(differences(documented, real, varies)).toHaveLength(found);
  });

  it("is compared with the last JSON that was printed", () => {
    expect(lastJson('{"a":1}\ntext\n{"a":\n 2}\n')).toEqual({ a: 2 });
    expect(() => lastJson("text\n")).toThrow("no JSON");
  });
});
