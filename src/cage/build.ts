/**
 * Builds the contract and writes its committed files: `blueprint.json`, and `published.json` with every version.
 * Run it after each change of the contract: `deno run -A src/cage/build.ts`.
 */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { toHex } from "#src/base/bytes.ts";
import { blueprint, buildScript } from "#src/cage/blueprint.ts";
import committed from "#src/cage/published.json" with { type: "json" };

/** A version as `published.json` has it. */
type Version = (typeof committed)[number];

/** Text of `blueprint.json`. */
export function blueprintText(): string {
  return JSON.stringify(blueprint(), null, 2) + "\n";
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
