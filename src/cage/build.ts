/**
 * Builds the contract and writes its committed files: `blueprint.json`, and `published.ts` with every version.
 * Run it after each change of the contract: `deno run -A src/cage/build.ts`.
 */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { toHex } from "#src/base/bytes.ts";
import { blueprint, buildScript } from "#src/cage/blueprint.ts";
import { PUBLISHED } from "#src/cage/published.ts";

/** A version as `published.ts` has it. */
type Version = (typeof PUBLISHED)[number];

/** Text of `blueprint.json`. */
export function blueprintText(): string {
  return JSON.stringify(blueprint(), null, 2) + "\n";
}

/** Text of `published.ts`: older versions as they are, the current one as it is built now. */
export function publishedText(published: readonly Version[]): string {
  const { version, hash, compiledCode } = buildScript();
  const older = published.filter((entry) => entry.version !== version);
  const all = [...older, { version, hash, compiledCode: toHex(compiledCode) }];
  const entries = all.map((entry) =>
    `  {\n    version: "${entry.version}",\n    hash: "${entry.hash}",\n    compiledCode:\n      "${entry.compiledCode}",\n  },\n`
  );
  return `/** Every published version of the contract, the current one last. Written by \`src/cage/build.ts\`. */\n` +
    `export const PUBLISHED: readonly {\n` +
    `  readonly version: string;\n  readonly hash: string;\n  readonly compiledCode: string;\n}[] = [\n` +
    `${entries.join("")}];\n`;
}

/** The committed files, beside this one. */
export const files = {
  blueprint: new URL("./blueprint.json", import.meta.url),
  published: new URL("./published.ts", import.meta.url),
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await writeFile(files.blueprint, blueprintText());
  await writeFile(files.published, publishedText(PUBLISHED));
  const { hash, compiledCode } = buildScript();
  const size = (await readFile(files.blueprint)).length;
  console.log(`cage ${hash}, ${compiledCode.length} bytes of code, ${size} bytes of blueprint`);
}
