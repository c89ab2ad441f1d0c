/** Examples in docstrings: all of them have right types (`deno task check` checks them as well), and programs run. */
import { execFile } from "node:child_process";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { blocks, runs, SETUPS, writeExamples, type WrittenExamples } from "../../support/docs/docstringExamples.ts";
import { itLong } from "../../support/base/longTests.ts";

let written: WrittenExamples;
beforeAll(() => {
  written = writeExamples();
});
afterAll(() => written.remove());

describe("examples in docstrings", () => {
  it("are found, and every setup is one of a file with examples", () => {
    expect(blocks.length).toBeGreaterThan(10);
    const files = new Set(blocks.map(({ file }) => file));
    expect(Object.keys(SETUPS).filter((file) => !files.has(file))).toEqual([]);
  });

  itLong("have right types", async () => {
    const failure = await promisify(execFile)(process.execPath, ["check", ...written.files], {
      env: { ...process.env, NO_COLOR: "1" },
    })
      .then(() => "", ({ stderr }: { stderr: string }) => stderr.replace(/^Check .*\n/gm, ""));
    expect(failure).toBe("");
  });

  it.each(blocks.filter(runs))("$name runs", async (block) => {
    vi.spyOn(console, "log").mockReturnValue();
    await import(/* @vite-ignore */ pathToFileURL(written.fileOf(block)).href);
  });
});
