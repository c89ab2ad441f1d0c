/** The licences of libraries whose code is in a bundle: those who pass the bundle on pass these on too. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Metafile } from "esbuild";

/** A library's folder, in what a bundler reads. */
const LIBRARY = /^(.*node_modules\/(?!\.)(?:@[^/]+\/)?[^/]+)\//;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/**
 * The licences of the libraries in some bundles, by name, as one text. A library without a file for it is named with the
 * licence that its manifest states.
 */
export function licencesOf(root: string, metafiles: readonly Metafile[]): string {
  const folders = new Set(
    metafiles.flatMap(({ outputs }) => Object.values(outputs))
      .flatMap(({ inputs }) => Object.keys(inputs))
      .flatMap((input) => LIBRARY.exec(input.split(path.sep).join("/"))?.[1] ?? []),
  );
  const texts = new Map<string, string>();
  for (const folder of folders) {
    const at = path.resolve(root, folder);
    const file = path.join(at, "package.json");
    if (!existsSync(file)) continue;
    const { name, version, license = "see its source" } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
    const files = readdirSync(at).filter((entry) => /^(licen[cs]e|notice|copying)/i.test(entry)).sort();
    const said = files.map((entry) => readFileSync(path.join(at, entry), "utf8").trim());
    texts.set(`${name} ${version}`, [`${name} ${version} (${license})`, ...said].join("\n\n"));
  }
  return [...texts].sort(([a], [b]) => a < b ? -1 : 1).map(([, text]) => `${text}\n`).join(`\n${"-".repeat(80)}\n\n`);
}
