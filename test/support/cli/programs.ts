/** Programs of the command line: within the process of a test, as bundles for Node, and on a pseudo-terminal. */
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { PassThrough, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import type { Streams } from "#src/cli/streams.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Whether there is a Node, which the bundles are for. */
export const hasNode = spawnSync("node", ["--version"]).status === 0;
/** Whether there is a Python with pseudo-terminals. */
export const hasPty = spawnSync("python3", ["-c", "import pty, fcntl, termios"]).status === 0;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

type Program = (args: readonly string[], streams: Streams) => Promise<number>;

/** Runs a program with a text on standard input; gives its exit code and what it has written. */
export async function runProgram(program: Program, args: readonly string[], input = ""): Promise<Ran> {
  const [out, err] = [collector(), collector()];
  const code = await program(args, {
    input: () => Readable.from(input === "" ? [] : [Buffer.from(input)]).pipe(new PassThrough()),
    output: out.stream,
    errors: err.stream,
    colours: false,
  });
  return { code, out: out.text(), err: err.text() };
}

function collector() {
  let text = "";
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}

/** Bundles entries (files by name) into a folder as JavaScript for Node; what they import later is in files of its own. */
export async function bundleForNode(entries: Readonly<Record<string, string>>, folder: string): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: { ...entries },
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node20",
    metafile: true,
    logLevel: "error",
    // a native addon, which a bundle cannot hold
    external: ["@node-rs/argon2"],
    // CommonJS within the bundle requires Node's modules
    banner: { js: 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);' },
  });
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  return metafile;
}

export interface TerminalRun {
  readonly code: number;
  /** Standard output, where it is a pipe. */
  readonly out: string;
  /** What the terminal shows, with its control sequences: prompts and messages. */
  readonly terminal: string;
}

/** Runs a program on a pseudo-terminal. `answers`: pairs of a text to wait for and the line to type then. */
export async function onTerminal(
  argv: readonly string[],
  answers: readonly (readonly [string, string])[] = [],
  output: "pipe" | "terminal" = "pipe",
): Promise<TerminalRun> {
  const child = spawn("python3", [fileURLToPath(new URL("terminal.py", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { NO_COLOR: _, ...env } = process.env;
  child.stdin.end(JSON.stringify({ argv, answers, output, cwd: root, env: { ...env, TERM: "xterm-256color" } }));
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  await new Promise((resolve) => child.once("close", resolve));
  const { unanswered, ...run } = JSON.parse(text) as TerminalRun & { unanswered: readonly string[] };
  if (unanswered.length > 0) throw new Error(`the prompt ${unanswered[0]} did not come: ${JSON.stringify(run)}`);
  return run;
}

/** The text of a terminal without its control sequences. */
export function plainText(terminal: string): string {
  // deno-lint-ignore no-control-regex -- the sequences begin with a control character
  return terminal.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replaceAll("\r", "");
}
