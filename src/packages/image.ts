/**
 * Prepares the folder of an image, where no file can be written later: bundles what browsers load, and makes the links
 * of PostgreSQL's programs. A process then needs no bundler.
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findBinaries } from "#src/embedded/postgres/binaries.ts";
import { DEVNET_SERVER, writeBrowserBundles } from "#src/packages/packServer.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
await writeBrowserBundles(root, root, DEVNET_SERVER);
findBinaries(undefined, root, (line) => process.stdout.write(line + "\n"));
