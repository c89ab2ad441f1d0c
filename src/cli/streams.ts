/** Where a command reads and writes: the streams of the process, or those of a test. */
import process from "node:process";
import type { Readable } from "node:stream";
import { errorCode } from "#src/base/errorCode.ts";
import { fileFault } from "#src/base/fileFault.ts";
import { CliError } from "#src/cli/error.ts";

/** A stream for text; a terminal or not. */
export type TextStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

export interface Streams {
  /** Standard input. It is opened at the first use, since a process with an open input does not end. */
  readonly input: () => Readable & { readonly isTTY?: boolean; readonly setRawMode?: (raw: boolean) => unknown };
  readonly output: TextStream;
  /** Messages and prompts. */
  readonly errors: TextStream;
  /** Whether messages may be coloured. */
  readonly colours: boolean;
}

/** The error of a standard output that takes no more, as of a full disk; undefined where it is another one. */
export function outputFailure(error: unknown): CliError | undefined {
  if (errorCode(error) !== "ENOSPC") return undefined;
  return new CliError(`The output cannot be written: ${fileFault(error)}.`, "file_not_written");
}

/** Ends the process where its output takes no more: in silence where a reader, such as `head`, has read enough. */
export function endWithOutput(): void {
  process.stdout.on("error", (error) => {
    if (errorCode(error) === "EPIPE") process.exit(process.exitCode ?? 0);
    const failure = outputFailure(error);
    if (failure === undefined) throw error;
    process.stderr.write(`${failure.message}\n`);
    process.exit(1);
  });
}

/** The streams of this process. */
export function processStreams(): Streams {
  endWithOutput();
  return {
    input: () => process.stdin,
    output: process.stdout,
    errors: process.stderr,
    colours: process.stderr.isTTY === true && !process.env.NO_COLOR,
  };
}
