/** Test vectors of other projects: test/vectors/NOTICE names the origin and licence of each. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { extract } from "tar";

const folder = fileURLToPath(new URL("../../vectors/", import.meta.url));
const cache = fileURLToPath(new URL("../../../node_modules/.cache/arbor-vectors/", import.meta.url));

const unpacked = new Map<string, string>();

/** Unpacks `<name>.tar.gz` once per content; several test processes may do so at the same time. */
function unpack(name: string): string {
  const archive = `${folder}${name}.tar.gz`;
  const target = `${cache}${createHash("sha256").update(readFileSync(archive)).digest("hex")}`;
  if (existsSync(target)) return target;
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(`${cache}partial-`);
  extract({ file: archive, cwd: partial, sync: true });
  try {
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { recursive: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/**
 * Path of a vector file, or of a file or folder inside an archive (`blocks/single` is `single` in `blocks.tar.gz`).
 *
 * @throws Error if the vectors have nothing of that name
 */
export function vectors(path: string): string {
  const [name] = path.split("/") as [string];
  if (!unpacked.has(name)) unpacked.set(name, existsSync(folder + name) ? folder : `${unpack(name)}/`);
  const found = unpacked.get(name)! + path;
  if (!existsSync(found)) throw new Error(`no test vectors at ${path}`);
  return found;
}
