/**
 * Builds the contract and writes its committed files: `blueprint.json`, and `published.json` with every version.
 * Run it after each change of the contract: `deno run -A src/cage/build.ts`.
 */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { toHex } from "#src/base/bytes.ts";
import blueprint from "#src/cage/blueprint.json" with { type: "json" };
import { validator } from "#src/cage/contract/validator.ts";
import committed from "#src/cage/published.json" with { type: "json" };
import type { CageScript } from "#src/cage/script.ts";
import { type BuildOptions, compiled, program, scriptHash } from "#src/cage/uplc/program.ts";

/** Version of the contract; a change of its code is another version once one was published. */
const VERSION = "2.0.0";

/** Builds the contract: code as in `CageScript`, and its hash. Without options it is the published code. */
export function buildScript(options: BuildOptions = {}): CageScript {
  const compiledCode = compiled(program(validator, options));
  return { version: VERSION, hash: scriptHash(compiledCode), compiledCode };
}

/** A version as `published.json` has it. */
type Version = (typeof committed)[number];

/** Text of `blueprint.json` (CIP-57): its schemas as they are, for they are written by hand; the code as it is built now. */
export function blueprintText(): string {
  const { version, hash, compiledCode } = buildScript();
  const code = { compiledCode: toHex(compiledCode), hash };
  const document = {
    preamble: { ...blueprint.preamble, version },
    validators: blueprint.validators.map((entry) => ({ ...entry, ...code })),
    definitions: blueprint.definitions,
  };
  return JSON.stringify(document, null, 2) + "\n";
}

/** Text of `published.json`: older versions as they are, the current one as it is built now. */
export function publishedText(published: readonly Version[]): string {
  const { version, hash, compiledCode } = buildScript();
  const older = published.filter((entry) => entry.version !== version);
  return JSON.stringify([...older, { version, hash, compiledCode: toHex(compiledCode) }], null, 2) + "\n";
}

/** The committed files, beside this one. */
export const files = {
  blueprint: new URL("./blueprint.json", import.meta.url),
  published: new URL("./published.json", import.meta.url),
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await writeFile(files.blueprint, blueprintText());
  await writeFile(files.published, publishedText(committed));
  const { hash, compiledCode } = buildScript();
  const size = (await readFile(files.blueprint)).length;
  console.log(`cage ${hash}, ${compiledCode.length} bytes of code, ${size} bytes of blueprint`);
}
