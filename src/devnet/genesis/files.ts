/** Writes a devnet's genesis files, for nodes, wallets and tools. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { genesisFiles } from "#src/devnet/genesis/json.ts";

/** A written file. */
export interface WrittenFile {
  /** Its full path. */
  readonly path: string;
  /** The hash by which nodes identify a genesis, in hexadecimal. */
  readonly hash?: string;
}

/**
 * Writes all files into a folder, which is created; writing the same files again changes nothing. Rejects if the folder
 * is not writable.
 */
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
