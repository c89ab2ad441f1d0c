/** The program `arbor`. */
import process from "node:process";
import { programLine } from "#src/base/program.ts";
import { arborProgram } from "#src/cli/arbor/program.ts";
import { run } from "#src/cli/run.ts";

await run(arborProgram(), process.argv, {
  hints: {
    unreachable: `Is the service started, and at this address? \`${
      programLine("start")
    }\` starts all of them; see arbor --help for options with their addresses.`,
    unauthorized: "Put it into ARBOR_OPERATOR_TOKEN, or name a file with --operator-token-file.",
  },
});
