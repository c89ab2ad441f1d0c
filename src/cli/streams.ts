/** Where a command reads and writes: the streams of the process, or those of a test. */
import process from "node:process";
import type { Readable } from "node:stream";
import { errorCode } from "#src/base/errorCode.ts";

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

/** The streams of this process. A reader that closes its pipe, as `head` does, ends the process in silence. */
export function processStreams(): Streams {
  process.stdout.on("error", (error) => {
    if (errorCode(error) !== "EPIPE") throw error;
    process.exit(process.exitCode ?? 0);
  });
  return {
    input: () => process.stdin,
    output: process.stdout,
    errors: process.stderr,
    colours: process.stderr.isTTY === true && !process.env.NO_COLOR,
  };
}
