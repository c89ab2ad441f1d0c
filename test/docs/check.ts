/** `deno task check`: types of all sources, and of the examples in docstrings. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { writeExamples } from "../support/docs/docstringExamples.ts";

const examples = writeExamples();
try {
  const sources = ["src", "actors", "machines", "test", "examples"];
  process.exitCode =
    spawnSync(process.execPath, ["check", ...sources, ...examples.files], { stdio: "inherit" }).status ?? 1;
} finally {
  examples.remove();
}
