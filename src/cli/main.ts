/** The program `arbor`. */
import process from "node:process";
import { programLine } from "#src/base/program.ts";
import { TERMINAL_ADVICE } from "#src/cli/advice.ts";
import { arborProgram } from "#src/cli/arbor/program.ts";
import { run } from "#src/cli/run.ts";

const ADDRESSES = "see arbor --help for options with their addresses.";

await run(arborProgram(), process.argv, {
  hints: {
    ...TERMINAL_ADVICE,
    unreachable: `Is the service started, and at this address? \`${
      programLine("start")
    }\` starts all of them; ${ADDRESSES}`,
    not_found: `Is this the address of another service? ${ADDRESSES.replace("see", "See")}`,
    not_enough_money: "On a devnet, `arbor devnet fund FILE 500 --wait` pays to the key in a file.",
    unauthorized: "Put it into ARBOR_OPERATOR_TOKEN, or name a file with --operator-token-file.",
  },
});
