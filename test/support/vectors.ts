/** The folder of shared test vectors beside the project, where there is one. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../../shared/vectors/", import.meta.url));

/** Path of a file or folder under the vectors, or undefined where the folder is missing; the skip is said aloud. */
export function vectors(path: string): string | undefined {
  if (existsSync(folder + path)) return folder + path;
  console.warn(`SKIPPED: no shared vectors (${path}) beside the project`);
  return undefined;
}
