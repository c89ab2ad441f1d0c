/** The entry of `cardano-wallet`. */
import process from "node:process";
import { run } from "#src/cli/cardanoWallet/program.ts";
import { processStreams } from "#src/cli/streams.ts";

process.exitCode = await run(process.argv.slice(2), processStreams());
