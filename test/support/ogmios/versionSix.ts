/** Judges messages of version 6 by the types that Ogmios' own client has (`@cardano-ogmios/schema` 6.14.0), with the TypeScript compiler. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import ts from "typescript";

const SCHEMA = "/schema.d.ts";
const MESSAGES = "/messages.ts";
/** As much of the language's library as lists need; the whole takes seconds. */
const LIBRARY = "/library.d.ts";
const LIBRARY_TEXT = `interface Array<T> { length: number; [n: number]: T }
interface Boolean {} interface CallableFunction {} interface Function {} interface IArguments {} interface NewableFunction {}
interface Number {} interface Object {} interface RegExp {} interface String {}`;

/** A message, and the type that it must have: an exported one of the package, or `Ogmios["…"]`. */
export interface TypedMessage {
  readonly type: string;
  readonly message: unknown;
}

/** Why messages do not have their types: each with the type and the compiler's text. Unknown members of objects are errors too. */
export function typeFaults(messages: readonly TypedMessage[]): string[] {
  const schema = readFileSync(createRequire(import.meta.url).resolve("@cardano-ogmios/schema/dist/index.d.ts"), "utf8");
  const files = new Map([
    [LIBRARY, LIBRARY_TEXT],
    // JSON has one kind of number
    [SCHEMA, schema.replaceAll("bigint", "number")],
    [
      MESSAGES,
      [
        `import type * as schema from "./schema.d.ts";`,
        ...messages.map(({ type, message }, index) => `export const m${index}: schema.${type} = ${literal(message)};`),
      ].join("\n"),
    ],
  ]);
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    noLib: true,
    types: [],
    allowImportingTsExtensions: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(options),
    fileExists: (name) => files.has(name),
    readFile: (name) => files.get(name),
    getSourceFile: (name, target) => {
      const text = files.get(name);
      return text === undefined ? undefined : ts.createSourceFile(name, text, target);
    },
    getCurrentDirectory: () => "/",
    directoryExists: () => true,
  };
  const program = ts.createProgram([LIBRARY, SCHEMA, MESSAGES], options, host);
  const source = program.getSourceFile(MESSAGES);
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((diagnostic) => {
    const line = source?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? 0;
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
    return `${messages[line - 1]?.type}: ${text.slice(0, 2_000)}`;
  });
}

/** A message as a literal, on one line. */
function literal(message: unknown): string {
  return JSON.stringify(message, (_, value) => typeof value === "bigint" ? Number(value) : value);
}
