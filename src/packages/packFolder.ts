/** The folder of a package: its manifest, the licences of what is in it, and its tarball. */
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";
import { VERSION } from "#src/base/version.ts";
import { licencesOf } from "#src/packages/licences.ts";
import type { Libraries } from "#src/packages/packServer.ts";

/** The checkout. */
export const root = fileURLToPath(new URL("../../", import.meta.url));
/** Where the sources of the packages are. */
export const here = fileURLToPath(new URL("./", import.meta.url));
const NODE = ">=20";

/** A packed package. */
export interface Packed {
  readonly name: string;
  readonly tarball: string;
  /** Bytes after gzip of what each entry loads, by its specifier below the package; for programs, by their names. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** The program that writes projects, with the name that `npm create arbor` looks for. */
export const CREATE = "create-arbor";

export const SCOPE = "@arbor-cardano/";
export const nameOf = (name: string) => name === CREATE ? name : SCOPE + name;
export const fileOf = (specifier: string) => specifier === "." ? "index" : specifier.slice(2);

interface Manifest {
  readonly license: string;
  readonly dependencies: Libraries;
  readonly devDependencies: Libraries;
}

const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Manifest;

/** The versions of all libraries of this checkout. */
export const libraries: Libraries = { ...manifest.dependencies, ...manifest.devDependencies };

/** The versions of libraries in this checkout; `range` goes before each. */
export const versionsOf = (names: readonly string[], range: "" | "^" = ""): Libraries =>
  Object.fromEntries(names.map((name) => [name, `${range}${manifest.dependencies[name]}`]));

/** Packages that some uses need. */
export const optionalPeers = (libraries: Libraries) => ({
  peerDependencies: libraries,
  peerDependenciesMeta: Object.fromEntries(Object.keys(libraries).map((name) => [name, { optional: true }])),
});

/** The licences of what is in the bundles of a package. */
export function writeLicences(folder: string, metafiles: readonly Metafile[]): void {
  writeFileSync(path.join(folder, "THIRD-PARTY-LICENSES"), licencesOf(root, metafiles));
}

/** Names the sources in source maps by their places in a checkout, wherever that is. */
function nameSources(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((one) => one.endsWith(".map"))) {
    const file = path.join(folder, name);
    const map = JSON.parse(readFileSync(file, "utf8")) as { readonly sources: readonly string[] };
    const sources = map.sources.map((source) =>
      path.relative(root, path.resolve(path.dirname(file), source)).split(path.sep).join("/")
    );
    writeFileSync(file, JSON.stringify({ ...map, sources }));
  }
}

/** Adds what every package has, and packs its folder. */
export function tarball(
  folder: string,
  dist: string,
  sizes: Readonly<Record<string, number>>,
  name: string,
  members: Readonly<Record<string, unknown>>,
): Packed {
  const { license } = manifest;
  const described = {
    name: nameOf(name),
    version: VERSION,
    license,
    type: "module",
    engines: { node: NODE },
    publishConfig: { access: "public" },
    ...members,
  };
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
  copyFileSync(path.join(root, "LICENSE"), path.join(folder, "LICENSE"));
  copyFileSync(path.join(here, `${name}.md`), path.join(folder, "README.md"));
  nameSources(folder);
  const file = path.join(dist, `${nameOf(name).replace(SCOPE, "arbor-cardano-")}-${VERSION}.tgz`);
  rmSync(file, { force: true });
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", dist], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { name: nameOf(name), tarball: file, sizes };
}
