/** Reads every import of the house and names each arrow that points up or to a neighbour. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const LAYERS: readonly (readonly string[])[] = [
  ["src/base"],
  ["machines", "src/cardano", "src/forestry", "src/store"],
  ["src/api", "src/runtime", "src/plutus", "src/transaction", "src/node"],
  ["src/ledger", "src/cage", "src/wallet", "src/vault", "src/builders"],
  ["src/chain"],
  ["src/devnet", "src/embedded"],
  ["actors"],
  ["src/edge", "src/client", "src/pages"],
  ["src/app"],
  ["src/cli"],
];
const layerOf = new Map(LAYERS.flatMap((rooms, layer) => rooms.map((room) => [room, layer] as const)));

/** Rooms of one layer that may read another of the same layer: vocabulary below machines, and jobs that the threads run. */
const NEIGHBOURS: Record<string, readonly string[]> = {
  "src/forestry": ["src/cardano"],
  "src/builders": ["src/cage", "src/ledger", "src/wallet"],
  "src/vault": ["src/builders", "src/wallet"],
};

function room(file: string): string {
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

describe("layers", () => {
  it("has files to read", () => expect(files.length).toBeGreaterThan(20));

  it("knows every room", () => {
    expect([...new Set(files.map(room))].filter((name) => !layerOf.has(name))).toEqual([]);
  });

  it("has no arrow that points up or to a neighbour", () => {
    const wrong = files.flatMap((file) =>
      importsOf(file).flatMap((specifier) => {
        const to = target(file, specifier);
        if (to === undefined || room(to) === room(file)) return [];
        const from = layerOf.get(room(file))!;
        const down = layerOf.get(room(to));
        if (down !== undefined && down < from) return [];
        if (NEIGHBOURS[room(file)]?.includes(room(to))) return [];
        return [`${file} -> ${to}`];
      })
    );
    expect(wrong).toEqual([]);
  });

  it("lets only src/store open a database connection and only the bus speak NATS", () => {
    const users = (name: string) => files.filter((file) => importsOf(file).includes(name));
    expect(users("postgres").filter((file) => room(file) !== "src/store")).toEqual([]);
    expect(users("nats")).toEqual(["src/runtime/bus/bus.ts"]);
  });

  it("loads the script evaluator in the builders' threads alone", () => {
    const users = files.filter((file) => importsOf(file).some((to) => /^#src\/plutus\/evaluate/.test(to)));
    expect(users.filter((file) => !/^src\/(plutus|builders)\//.test(file))).toEqual([]);
  });
});
