/**
 * A process of a benchmark: it receives its settings, reports when it is ready, and answers requests, in lines of JSON.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SETTINGS = "ARBOR_BENCH_SETTINGS";
const MARK = "@bench ";

export interface Child<Ready, Question, Answer> {
  readonly pid: number;
  readonly ready: Ready;
  ask(question: Question): Promise<Answer>;
  signal(name: "SIGKILL" | "SIGTERM"): void;
  /** Resolves once the process has ended. */
  readonly exited: Promise<void>;
}

const running = new Set<ChildProcess>();

/** Starts a script of this folder on Deno, or `command` if one is given; resolves when it is ready. */
export async function startChild<Ready, Question = never, Answer = never>(
  script: string,
  settings: unknown,
  command: readonly string[] = [
    process.execPath,
    "run",
    "-A",
    ...(process.env.ARBOR_BENCH_FLAGS?.split(" ") ?? []),
    fileURLToPath(new URL(script, import.meta.url)),
  ],
  env: Readonly<Record<string, string>> = {},
): Promise<Child<Ready, Question, Answer>> {
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env, [SETTINGS]: JSON.stringify(settings) },
  });
  running.add(child);
  const exited = once(child, "exit").then(() => void running.delete(child));
  const waiting: ((value: unknown) => void)[] = [];
  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      waiting.push(resolve);
      exited.then(() => reject(new Error(`${script} ended with ${child.exitCode ?? child.signalCode}`)));
    });
  const ready = next();
  createInterface({ input: child.stdout! }).on("line", (line) => {
    if (line.startsWith(MARK)) waiting.shift()?.(JSON.parse(line.slice(MARK.length)));
  });
  return {
    pid: child.pid!,
    ready: await ready as Ready,
    ask: async (question) => {
      child.stdin!.write(JSON.stringify(question) + "\n");
      return await next() as Answer;
    },
    // Deno's own kill of a child sends only the first signal.
    signal: (name) => {
      if (child.exitCode === null && child.signalCode === null) process.kill(child.pid!, name);
    },
    exited,
  };
}

/** Ends every process that still runs, at once. */
export function endChildren(): void {
  for (const child of running) process.kill(child.pid!, "SIGKILL");
}

/** In a child: its settings. */
export function settings<T>(): T {
  return JSON.parse(process.env[SETTINGS]!) as T;
}

/** In a child: reports that it is ready, and answers requests; requests may overlap only if their answers are alike. */
export function serve<Question, Answer>(ready: unknown, answer?: (question: Question) => Promise<Answer>): void {
  const say = (value: unknown) => process.stdout.write(`${MARK}${JSON.stringify(value ?? null)}\n`);
  say(ready);
  if (answer === undefined) return;
  createInterface({ input: process.stdin }).on("line", (line) => {
    answer(JSON.parse(line) as Question).then(say, (error) => {
      process.stderr.write(`${error}\n`);
      process.exit(1);
    });
  });
}
