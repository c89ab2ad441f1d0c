/**
 * Bundles modules for browsers from the sources. It runs in a thread because loading the bundler alone takes a tenth of
 * a second; the bundler's own work runs in a process of its own.
 */
import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { inTime } from "#src/base/clock.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** There is no bundle: a source is missing or not for browsers, or the bundler does not run on this machine. */
export type BundleFailure = Failure<"bundle_unavailable">;

export interface BundleInput {
  /** URL of the module's file. */
  readonly entry: string;
}

/** Folder of `package.json`, which maps the names of imports. */
const ROOT = new URL("../../", import.meta.url);
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

/** Bundles a module and its imports into one minified ES module for browsers; gives its text. */
export async function bundle({ entry }: BundleInput): Promise<Result<string, BundleFailure>> {
  try {
    const esbuild = await import("esbuild");
    const building = esbuild.build({
      entryPoints: [fileURLToPath(entry)],
      absWorkingDir: fileURLToPath(ROOT),
      bundle: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      minify: true,
      charset: "utf8",
      legalComments: "eof",
      tsconfigRaw: {},
      write: false,
      logLevel: "silent",
      plugins: [noBuiltins],
    });
    // end the bundler's process, which is not needed again
    const built = await inTime(building, MAX_BUNDLE_MS).finally(() => esbuild.stop());
    const text = built?.outputFiles[0]?.text;
    return text === undefined ? unavailable("the bundler took too long") : ok(text);
  } catch (error) {
    return unavailable(error instanceof Error ? error.message : String(error));
  }
}

function unavailable(reason: string) {
  return fail("bundle_unavailable", "The module cannot be bundled here.", { reason });
}
