/** Programs of the command line within the process of a test, with streams of the test. */
import { PassThrough, Readable, Writable } from "node:stream";
import type { Streams } from "#src/cli/streams.ts";

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
