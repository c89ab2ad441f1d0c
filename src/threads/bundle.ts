/**
 * Bundles modules for browsers from the sources. It runs in a thread because loading the bundler alone takes a tenth of
 * a second; the bundler's own work runs in a process of its own.
 */
import { present } from "#src/base/present.ts";
import { builtinModules } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildResult, Plugin } from "esbuild";
import { inTime } from "#src/base/clock.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** There is no bundle: a source is missing or not for browsers, or the bundler does not run on this machine. */
export type BundleFailure = Failure<"bundle_unavailable">;

export interface BundleInput {
  /** URL of the module's file. */
  readonly entry: string;
  /** Whether modules that are imported on demand, and styles, become files of their own, with their hash in the name. */
  readonly split?: boolean;
}

/** A file of a bundle. */
export interface BundleFile {
  /** `<name>-<hash>.<js|css>` in a split bundle. */
  readonly name: string;
  readonly text: string;
  /** The entry's own module and styles, and the modules that these import at once. */
  readonly initial: boolean;
}

/** Name of the file beside an entry with the files of its bundle, in a package that was made of a checkout. */
export const BUNDLED = "bundle.json";

/** Folder of `package.json`, which maps the names of imports. */
const ROOT = new URL("../../", import.meta.url);
/** Folder that the names of the files are relative to; nothing is written. */
const OUT = fileURLToPath(new URL("out/", ROOT));
type Built = BuildResult<{ write: false; metafile: true }>;
/** Milliseconds that the bundler may take; it usually takes one second. */
const MAX_BUNDLE_MS = 60_000;

const BUILTIN = new RegExp(`^(node:.*|(${builtinModules.join("|")})(/.*)?)$`);

/** Refuses the platform's own modules: a module that imports one is not for browsers. */
const noBuiltins: Plugin = {
  name: "no-builtins",
  setup(build) {
    build.onResolve({ filter: BUILTIN }, ({ path, importer }) => ({
      errors: [{ text: `${importer} imports ${path}, which browsers do not have` }],
    }));
  },
};

/** Bundles a module and its imports for browsers, minified; gives the files, the entry's module first. */
export async function bundle({ entry, split = false }: BundleInput): Promise<Result<BundleFile[], BundleFailure>> {
  try {
    const esbuild = await import("esbuild");
    const root = fileURLToPath(ROOT);
    const building = esbuild.build({
      entryPoints: [fileURLToPath(entry)],
      absWorkingDir: root,
      outdir: OUT,
      bundle: true,
      splitting: split,
      ...(split ? { entryNames: "[name]-[hash]", chunkNames: "[name]-[hash]", assetNames: "[name]-[hash]" } : {}),
      format: "esm",
      platform: "browser",
      target: "es2022",
      minify: true,
      charset: "utf8",
      legalComments: "eof",
      jsx: "automatic",
      jsxImportSource: "preact",
      tsconfigRaw: {},
      metafile: true,
      write: false,
      logLevel: "silent",
      plugins: [noBuiltins],
    });
    // end the bundler's process, which is not needed again
    const built = await inTime(building, MAX_BUNDLE_MS).finally(() => esbuild.stop());
    return built === undefined
      ? unavailable("the bundler took too long")
      : ok(filesOf(built, root, fileURLToPath(entry)));
  } catch (error) {
    return unavailable(error instanceof Error ? error.message : String(error));
  }
}

/** The files of a build, in the order: the entry's module, what it imports at once, its styles, all others. */
function filesOf({ outputFiles, metafile: { outputs } }: Built, root: string, source: string): BundleFile[] {
  const outputOf = (file: string) => path.relative(root, file).split(path.sep).join("/");
  // modules that are imported on demand have an entry point as well
  const [entry] = present(
    Object.entries(outputs).find(([name, { entryPoint }]) => entryPoint === outputOf(source) && name.endsWith(".js")),
    "the entry of a bundle",
  );
  const initial = new Set([entry]);
  for (const name of initial) {
    const { imports, cssBundle } = present(outputs[name], `the output ${name}`);
    for (const { path, kind } of imports) if (kind === "import-statement") initial.add(path);
    if (cssBundle !== undefined) initial.add(cssBundle);
  }
  const order = [...initial];
  const rank = (name: string) => initial.has(name) ? order.indexOf(name) : order.length;
  return outputFiles
    .map(({ path: file, text }) => ({ at: outputOf(file), text }))
    .sort((a, b) => rank(a.at) - rank(b.at))
    .map(({ at, text }) => ({ name: path.posix.basename(at), text, initial: initial.has(at) }));
}

function unavailable(reason: string) {
  return fail("bundle_unavailable", "The module cannot be bundled here.", { reason });
}
