/** Runs PostgreSQL's programs as an account, with access to the data folder. */
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { canReach, type SystemAccount } from "#src/embedded/postgres/account.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";

/** Where the programs are, and the account that runs them. */
export interface ServerPrograms {
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  /** The account; undefined: the present user. */
  readonly account: SystemAccount | undefined;
}

/** Descriptors for a program: a file to read, and its output. */
interface LaunchDescriptors {
  /** A file opened for reading, which the program opens as `HANDED_FILE`. */
  readonly file?: number;
  readonly output: number | "pipe";
  readonly detached?: boolean;
}

/** The path under which a program opens the passed file. */
export const HANDED_FILE = "/dev/fd/4";

/**
 * Starts a program on a data folder.
 *
 * If the account cannot pass through the folders above the data (a project in a closed home directory), the data folder
 * is opened here and passed as a descriptor, through which the program can enter it: Linux's `/proc/self/fd`. A shell
 * moves the descriptor away from standard input, because Node passes no more than three descriptors here.
 */
export function launch(
  place: ServerPrograms,
  program: string,
  data: string,
  args: string[],
  handed: LaunchDescriptors,
): ChildProcess {
  const { native, account } = place;
  const closed = account !== undefined && !canReach(data, account);
  if (closed && process.platform !== "linux") {
    throw new EmbeddedError(
      "not_reachable",
      `The account that must run PostgreSQL cannot enter ${data}; start as a user other than root, or set DATABASE_URL.`,
    );
  }
  const folder = openSync(closed ? data : "/", "r");
  try {
    const stdio: StdioOptions = [folder, handed.file ?? "ignore", handed.output];
    const child = spawn(
      "/bin/sh",
      [
        "-c",
        // the library path is for the program, not for this shell
        "LD_LIBRARY_PATH=$1 DYLD_LIBRARY_PATH=$1; export LD_LIBRARY_PATH DYLD_LIBRARY_PATH; shift; " +
        'exec "$@" 3<&0 4<&1 0</dev/null 1>&2',
        "sh",
        join(native, "lib"),
        join(native, "bin", program),
        "-D",
        closed ? "/proc/self/fd/3" : data,
        ...args,
      ],
      {
        cwd: "/",
        stdio,
        detached: handed.detached ?? false,
        env: {
          LC_ALL: "C",
          TZ: "UTC",
          PATH: process.env.PATH ?? "/usr/bin:/bin",
        },
        ...account,
      },
    );
    child.on("error", () => {});
    return child;
  } finally {
    closeSync(folder);
  }
}

/** The end of a program: its exit code or signal, and its error output if that was piped. */
export async function waitForExit(child: ChildProcess): Promise<{ code: number | string; output: string }> {
  let output = "";
  child.stderr?.on("data", (chunk: { toString(): string }) => output = (output + chunk.toString()).slice(-8_000));
  const code = await new Promise<number | string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  return { code, output: output };
}
