/**
 * Runs the program `arbor` as a process: in system tests the packed one on Node, which is what users run; in unit tests,
 * and where there is no Node, that of the sources.
 */
import { spawn } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import type {} from "../infra/providedContext.ts";

const main = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Folder in which it runs; default: that of its source. */
  readonly cwd?: string;
  /** What is typed once a prompt is shown; nothing before it. */
  readonly answer?: { readonly to: string; readonly text: string };
  /** Program with its first arguments; default: `arborCommand()`. */
  readonly command?: readonly string[];
}

/** The command line that starts `arbor`. */
export function arborCommand(): readonly string[] {
  const programs = inject("programs");
  if (programs !== undefined) return ["node", path.join(programs, "bin", "arbor.js")];
  return "Deno" in globalThis
    ? [process.execPath, "run", "-A", "--quiet", main]
    : [process.execPath, "--import", "tsx", main];
}

/** Runs a program to its end; its standard input is a pipe. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const [program, ...first] = options.command ?? arborCommand();
  const child = spawn(program!, [...first, ...args], {
    cwd: options.cwd ?? path.dirname(main),
    env: { ...process.env, NO_COLOR: "", ...options.env },
  });
  let [stdout, stderr] = ["", ""];
  let { answer } = options;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (answer === undefined || !stdout.includes(answer.to)) return;
    child.stdin.write(answer.text);
    answer = undefined;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
  child.stdin.on("error", () => {}); // a program that does not read
  if (options.answer === undefined) child.stdin.end(options.input ?? "");
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    child.once("exit", () => child.stdin.destroy());
  });
}

/** A command line for a POSIX shell. */
export const shellLine = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");

/** The same, in a pseudo-terminal of 200 columns; standard output and error are one. Needs util-linux' `script`. */
export async function runInTerminal(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const line = shellLine([...(options.command ?? arborCommand()), ...args]);
  const command = ["script", "-qefc", `stty cols 200 -echo; ${line}`, "/dev/null"];
  return await runCli([], { ...options, command, env: { TERM: "xterm", ...options.env } });
}
