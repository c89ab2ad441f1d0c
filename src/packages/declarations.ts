/**
 * Declarations of a package's entry in one file, without the types of libraries.
 *
 * The sources derive types from schemas (`z.output<typeof token>`). TypeScript computes such types here, and the
 * declarations have the result, so that a consumer needs neither the schemas nor their library.
 */
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { generateDtsBundle } from "dts-bundle-generator";
import ts from "typescript";

/** Names of type functions whose result is written out: those of the schema library, and the client's own for them. */
const COMPUTED = /^(z\.(output|input|infer)|Exact|Messaged)$/;

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  declaration: true,
  emitDeclarationOnly: true,
};

/** Options of the bundler of declarations, as `tsconfig.json` has them. */
const BUNDLING = {
  target: "esnext",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["esnext", "dom", "dom.iterable"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
};

const FLAGS = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.InTypeAlias |
  ts.NodeBuilderFlags.UseStructuralFallback;

/** An entry file of the sources, and the specifier under which consumers import it. */
export interface Entry {
  readonly file: string;
  readonly specifier: string;
  /** Packages whose types the declarations may import. */
  readonly peers: readonly string[];
  /** Whether the declarations use the types of the peers, and not only their names. */
  readonly typedPeers?: boolean;
}

/**
 * The declarations of entry files, in their order. `folder` is a folder for intermediate files.
 *
 * @throws {Error} where they need a library that is no peer, or a source has an error.
 */
export function declarationsOf(entries: readonly Entry[], root: string, folder: string): string[] {
  rmSync(folder, { recursive: true, force: true });
  const program = ts.createProgram(entries.map(({ file }) => file), OPTIONS);
  program.emit(
    undefined,
    (emitted, text) => {
      const file = path.join(folder, path.relative(root, emitted));
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, withRelativeImports(text, path.relative(root, emitted), root));
    },
    undefined,
    true,
    { afterDeclarations: [computedTypes(program.getTypeChecker())] },
  );
  for (const { peers, typedPeers } of entries) {
    for (const peer of peers) typedPeers ? linkPeer(peer, root, folder) : writePeer(program, peer, root, folder);
  }
  const config = path.join(folder, "tsconfig.json");
  const files = entries.map(({ file }, i) => {
    const declared = path.relative(root, file).replaceAll(path.sep, "/").replace(/\.ts$/, ".js");
    writeFileSync(path.join(folder, `entry${i}.ts`), `export * from "./${declared}";\n`);
    return path.join(folder, `entry${i}.ts`);
  });
  writeFileSync(config, JSON.stringify({ compilerOptions: BUNDLING, files: files.map((file) => path.basename(file)) }));
  const output = { noBanner: true, exportReferencedTypes: false };
  const bundles = generateDtsBundle(files.map((filePath) => ({ filePath, output })), { preferredConfigPath: config });
  return bundles.map((bundle, i) => {
    const specifier = entries[i]?.specifier ?? "";
    const code = bundle.replace(/\/\*[\s\S]*?\*\//g, "");
    const foreign = [...code.matchAll(/\bfrom ['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/g)]
      .map(([, from, imported]) => from ?? imported)
      .filter((name) => name === undefined || !entries[i]?.peers.includes(name));
    if (foreign.length > 0) throw new Error(`the types of ${specifier} need ${foreign.join(", ")}`);
    // the examples of the sources import the files of the sources
    return bundle.replace(/"\.\/src\/[^"]+\.ts"/g, `"${specifier}"`);
  });
}

/**
 * Writes a package whose exports have the names of a peer's and nothing else: the bundler reads every declaration that it can
 * reach, and those of a peer lead to packages that are not installed.
 */
function writePeer(program: ts.Program, peer: string, root: string, folder: string): void {
  const { resolvedModule } = ts.resolveModuleName(peer, path.join(root, "src/packages/pack.ts"), OPTIONS, ts.sys);
  const source = resolvedModule && program.getSourceFile(resolvedModule.resolvedFileName);
  const checker = program.getTypeChecker();
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`no entry imports ${peer}`);
  const named = (symbol: ts.Symbol): string => {
    const known = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (!(known.flags & ts.SymbolFlags.ValueModule)) return `export declare class ${symbol.name} {}`;
    const members = checker.getExportsOfModule(known).map(({ name }) => `class ${name} {}`);
    return `export declare namespace ${symbol.name} { ${members.join(" ")} }`;
  };
  const stub = path.join(folder, "node_modules", peer);
  mkdirSync(stub, { recursive: true });
  writeFileSync(path.join(stub, "package.json"), JSON.stringify({ name: peer, version: "0.0.0", types: "index.d.ts" }));
  writeFileSync(path.join(stub, "index.d.ts"), checker.getExportsOfModule(module).map(named).join("\n"));
}

/** Has the bundler read the types of a peer. */
function linkPeer(peer: string, root: string, folder: string): void {
  const link = path.join(folder, "node_modules", peer);
  mkdirSync(path.dirname(link), { recursive: true });
  if (!existsSync(link)) symlinkSync(realpathSync(path.join(root, "node_modules", peer)), link);
}

/** Replaces references to computed types with the types. Values of machines are left out: only their types are used. */
function computedTypes(checker: ts.TypeChecker): ts.TransformerFactory<ts.SourceFile | ts.Bundle> {
  return (context) => {
    const computed = (node: ts.TypeNode): ts.TypeNode | undefined => {
      const source = ts.getParseTreeNode(node, ts.isTypeNode);
      return source && checker.typeToTypeNode(checker.getTypeFromTypeNode(source), source, FLAGS);
    };
    const visit = (node: ts.Node): ts.Node => {
      // a type function itself
      if (ts.isTypeAliasDeclaration(node) && node.typeParameters) return node;
      if (ts.isTypeReferenceNode(node) && COMPUTED.test(entityText(node.typeName))) return computed(node) ?? node;
      if (ts.isMappedTypeNode(node) && node.typeParameter.constraint && ofValue(node.typeParameter.constraint)) {
        return computed(node) ?? node;
      }
      return ts.visitEachChild(node, visit, context);
    };
    return (file) => {
      const isMachine = ts.isSourceFile(file) && /\/machines\/[^/]*$/.test(file.fileName);
      const kept = isMachine
        ? context.factory.updateSourceFile(file, file.statements.filter((one) => !ts.isVariableStatement(one)))
        : file;
      return ts.visitEachChild(kept, visit, context);
    };
  };
}

/** Whether a type is made of a value: `keyof typeof schemas`. */
const ofValue = (type: ts.TypeNode): boolean =>
  ts.isTypeQueryNode(type) || (ts.isTypeOperatorNode(type) && ofValue(type.type));

const entityText = (name: ts.EntityName): string =>
  ts.isIdentifier(name) ? name.text : `${entityText(name.left)}.${name.right.text}`;

/** A text with imports relative to its file; `#src/base/json.ts` is `../base/json.js`. */
function withRelativeImports(text: string, file: string, root: string): string {
  const from = path.posix.dirname(file.replaceAll(path.sep, "/"));
  // the checker names a file that is not imported by its absolute path, without its extension
  return text.replaceAll(`import("${path.resolve(root).replaceAll(path.sep, "/")}/`, 'import("#')
    .replace(/(["'])#((?:src|machines|actors)\/[^"']+?)(?:\.ts)?\1/g, (_all, quote: string, target: string) => {
      const relative = path.posix.relative(from, target);
      return `${quote}${relative.startsWith(".") ? relative : `./${relative}`}.js${quote}`;
    });
}
