/** Creates folders in a way that ends on every file system. */
import { mkdirSync, statSync } from "node:fs";
import path from "node:path";
import { errorCode } from "#src/base/errorCode.ts";

const isFolder = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Creates a folder, and those above it that are missing. With `recursive` Node 20 goes on without end where a file system
 * takes no folder and says ENOENT for it, as /proc does.
 */
export function createFolder(folder: string, mode = 0o777): void {
  if (isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) createFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (errorCode(error) === "ENOENT") throw new Error(`no folder can be created in ${above}`);
    // another process may have created it in the meantime
    if (errorCode(error) !== "EEXIST" || !isFolder(folder)) throw error;
  }
}
