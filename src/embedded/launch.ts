/** Running PostgreSQL's programs: under which account, with which view of the data folder, and what they said. */
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type Account, canReach } from "#src/embedded/account.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";

/** Where the programs and the data are, and who runs them. */
export interface Place {
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  /** The account to drop to; undefined runs as ourselves. */
  readonly account: Account | undefined;
}

/** What a program is handed: standard input or a file opened by us, and a file for what it says. */
interface Handed {
  /** A file opened for reading, which the program knows by the name `HANDED_FILE`. */
  readonly file?: number;
  readonly output: number | "pipe";
  readonly detached?: boolean;
}

/** The name under which a program finds the file that it was handed. */
export const HANDED_FILE = "/dev/fd/4";

/**
 * Starts a program on a data folder.
 *
 * Where the account cannot pass through the folders above the data (a project under a home that is closed to others), the
 * data folder is opened here and handed over as an open descriptor, through which the program may enter it: Linux's
 * `/proc/self/fd`. A shell moves it out of the way of standard input, since no more than three descriptors can be handed over.
 */
export function launch(place: Place, program: string, data: string, args: string[], handed: Handed): ChildProcess {
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
        // The libraries are for the program and not for this shell.
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

/** How a program ended: its exit code or the signal, and, where it was piped, what it said. */
export async function outcome(child: ChildProcess): Promise<{ code: number | string; said: string }> {
  let said = "";
  child.stderr?.on("data", (chunk: { toString(): string }) => said = (said + chunk.toString()).slice(-8_000));
  const code = await new Promise<number | string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  return { code, said };
}
