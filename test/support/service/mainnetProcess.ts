/**
 * A service whose devnet has mainnet's magic and mainnet's network id. Only tests have one: no option permits it, since
 * a devnet is never mainnet.
 */
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { ok } from "#src/base/result.ts";
import { HELP, readOptions } from "#src/app/options.ts";
import { run } from "#src/app/run.ts";

const read = readOptions([]);
await run(read.ok && read.value !== "help" ? ok({ ...read.value, networkMagic: MAINNET_MAGIC }) : read, HELP);
