/**
 * The `ts` blocks of `@example` in the docstrings of the clients, the runtime and the trie, each as a module of its own.
 *
 * A block with imports is a program, which runs. What other blocks use without declaring it comes from their setup
 * (`SETUPS`, by file), from `NAMES`, or is imported from the module that exports it: its own file first, then its folder,
 * then `SHARED`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDERS = ["src/client", "src/runtime", "src/forestry"];
/** Folders whose exports a block may use without an import. */
const SHARED = [...FOLDERS, "src/base", "src/store", "src/cardano", "src/operators/api"];
const PACKAGES = { z: "zod", setup: "xstate" };

/** Values that blocks use without saying where they come from. Only the ones that a block uses are declared. */
const NAMES: Readonly<Record<string, string>> = {
  address: "declare const address: string;",
  account: 'declare const account: import("#src/runtime/types.ts").ActorKind;',
  ask: 'declare const ask: import("#src/runtime/bus/ask.ts").Ask["ask"];',
  build: 'declare const build: import("#src/runtime/bus/ask.ts").Ask["build"];',
  bus: 'declare const bus: import("#src/runtime/bus/bus.ts").Bus;',
  door: 'declare const door: import("#src/runtime/types.ts").ActorKind;',
  epoch: "declare const epoch: number;",
  events: 'declare const events: import("#src/runtime/events/eventLog.ts").EventLog;',
  log: 'declare const log: import("#src/base/log.ts").Log;',
  passphrase: "declare const passphrase: string;",
  signal: "declare const signal: AbortSignal;",
  store: 'declare const store: import("#src/store/store.ts").Store;',
  token: "declare const token: string;",
  tokenId: "declare const tokenId: string;",
  url: "declare const url: string;",
};

interface Setup {
  /** Declares what the blocks of the file use. */
  readonly before?: string;
  /** Runs after the block that declares a name. A block without a check is not run: it needs a service. */
  readonly checks?: Readonly<Record<string, string>>;
}

/** By file: what its blocks get. A file that is not listed gets `NAMES` and imports alone, and its blocks do not run. */
export const SETUPS: Readonly<Record<string, Setup>> = {
  // What a reader does with a transition and a position.
  "src/runtime/events/eventLog.ts": {
    before: `declare const log: import("#src/runtime/events/eventLog.ts").EventLog;
      declare function show(transition: unknown): void; declare function save(position: string): void;`,
  },
  // The work under the lease.
  "src/runtime/placement/namedLease.ts": { before: "declare function report(epoch: number): Promise<void>;" },
  // The kind is one that a worker accepts.
  "src/runtime/types.ts": {
    checks: { door: "if (kindFaults(door).length > 0) throw new Error(kindFaults(door).join());" },
  },
};

function sourcesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts")).map((name) => path.posix.join(folder, name)).sort();
}

const texts = new Map<string, string>();
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(path.join(root, file), "utf8");
  texts.set(file, text);
  return text;
}

/** A block: `name` has its file and line. */
export interface Block {
  readonly name: string;
  readonly file: string;
  readonly code: string;
}

function blocksIn(file: string): Block[] {
  const text = textOf(file);
  return [...text.matchAll(/@example\s*\n\s*\* ```ts\n([\s\S]*?)\n\s*\* ```/g)].map((match) => ({
    name: `${file}:${text.slice(0, match.index).split("\n").length}`,
    file,
    code: match[1]!.replace(/^\s*\* ?/gm, "")
      // A formatter of docstrings wraps a long comment in a block like prose.
      .replace(/^(\s*\/\/ .{80,})\n([a-z][\w ]*\.)$/gm, "$1 $2"),
  }));
}

const exported = new Map<string, ReadonlySet<string>>();
/** The names that a file declares and exports. */
function exportsOf(file: string): ReadonlySet<string> {
  const known = exported.get(file);
  if (known) return known;
  const declarations = textOf(file).matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm);
  const names = new Set([...declarations].map(([, name]) => name!));
  exported.set(file, names);
  return names;
}

const shared = SHARED.flatMap(sourcesIn);

/** The names that some code declares or imports. */
function declaredIn(code: string): Set<string> {
  const declarations = code.matchAll(/\b(?:const|let|function|class|type|interface)\s+(?:(\w+)|[{[]([^}\]]*)[}\]])/g);
  const imports = code.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}/g);
  return new Set([
    ...[...declarations].flatMap(([, name, names = ""]) => name ?? names.match(/\w+(?=\s*(?:,|=|$))/g) ?? []),
    ...[...imports].flatMap(([, names]) => names!.match(/\w+/g) ?? []),
  ]);
}

/** What is run after a block; `undefined` for a block that is not run. */
function checkOf({ file, code }: Block): string | undefined {
  const declared = declaredIn(code);
  return Object.entries(SETUPS[file]?.checks ?? {}).find(([name]) => declared.has(name))?.[1];
}

/** Whether a block imports what it uses, as a program in the root of the repository. */
const isProgram = ({ file, code }: Block) => file.endsWith(".md") || code.includes('from "./src/');

/** A block as a module. */
function moduleOf(block: Block): string {
  const { file, code } = block;
  if (isProgram(block)) return `${code.replaceAll('from "./src/', 'from "#src/')}\nexport {};\n`;
  const own = `${SETUPS[file]?.before ?? ""}\n${code}\n${checkOf(block) ?? ""}`;
  const words = new Set(own.replace(/"(?:[^"\\\n]|\\.)*"|\/\/.*$/gm, "").match(/(?<![\w$]|(?<!\.\.)\.)[A-Za-z_$]\w*/g));
  const declared = declaredIn(own);
  const places = [file, ...sourcesIn(path.posix.dirname(file)), ...shared];
  const lines = [...words].filter((word) => !declared.has(word) && word !== "Parameters").flatMap((word) => {
    if (Object.hasOwn(NAMES, word)) return NAMES[word]!;
    if (Object.hasOwn(PACKAGES, word)) return `import { ${word} } from "${PACKAGES[word as keyof typeof PACKAGES]}";`;
    const from = places.find((place) => exportsOf(place).has(word));
    return from === undefined ? [] : `import { ${word} } from "#${from}";`;
  });
  return [...lines, own, "export {};", ""].join("\n");
}

/** All blocks. */
export const blocks: readonly Block[] = FOLDERS.flatMap(sourcesIn).flatMap(blocksIn);

/** Whether a block runs: the others need a service. */
export const runs = (block: Block) => isProgram(block) || checkOf(block) !== undefined;

/** Modules of blocks in a folder that git ignores, where they get the settings and packages of the project. */
export interface WrittenExamples {
  readonly files: readonly string[];
  fileOf(block: Block): string;
  remove(): void;
}

/** Writes the modules of all blocks, and of programs of the documentation. */
export function writeExamples(programs: readonly Block[] = []): WrittenExamples {
  const folder = mkdtempSync(path.join(root, ".examples-"));
  const fileOf = ({ name }: Block) => path.join(folder, `${name.replace(/\W+/g, "_")}.ts`);
  const all = [...blocks, ...programs];
  for (const block of all) writeFileSync(fileOf(block), moduleOf(block));
  return { files: all.map(fileOf), fileOf, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
