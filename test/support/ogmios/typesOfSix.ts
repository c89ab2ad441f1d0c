/**
 * Judges messages by the types of Ogmios 6.14, which npm has for its client. Like the schema they are made of they allow no
 * unknown member; they do not see the patterns of texts.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import ts from "typescript";
import { toJson } from "#src/base/json.ts";

/** A message and the property of Ogmios' schema that it is of, such as `NextBlockResponse`. */
export type Typed = readonly [property: string, message: unknown];

/** The problems of messages, each with the beginning of its message. */
export function problemsOfSix(messages: readonly Typed[]): string[] {
  const client = createRequire(import.meta.url).resolve("@cardano-ogmios/client");
  const types = createRequire(client).resolve("@cardano-ogmios/schema").replace(/\.js$/, ".d.ts");
  const folder = mkdtempSync(path.join(tmpdir(), "ogmios-"));
  try {
    // quantities are read as bigint by the client; as JSON they are numbers
    writeFileSync(path.join(folder, "ogmios.ts"), readFileSync(types, "utf8").replaceAll("bigint", "number"));
    const lines = messages.map(([property, message], index) =>
      `export const m${index}: NonNullable<Ogmios["${property}"]> = ${toJson(message)};`
    );
    const file = path.join(folder, "messages.ts");
    writeFileSync(file, ['import type { Ogmios } from "./ogmios.ts";', ...lines].join("\n"));
    const program = ts.createProgram([file], {
      strict: true,
      noEmit: true,
      noErrorTruncation: true,
      allowImportingTsExtensions: true,
      exactOptionalPropertyTypes: true,
      types: [],
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
    });
    return ts.getPreEmitDiagnostics(program, program.getSourceFile(file)).map(
      ({ start, messageText, file: source }) => {
        const line = source && start !== undefined ? source.getLineAndCharacterOfPosition(start).line : 0;
        const why = ts.flattenDiagnosticMessageText(messageText, " ");
        return `${why.slice(0, 600)} in ${lines[line - 1]?.slice(0, 200)}`;
      },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
