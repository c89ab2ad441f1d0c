/**
 * Builds the contract and writes its committed files: `blueprint.json`, `published.json` with every version, and
 * `versions.json` with their hashes.
 * Run it after each change of the contract: `deno run -A src/contract/build.ts`.
 */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { toHex } from "#src/base/bytes.ts";
import blueprint from "#src/contract/blueprint.json" with { type: "json" };
import { validator } from "#src/contract/validator/validator.ts";
import committed from "#src/contract/published.json" with { type: "json" };
import type { CageScript } from "#src/contract/script.ts";
import { type BuildOptions, compiled, program, scriptHash } from "#src/contract/uplc/program.ts";

/** Builds the contract: code as in `CageScript`, and its hash. It is a published code unless it has traces. */
export function buildScript(options: BuildOptions = {}): CageScript {
  const compiledCode = compiled(program(validator, options));
  return { version: options.caseOnConstants ? "3.0.0" : "2.0.0", hash: scriptHash(compiledCode), compiledCode };
}

let made: readonly [older: CageScript, current: CageScript] | undefined;

/** The versions that the source builds, once in a process; the current one is the last. A change of their code needs another version. */
export function builtScripts(): readonly [older: CageScript, current: CageScript] {
  return made ??= [buildScript(), buildScript({ caseOnConstants: true })];
}

/** A version as `published.json` has it. */
type Version = (typeof committed)[number];

/** Text of `blueprint.json` (CIP-57): its schemas as they are, for they are written by hand; the code as it is built now. */
export function blueprintText(): string {
  const [, current] = builtScripts();
  const code = { compiledCode: toHex(current.compiledCode), hash: current.hash };
  const document = {
    preamble: { ...blueprint.preamble, version: current.version },
    validators: blueprint.validators.map((entry) => ({ ...entry, ...code })),
    definitions: blueprint.definitions,
  };
  return JSON.stringify(document, null, 2) + "\n";
}

/** Text of `published.json`: versions before those of the source as they are, the others as they are built now. */
export function publishedText(published: readonly Version[]): string {
  const built = builtScripts();
  const older = published.filter((entry) => !built.some(({ version }) => version === entry.version));
  const now = built.map(({ version, hash, compiledCode }) => ({ version, hash, compiledCode: toHex(compiledCode) }));
  return JSON.stringify([...older, ...now], null, 2) + "\n";
}

/** Text of `versions.json`: the versions without their code, for clients that need only their hashes. */
export function versionsText(published: readonly Version[]): string {
  const versions = (JSON.parse(publishedText(published)) as Version[]).map(({ version, hash }) => ({ version, hash }));
  return JSON.stringify(versions, null, 2) + "\n";
}

/** The committed files, beside this one. */
export const files = {
  blueprint: new URL("./blueprint.json", import.meta.url),
  published: new URL("./published.json", import.meta.url),
  versions: new URL("./versions.json", import.meta.url),
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await writeFile(files.blueprint, blueprintText());
  await writeFile(files.published, publishedText(committed));
  await writeFile(files.versions, versionsText(committed));
  const [, { hash, compiledCode }] = builtScripts();
  const size = (await readFile(files.blueprint)).length;
  console.log(`cage ${hash}, ${compiledCode.length} bytes of code, ${size} bytes of blueprint`);
}
