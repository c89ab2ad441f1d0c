/** The entry of `wallet-key-export`. */
import process from "node:process";
import { runKeyExport } from "#src/cli/cardanoWallet/program.ts";
import { processStreams } from "#src/cli/streams.ts";

process.exitCode = await runKeyExport(process.argv.slice(2), processStreams());
