/**
 * Which folder may import which, which files of a folder others may import, which module's SQL may name which table, and
 * which modules use which library. `docs/architecture.md` explains the order.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { migrationFiles } from "#src/app/migrationFiles.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A folder imports only from itself and from folders before it. */
const ORDER = [
  ...["src/base", "machines", "src/store", "src/runtime", "src/threads", "src/http", "src/embedded"],
  ...["src/cardano", "src/transaction", "src/forestry", "src/csmt", "src/tlog", "src/plutus", "src/ledger"],
  ...["src/node", "src/ogmios"],
  ...["src/contract", "src/chain"],
  ...["src/wallets", "src/tokens", "src/devnet", "src/signer", "src/operators"],
  ...["actors", "src/client", "src/pages", "src/app", "src/cli", "src/packages"],
];

/** The folder at the top that a file is in. */
function moduleOf(file: string): string {
  const parts = file.split("/");
  return parts[0] === "src" ? parts.slice(0, 2).join("/") : parts[0]!;
}

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesIn(file);
    else yield file;
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

const allFiles = ["machines", "actors", "src"].flatMap((folder) => [...filesIn(folder)]);
const files = allFiles.filter((file) => /\.tsx?$/.test(file));
const sqlFiles = allFiles.filter((file) => file.endsWith(".sql"));

const isModule = (folder: string) => existsSync(path.join(root, folder, "README.md"));

/** The nearest folder with a README at or above a folder. */
function nearestModule(folder: string): string {
  return isModule(folder) || !folder.includes("/") ? folder : nearestModule(path.posix.dirname(folder));
}

const withoutComments = (sql: string) => sql.replace(/--.*$/gm, "");

/** The SQL in a source: template literals behind `sql`, with the expressions that are interpolated into them. */
function sqlOf(text: string): string[] {
  return [...text.matchAll(/\bsql(?::\s*|<[^`]*>)?`/g)].map((opening) => {
    const start = opening.index + opening[0].length;
    let end = start;
    for (let nested = 0; end < text.length; end++) {
      if (text.startsWith("${", end)) nested++;
      else if (text[end] === "}" && nested > 0) nested--;
      else if (text[end] === "`" && nested === 0) break;
    }
    return withoutComments(text.slice(start, end));
  });
}

/** The SQL of each source and of each schema migration. */
const sqlByFile = new Map([...files, ...sqlFiles].map((file) => {
  const text = readFileSync(path.join(root, file), "utf8");
  return [file, file.endsWith(".sql") ? [withoutComments(text)] : sqlOf(text)] as const;
}));

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
  /** The file that creates each table. */
  const creators = new Map(
    [...sqlByFile].flatMap(([file, statements]) =>
      statements.flatMap((statement) =>
        [...statement.matchAll(/\bcreate table (?:if not exists )?(\w+)/g)].map(([, table]) => [table!, file] as const)
      )
    ),
  );
  const tablesIn = (statement: string) =>
    [...statement.matchAll(/\b(?:from|join|into|update|table)\s+(\w+)/g)].map(([, table]) => table!);

  it("is found, with the tables that it creates", () => {
    expect(sqlFiles.length).toBeGreaterThan(60);
    expect(creators.size).toBeGreaterThan(50);
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
        const creator = creators.get(table);
        return creator === undefined || moduleOf(creator) === moduleOf(file) ? [] : [`${file}: ${table} of ${creator}`];
      })
    );
    expect(foreign).toEqual([]);
  });

  it("creates the tables that the README of their folder names", () => {
    const created = [...creators].map(([table, file]) => `${nearestModule(path.posix.dirname(file))}: ${table}`);
    const named = allFiles.filter((file) => file.endsWith("/README.md")).flatMap((file) => {
      const [, tables] = /^Tables: (.*)\.$/m.exec(readFileSync(path.join(root, file), "utf8")) ?? [];
      return [...tables?.matchAll(/`(\w+)`/g) ?? []].map(([, table]) => `${path.posix.dirname(file)}: ${table}`);
    });
    expect(named.sort()).toEqual(created.sort());
  });

  it("creates tables in listed migrations only, those of a name in order of date and number", () => {
    expect([...migrationFiles].sort()).toEqual([...sqlFiles].sort());
    const parts = migrationFiles.map((file) => {
      const [, date, name, number] = /\/migrations\/(\d{4}-\d\d-\d\d)-([a-z-]+)-(\d+)\.sql$/.exec(file) ?? [];
      return { folder: path.posix.dirname(path.posix.dirname(file)), date: date!, name: name!, number: Number(number) };
    });
    for (const name of new Set(parts.map(({ name }) => name))) {
      const those = parts.filter((part) => part.name === name);
      expect([...new Set(those.map(({ folder }) => folder))].filter(isModule), name).toHaveLength(1);
      expect(those.map(({ number }) => number), name).toEqual(those.map((_, i) => i + 1));
      expect(those.map(({ date }) => date), name).toEqual(those.map(({ date }) => date).sort());
    }
    const inCode = [...creators].filter(([, file]) => !file.endsWith(".sql")).map(([table]) => table);
    expect(inCode).toEqual(["migration"]);
  });
});
