/** The program `signer`; with `--three` as its first argument the program `signers`. */
import process from "node:process";
import { signer } from "#src/app/programs.ts";

const three = process.argv[2] === "--three";
process.exitCode = await signer(process.argv.slice(three ? 3 : 2), { three });
