/** Which module may import which, which module's SQL may name which table, and which modules use which library. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const LAYERS: readonly (readonly string[])[] = [
  ["src/base"],
  ["machines", "src/cardano", "src/forestry", "src/store"],
  ["src/api", "src/runtime", "src/plutus", "src/transaction", "src/node"],
  ["src/ledger", "src/contract", "src/wallets", "src/wallets/vault", "src/threads"],
  ["src/chain"],
  ["src/devnet", "src/embedded"],
  ["actors"],
  ["src/http", "src/client", "src/pages"],
  ["src/app"],
  ["src/cli", "src/packages"],
];
const layerOf = new Map(LAYERS.flatMap((modules, layer) => modules.map((name) => [name, layer] as const)));

/**
 * Modules that may import another of the same layer: hashes and CBOR for the trie, jobs that builder threads run, and the
 * client that pages call their service with.
 */
const NEIGHBOURS: Record<string, readonly string[]> = {
  "src/forestry": ["src/cardano"],
  "src/pages": ["src/client"],
  "src/threads": ["src/contract", "src/ledger", "src/wallets"],
  "src/wallets/vault": ["src/threads", "src/wallets"],
};

function moduleOf(file: string): string {
  const parts = file.split("/");
  return parts[0] === "src" ? parts.slice(0, 2).join("/") : parts[0]!;
}

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* sources(file);
    else if (/\.tsx?$/.test(entry.name)) yield file;
  }
}

function importsOf(file: string): string[] {
  const text = readFileSync(path.join(root, file), "utf8");
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s*"([^"]+)"|(?:^|\n)\s*import\s*"([^"]+)"|import\(\s*"([^"]+)"\s*\)/g;
  return [...text.matchAll(pattern)].map((match) => (match[1] ?? match[2] ?? match[3])!);
}

function target(file: string, specifier: string): string | undefined {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (specifier.startsWith(".")) return path.posix.join(path.posix.dirname(file), specifier);
  return undefined;
}

const files = ["machines", "actors", "src"].flatMap((folder) => [...sources(folder)]);

/** The SQL of a file: template literals behind `sql`, with the expressions that are interpolated into them. */
function sqlOf(text: string): string[] {
  return [...text.matchAll(/\bsql(?::\s*|<[^`]*>)?`/g)].map((opening) => {
    const start = opening.index + opening[0].length;
    let end = start;
    for (let nested = 0; end < text.length; end++) {
      if (text.startsWith("${", end)) nested++;
      else if (text[end] === "}" && nested > 0) nested--;
      else if (text[end] === "`" && nested === 0) break;
    }
    return text.slice(start, end).replace(/--.*$/gm, "");
  });
}

const sqlByFile = new Map(files.map((file) => [file, sqlOf(readFileSync(path.join(root, file), "utf8"))] as const));

describe("layers", () => {
  it("has files to read", () => expect(files.length).toBeGreaterThan(20));

  it("lists every module", () => {
    expect([...new Set(files.map(moduleOf))].filter((name) => !layerOf.has(name))).toEqual([]);
  });

  it("has no import from a higher layer or from a neighbour", () => {
    const wrong = files.flatMap((file) =>
      importsOf(file).flatMap((specifier) => {
        const to = target(file, specifier);
        if (to === undefined || moduleOf(to) === moduleOf(file)) return [];
        const from = layerOf.get(moduleOf(file))!;
        const down = layerOf.get(moduleOf(to));
        if (down !== undefined && down < from) return [];
        if (NEIGHBOURS[moduleOf(file)]?.includes(moduleOf(to))) return [];
        return [`${file} -> ${to}`];
      })
    );
    expect(wrong).toEqual([]);
  });

  it("has no circle of files that import each other, for types included", () => {
    const known = new Set(files);
    const imports = new Map(
      files.map((file) => [
        file,
        importsOf(file).map((specifier) => target(file, specifier)).filter((to) => to !== undefined && known.has(to)),
      ]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
      if (done.has(file)) return;
      done.add(file);
      for (const to of imports.get(file) ?? []) visit(to!, [...path, file]);
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });

  it("lets only src/store open a database connection and only the bus speak NATS", () => {
    const users = (name: string) => files.filter((file) => importsOf(file).includes(name));
    expect(users("postgres").filter((file) => moduleOf(file) !== "src/store")).toEqual([]);
    expect(users("nats")).toEqual(["src/runtime/bus/bus.ts"]);
  });

  it("loads the script evaluator in the builders' threads alone", () => {
    const users = files.filter((file) => importsOf(file).some((to) => /^#src\/plutus\/evaluate/.test(to)));
    expect(users.filter((file) => !/^src\/(plutus|builders)\//.test(file))).toEqual([]);
  });
});

describe("SQL", () => {
  /** The module of each table: the one whose schema migrations create it. */
  const owners = new Map(
    [...sqlByFile].flatMap(([file, statements]) =>
      statements.flatMap((statement) =>
        [...statement.matchAll(/\bcreate table (?:if not exists )?(\w+)/g)].map(([, table]) =>
          [table!, moduleOf(file)] as const
        )
      )
    ),
  );
  const tablesIn = (statement: string) =>
    [...statement.matchAll(/\b(?:from|join|into|update|table)\s+(\w+)/g)].map(([, table]) => table!);

  it("is found, with the tables that it creates", () => {
    expect(owners.size).toBeGreaterThan(50);
    expect(tablesIn("select 1 from wallet join fact using (id)")).toEqual(["wallet", "fact"]);
  });

  it("occurs in no HTTP route and in no composition", () => {
    const modules = ["src/http", "src/client", "src/pages", "src/app", "src/cli"];
    expect(
      [...sqlByFile].filter(([file, statements]) => modules.includes(moduleOf(file)) && statements.length > 0)
        .map(([file]) => file),
    ).toEqual([]);
  });

  it("names only tables of its own module", () => {
    const foreign = [...sqlByFile].flatMap(([file, statements]) =>
      statements.flatMap(tablesIn).flatMap((table) => {
        const owner = owners.get(table);
        return owner === undefined || owner === moduleOf(file) ? [] : [`${file}: ${table} of ${owner}`];
      })
    );
    expect(foreign).toEqual([]);
  });
});
