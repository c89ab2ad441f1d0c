/** What a package has in place of `src/base/program.ts`. */
import path from "node:path";
import process from "node:process";

/** The command line of a program: by its name where that is found, and not with npx, whose names end with it. */
export function programLine(name: "start" | "demo"): string {
  const file = process.argv[1] ?? "arbor";
  const { PATH = "", npm_command: npm } = process.env;
  if (npm !== "exec" && PATH.split(path.delimiter).includes(path.dirname(file))) return `arbor ${name}`;
  return `${"Deno" in globalThis ? "deno run -A" : "node"} ${file} ${name}`;
}
