/** The forms of output: tables in a terminal, JSON elsewhere. */
import { describe, expect, it } from "vitest";
import { hasColor, Output, printable, type Screen, short } from "#src/cli/output.ts";

class Written implements Screen {
  text = "";
  constructor(readonly isTTY: boolean) {}
  write(text: string): void {
    this.text += text;
  }
}

function printed(isTTY: boolean, json: boolean, print: (output: Output) => void, env = {}) {
  const [stdout, stderr] = [new Written(isTTY), new Written(isTTY)];
  print(new Output({ json, stdout, stderr, env: { NO_COLOR: "1", ...env } }));
  return { out: stdout.text, err: stderr.text };
}

const list = (output: Output) => output.list([{ a: 1n }], ["name", "n"], [["long name", 1n], ["b", undefined]]);
const record = (output: Output) => output.record({ a: 1 }, [["first", "x"], ["second", null], ["third one", 3]]);
const value = (output: Output) => output.value("ab12", { id: "ab12" });

describe("output", () => {
  it("is a table in a terminal", () => {
    expect(printed(true, false, list)).toEqual({ out: "NAME       N\nlong name  1\nb\n", err: "2 rows\n" });
    expect(printed(true, false, record).out).toBe("first      x\nthird one  3\n");
    expect(printed(true, false, value).out).toBe("ab12\n");
  });

  it("is JSON in a pipe, one value is a line", () => {
    expect(printed(false, false, list)).toEqual({ out: '[{"a":1}]\n', err: "" });
    expect(printed(false, false, record).out).toBe('{"a":1}\n');
    expect(printed(false, false, value).out).toBe("ab12\n");
  });

  it("is JSON with --json", () => {
    expect(printed(false, true, value).out).toBe('{"id":"ab12"}\n');
    expect(printed(true, true, value).out).toBe('{\n  "id": "ab12"\n}\n');
    expect(JSON.parse(printed(true, true, list).out)).toEqual([{ a: 1 }]);
  });

  it("has colours in a terminal, unless NO_COLOR is set", () => {
    expect(printed(true, false, record, { NO_COLOR: undefined }).out).toContain("\u001b[1mfirst\u001b[22m");
    expect(printed(true, false, record).out).not.toContain("\u001b");
    expect(hasColor({ isTTY: true, write: () => {} }, { NO_COLOR: "" })).toBe(true);
    expect(hasColor({ isTTY: true, write: () => {} }, { TERM: "dumb" })).toBe(false);
    expect(hasColor({ write: () => {} }, {})).toBe(false);
  });

  it("escapes what acts on a terminal, and keeps other text", () => {
    expect(printable("a\u001b[2Jb\u009b\u202e\n\udc80é😀")).toBe("a\\u001b[2Jb\\u009b\\u202e\\u000a\\udc80é😀");
    const shown = printed(true, false, (output) => output.list([], ["v"], [["\u001b]0;x\u0007"], ["y".repeat(300)]]));
    expect(shown.out).toBe(`V\n\\u001b]0;x\\u0007\n${"y".repeat(99)}…\n`);
  });

  it("shortens identifiers", () => {
    expect([short("ab".repeat(20)), short("abc"), short(null)]).toEqual(["abababababab…", "abc", ""]);
  });
});
