/** How packages are bundled: the options of esbuild, and the modules that a package has in another form. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { BuildOptions, Metafile, Plugin } from "esbuild";
import { root } from "#src/packages/packFolder.ts";

export const common = {
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
export const readable = { minify: false, sourcemap: true, sourcesContent: true } as const;

/** A program for Node. */
export const program = {
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

/** The second entries of a package use the clients and errors of its first, so that `instanceof` holds. */
export const sharedClients: Plugin = {
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
export const versionOf = (version: string): Plugin =>
  replaced("src/base/version.ts", `export const VERSION = ${JSON.stringify(version)};`);

/** The server where the package has it. */
export const packedServer = replaced(
  "src/packages/devnetServer.ts",
  'export const SERVER = new URL("../server/dist/devnetProcess.js", import.meta.url);',
);

/** Programs name themselves as they were started. */
export const installedPrograms = replaced("src/base/program.ts", 'export * from "#src/packages/installedProgram.ts";');

/** The command line with the server in files of its own, which it loads by their names. */
export const bundledServer = replaced(
  "src/cli/server.ts",
  'export const loadServer = () => import("#src/app/programs.ts"); export const NO_SERVER = "";',
);

/** Bytes after gzip of an output file and of what it imports without being asked to. */
export function loadedBytes({ outputs }: Metafile, folder: string, entry: string): number {
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
