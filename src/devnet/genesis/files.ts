/** Writes a devnet's genesis files where nodes, wallets and tools can be pointed at them. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { genesisFiles } from "#src/devnet/genesis/json.ts";

/** A file that was written. */
export interface WrittenFile {
  /** The whole path. */
  readonly path: string;
  /** By which nodes know a genesis, in hexadecimal. */
  readonly hash?: string;
}

/** Writes all files into a folder, which is made; the same files again change nothing. Rejects when the folder cannot be written to. */
export async function writeGenesisFiles(folder: string, genesis: Genesis): Promise<WrittenFile[]> {
  await mkdir(folder, { recursive: true });
  return await Promise.all(
    genesisFiles(genesis).map(async ({ name, text, hash }) => {
      const file = path.resolve(folder, name);
      await writeFile(file, text);
      return { path: file, ...(hash ? { hash } : {}) };
    }),
  );
}
