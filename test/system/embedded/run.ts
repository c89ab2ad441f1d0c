/** Starts `parent.ts` and reads its output. */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** One line of output of `parent.ts`. */
export interface Said {
  readonly progress?: string;
  readonly url?: string;
  readonly pid?: number;
  readonly code?: string;
  readonly message?: string;
  readonly lost?: string;
  readonly running?: boolean;
}

export interface Run {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly said: Said[];
  /** The first line that satisfies a condition; rejects if the process ends without it. */
  next(wanted: (said: Said) => boolean): Promise<Said>;
  /** Resolves when the process ended, with its exit code or signal. */
  readonly ended: Promise<number | string>;
}

export interface RunOptions {
  /** The program and its arguments before the script; this runtime by default. */
  readonly command?: string[];
  readonly script?: string;
  readonly env?: Record<string, string>;
  readonly uid?: number;
  readonly gid?: number;
  readonly cwd?: string;
}

const SCRIPT = fileURLToPath(new URL("./parent.ts", import.meta.url));

/** Starts the script in its own session, as a terminal would. */
export function run(args: string[], options: RunOptions = {}): Run {
  const [program, ...before] = options.command ?? [process.execPath, "run", "-A", "-q"];
  const { uid, gid, cwd } = options;
  const child = spawn(program!, [...before, options.script ?? SCRIPT, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, ...options.env },
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
    ...(cwd === undefined ? {} : { cwd }),
  });
  const said: Said[] = [];
  const listeners = new Set<() => void>();
  let rest = "";
  let errors = "";
  let over: number | string | undefined;
  const notify = () => [...listeners].forEach((listener) => listener());
  child.stdout!.on("data", (chunk: { toString(): string }) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop()!;
    said.push(...lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Said));
    notify();
  });
  child.stderr!.on("data", (chunk: { toString(): string }) => errors += chunk.toString());
  const ended = new Promise<number | string>((resolve) =>
    child.once("close", (code, signal) => {
      resolve(over = code ?? signal ?? "unknown");
      notify();
    })
  );
  const next = (wanted: (said: Said) => boolean) =>
    new Promise<Said>((resolve, reject) => {
      const look = () => {
        const found = said.find(wanted);
        if (found) resolve(found);
        else if (over !== undefined) reject(new Error(`ended with ${over}: ${JSON.stringify(said)} ${errors}`));
        else return;
        listeners.delete(look);
      };
      listeners.add(look);
      look();
    });
  return { child, pid: child.pid!, said, next, ended };
}
