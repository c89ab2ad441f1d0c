/** `deno task check`: types of all sources, of the examples in docstrings, and of the programs of the documentation. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { writeExamples } from "../support/docs/docstringExamples.ts";
import { type Block, blocksOf, pages, readPage } from "../support/docs/pages.ts";

const isProgram = ({ language, notRun }: Block) => language === "ts" && !notRun?.startsWith("a part of ");
const programs = pages.flatMap((file) =>
  blocksOf(readPage(file)).filter(isProgram).map(({ code, line }) => ({ name: `${file}:${line}`, file, code }))
);
const examples = writeExamples(programs);
try {
  const sources = ["src", "actors", "machines", "test", "examples"];
  process.exitCode =
    spawnSync(process.execPath, ["check", ...sources, ...examples.files], { stdio: "inherit" }).status ?? 1;
} finally {
  examples.remove();
}
