/** Modules for browsers, bundled out of the sources. In a thread, because loading the bundler alone takes a tenth of a second; the work itself is a process's of its own. */
import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { inTime } from "#src/base/clock.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** Why there is no bundle: a source is missing or does not belong in a browser, or the bundler does not run here. */
export type BundleFailure = Failure<"bundle_unavailable">;

export interface BundleInput {
  /** URL of the module's file. */
  readonly entry: string;
}

/** Where `package.json` says what the names of imports mean. */
const ROOT = new URL("../../", import.meta.url);
/** How long the bundler may take, in milliseconds; it takes one second. */
const LONGEST_MS = 60_000;

const BUILTIN = new RegExp(`^(node:.*|(${builtinModules.join("|")})(/.*)?)$`);

/** Browsers have none of the platform's own modules, and whatever asks for one was never meant for them. */
const noBuiltins: Plugin = {
  name: "no-builtins",
  setup(build) {
    build.onResolve({ filter: BUILTIN }, ({ path, importer }) => ({
      errors: [{ text: `${importer} asks for ${path}, which no browser has` }],
    }));
  },
};

/** Bundles a module and all that it imports into one ES module for browsers; gives its text. */
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
    // Its process ends with it: nobody needs it again.
    const built = await inTime(building, LONGEST_MS).finally(() => esbuild.stop());
    const text = built?.outputFiles[0]?.text;
    return text === undefined ? unavailable("the bundler took too long") : ok(text);
  } catch (error) {
    return unavailable(error instanceof Error ? error.message : String(error));
  }
}

function unavailable(reason: string) {
  return fail("bundle_unavailable", "The module cannot be bundled here.", { reason });
}
