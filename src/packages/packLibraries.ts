/** The packages that programs import: the clients and the trie, the devnet for tests, and the actor runtime. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build, type BuildOptions, type Metafile } from "esbuild";
import { common, loadedBytes, packedServer, program, readable, sharedClients } from "#src/packages/packBundles.ts";
import {
  fileOf,
  here,
  nameOf,
  optionalPeers,
  type Packed,
  root,
  tarball,
  versionsOf,
  writeLicences,
} from "#src/packages/packFolder.ts";
import { PROGRAM_PACKAGES } from "#src/packages/packPrograms.ts";
import { DEVNET_SERVER, RUNTIME_SERVER, writeServer } from "#src/packages/packServer.ts";

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

/** The clients: a browser loads no more than the entry that it uses. */
const CLIENT: Library = {
  name: "client",
  description: "Client of Arbor for browsers, Node and Deno: tokens with facts and proofs, wallets, operators, events",
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
};

const FORESTRY: Library = {
  name: "forestry",
  description: "Merkle Patricia Forestry for browsers, Node and Deno: the trie, its proofs, and their verifier",
  entries: { ".": "forestry.ts" },
  keywords: ["cardano", "merkle patricia forestry", "trie", "proof", "aiken"],
  lazy: true,
};

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

/** The declarations of every entry of a library, by the specifiers of consumers. */
async function declare({ name, entries, peers = [] }: Library, folder: string): Promise<ReadonlyMap<string, string>> {
  // libraries of development, which the programs do not need
  const { declarationsOf } = await import("#src/packages/declarations.ts");
  const named = Object.entries(entries).map(([specifier, source]) => ({
    specifier: nameOf(name) + specifier.slice(1),
    file: path.join(here, source),
    peers: specifier === "." && name !== RUNTIME.name ? [] : peers,
    // their types are a part of the declarations, where those of other peers are only named
    typedPeers: name === RUNTIME.name,
  }));
  // each library for itself: together they take several times as long
  const declarations = declarationsOf(named, root, path.join(path.dirname(folder), ".types", name));
  return new Map(Object.keys(entries).map((specifier, i) => [specifier, declarations[i] ?? ""]));
}

async function packLibrary(library: Library, folder: string, dist: string): Promise<Packed> {
  const { name, description, entries, keywords, lazy, peers = [] } = library;
  const declared = await declare(library, folder);
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
      // no hash: it would be one of the place of the checkout as well
      chunkNames: `${fileOf(specifier)}-lazy`,
      plugins: specifier === "." ? [] : [sharedClients],
      external: specifier === "." ? [] : [...peers],
    });
    metafiles.push(metafile);
    const file = path.join(folder, "dist", `${fileOf(specifier)}.js`);
    sizes[specifier] = gzipSync(readFileSync(file), { level: 9 }).length;
    writeFileSync(file.replace(/\.js$/, ".d.ts"), declared.get(specifier) ?? "");
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

/** The clients. */
export const packClient = (folder: string, dist: string) => packLibrary(CLIENT, folder, dist);

/** The trie. */
export const packForestry = (folder: string, dist: string) => packLibrary(FORESTRY, folder, dist);

/** The devnet for tests, with its server. */
export async function packDevnet(folder: string, dist: string): Promise<Packed> {
  const { name, description, keywords } = DEVNET;
  const declared = await declare(DEVNET, folder);
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
  const types = `/// <reference lib="esnext.disposable" />\n${declared.get(".") ?? ""}`;
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

/** The actor runtime, with its server. */
export async function packRuntime(folder: string, dist: string): Promise<Packed> {
  const { name, description, entries, keywords, peers = [] } = RUNTIME;
  const declared = await declare(RUNTIME, folder);
  const server = path.join(folder, "server");
  const options = { ...common, ...program, minify: false };
  const { dependencies, metafile } = await writeServer(root, server, options, RUNTIME_SERVER);
  const files = Object.keys(entries).map((specifier) => [specifier, `server/dist/${fileOf(specifier)}`] as const);
  for (const [specifier, file] of files) {
    writeFileSync(path.join(folder, `${file}.d.ts`), declared.get(specifier) ?? "");
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
