/**
 * Which folder may import which, which files of a folder others may import, which module's SQL may name which table, and
 * which modules use which library. `docs/architecture.md` explains the order.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A folder imports only from itself and from folders before it. */
const ORDER = [
  ...["src/base", "machines", "src/store", "src/runtime", "src/threads", "src/http", "src/embedded"],
  ...["src/cardano", "src/transaction", "src/forestry", "src/plutus", "src/ledger", "src/node"],
  ...["src/contract", "src/chain"],
  ...["src/wallets", "src/tokens", "src/devnet", "src/signer", "src/operators"],
  ...["actors", "src/client", "src/pages", "src/app", "src/cli", "src/packages"],
];

/** The folder at the top that a file is in. */
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

/** What a file imports, and the files of this repository that it reads by their URL. */
function importsOf(file: string): string[] {
  const text = readFileSync(path.join(root, file), "utf8");
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s*"([^"]+)"|(?:^|\n)\s*import\s*"([^"]+)"|import\(\s*"([^"]+)"\s*\)|new URL\(\s*[`"]([^`"]+)[`"],\s*import\.meta\.url/g;
  return [...text.matchAll(pattern)].map((match) => match.slice(1).find((one) => one !== undefined)!);
}

function target(file: string, specifier: string): string | undefined {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (specifier.startsWith(".")) return path.posix.join(path.posix.dirname(file), specifier);
  return undefined;
}

const files = ["machines", "actors", "src"].flatMap((folder) => [...sources(folder)]);

const isModule = (folder: string) => existsSync(path.join(root, folder, "README.md"));

/** The nearest folder with a README at or above a folder. */
function nearestModule(folder: string): string {
  return isModule(folder) || !folder.includes("/") ? folder : nearestModule(path.posix.dirname(folder));
}

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

  it("lists every folder, and each has a README of at most 40 lines", () => {
    expect([...new Set(files.map(moduleOf))].filter((name) => !ORDER.includes(name))).toEqual([]);
    expect(ORDER.filter((name) => !isModule(name))).toEqual([]);
    const folders = new Set(files.map((file) => path.posix.dirname(file)));
    const lengths = [...folders].filter(isModule)
      .map((folder) =>
        [folder, readFileSync(path.join(root, folder, "README.md"), "utf8").split("\n").length] as const
      );
    expect(lengths.filter(([, length]) => length > 41)).toEqual([]);
  });

  const uses = files.flatMap((file) =>
    importsOf(file).flatMap((specifier) => {
      const to = target(file, specifier);
      // the root of the repository, and what is in it, belongs to nobody
      return to === undefined || !/^(src|actors|machines)\//.test(to) ? [] : [{ file, to }];
    })
  );

  it("has no import of a later folder, files that are read by URL included", () => {
    const wrong = uses.filter(({ file, to }) => ORDER.indexOf(moduleOf(to)) > ORDER.indexOf(moduleOf(file)));
    expect(wrong.map(({ file, to }) => `${file} -> ${to}`)).toEqual([]);
  });

  it("has no import of a file behind another module's face", () => {
    const wrong = uses.filter(({ file, to }) => {
      const folder = path.posix.dirname(to);
      const module = nearestModule(folder);
      return module !== folder && !file.startsWith(`${module}/`);
    });
    expect(wrong.map(({ file, to }) => `${file} -> ${to}`)).toEqual([]);
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
    expect(users.filter((file) => !/^src\/(plutus|app\/threads)\//.test(file))).toEqual([]);
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
    const isRoute = (file: string) => modules.includes(moduleOf(file)) || file.split("/").includes("http");
    expect(
      [...sqlByFile].filter(([file, statements]) => isRoute(file) && statements.length > 0)
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
