/** Packages of this checkout in a project, as npm installs them, without a registry. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { pack } from "#src/packages/pack.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Whether packages can be packed and run here. */
export const hasNode = spawnSync("node", ["--version"]).status === 0 && spawnSync("npm", ["--version"]).status === 0;

/** The folder of an installed package. */
export const packageFolder = (home: string, name: string): string =>
  path.join(home, "node_modules", "@arbor-cardano", name);

/** The manifest of an installed package. */
export const packageManifest = (
  home: string,
  name: string,
): Readonly<Record<"dependencies" | "peerDependencies", Readonly<Record<string, string>>>> =>
  JSON.parse(readFileSync(path.join(packageFolder(home, name), "package.json"), "utf8"));

/** Unpacks a tarball into a project, with the libraries that it names and `others`, which are links to this checkout's. */
export function unpack(home: string, name: string, tarball: string, others: readonly string[] = []): void {
  const folder = packageFolder(home, name);
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", folder, "--strip-components", "1"]);
  for (const library of [...Object.keys(packageManifest(home, name).dependencies ?? {}), ...others]) {
    const link = path.join(home, "node_modules", library);
    if (existsSync(link)) continue;
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(root, "node_modules", library), link);
  }
}

/** Packs a package into a project and unpacks it there. */
export async function install(home: string, name: string, others: readonly string[] = []): Promise<void> {
  const [packed] = await pack(home, [name]);
  unpack(home, name, packed!.tarball, others);
}
