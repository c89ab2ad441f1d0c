/**
 * Writes the server as JavaScript modules that Node runs: file by file, since modules find threads, pages and documents
 * by their place.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { transform } from "esbuild";
import { bundle, PAGE_FILES } from "#src/threads/bundle.ts";

const FOLDERS = ["src", "actors", "machines"];
/** What only a checkout needs; of the packages, the process of the devnet is the server's entry. Pages are bundled. */
const LEFT_OUT = /^src\/(cli|packages)\/(?!devnetProcess\.ts$)|^src\/pages\/.*\.tsx?$/;
/** The name of a module's file, in an import or as the URL of a thread. */
const MODULE = /(["'])((?:\.{1,2}|#(?:src|actors|machines))\/[^"'\n]*)\.ts\1/g;
/**
 * Libraries that a devnet does not need: those of the provider for Blockfrost, which bring 60 MB, and the bundler, because
 * the pages are bundled.
 */
const OPTIONAL: readonly string[] = ["@blaze-cardano/core", "@blaze-cardano/query", "esbuild"];
/** The files of Swagger UI that the server serves, and its licence. The library's own package reports each installation. */
const SWAGGER_UI = ["swagger-ui-bundle.js", "swagger-ui.css", "LICENSE", "NOTICE"];
const SWAGGER_FOLDER = "assets/swagger-ui";
/** A thread on Node 20 without TypeScript. */
const NODE_THREAD = "src/app/threads/threadNode.js";

/** The manifest of a checkout, as far as it is needed. */
interface Manifest {
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Libraries with their versions. */
export type Libraries = Readonly<Record<string, string>>;

/** Writes the server of a checkout into a folder; gives the libraries that it uses, and those that few use. */
export async function writeServer(
  root: string,
  folder: string,
): Promise<{ readonly dependencies: Libraries; readonly optional: Libraries }> {
  const { version, imports, dependencies } = JSON.parse(
    readFileSync(path.join(root, "package.json"), "utf8"),
  ) as Manifest;
  const used = new Set<string>();
  for (const file of FOLDERS.flatMap((name) => filesOf(root, name)).filter((file) => !LEFT_OUT.test(file))) {
    const target = path.join(folder, file.replace(/\.ts$/, ".js"));
    mkdirSync(path.dirname(target), { recursive: true });
    if (file === NODE_THREAD) writeFileSync(target, 'import "./thread.js";\n');
    else if (!file.endsWith(".ts")) copyFileSync(path.join(root, file), target);
    else {
      const source = readFileSync(path.join(root, file), "utf8");
      const { code } = await transform(source, {
        loader: "ts",
        format: "esm",
        target: "node20",
        // of JSON: Node 20.10 has them
        supported: { "import-attributes": true },
        tsconfigRaw: {},
      });
      for (const name of Object.keys(dependencies)) {
        if (new RegExp(`["\`]${name}["/]`).test(code)) used.add(name);
      }
      writeFileSync(target, code.replace(MODULE, "$1$2.js$1"));
    }
  }
  await writePages(root, folder);
  mkdirSync(path.join(folder, SWAGGER_FOLDER), { recursive: true });
  for (const name of SWAGGER_UI) {
    copyFileSync(path.join(root, "node_modules/swagger-ui-dist", name), path.join(folder, SWAGGER_FOLDER, name));
  }
  const packed = { ...imports, "#swagger-ui/*": `./${SWAGGER_FOLDER}/*` };
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module", version, imports: packed }) + "\n");
  const chosen = (optional: boolean) =>
    Object.fromEntries(
      Object.entries(dependencies).filter(([name]) => used.has(name) && OPTIONAL.includes(name) === optional),
    );
  return { dependencies: chosen(false), optional: chosen(true) };
}

/** Writes the bundles of the pages, which a checkout makes on the first request. */
async function writePages(root: string, folder: string): Promise<void> {
  for (const entry of filesOf(root, "src/pages").filter((file) => file.endsWith("/main.tsx"))) {
    const bundled = await bundle({ entry: pathToFileURL(path.join(root, entry)).href, split: true });
    if (!bundled.ok) throw new Error(`${entry} cannot be bundled: ${JSON.stringify(bundled.error.details)}`);
    const target = path.join(folder, path.dirname(entry), PAGE_FILES);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, JSON.stringify(bundled.value));
  }
}

/** The files of a folder, relative to the root, with `/`. */
function filesOf(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesOf(root, file) : [file];
  });
}
