/**
 * The program `signer`: a signing service for one wallet, with the options that such a service is known by. With
 * `--three` as its first argument it starts a devnet and three of them, for an owner and two requesters.
 */
import process from "node:process";
import { run } from "#src/app/run.ts";
import { readSignerOptions, SIGNER_PROGRAM_HELP } from "#src/app/signerProgram.ts";

const three = process.argv[2] === "--three";
await run(readSignerOptions(process.argv.slice(three ? 3 : 2), process.env, { three }), SIGNER_PROGRAM_HELP);
