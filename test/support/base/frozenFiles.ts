/** Comparison with the files in `test/frozen`; its README explains them and how to rewrite them. */
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

const folder = fileURLToPath(new URL("../../frozen/", import.meta.url));

/** Path of a frozen file. */
export function frozenPath(name: string): string {
  return folder + name;
}

/** Fails with a diff if a text differs from a frozen file; `vitest -u` rewrites the file. */
export async function expectFrozen(name: string, text: string): Promise<void> {
  await expect(text.endsWith("\n") ? text : text + "\n").toMatchFileSnapshot(frozenPath(name));
}

/** `expectFrozen` for a list of lines in any order. */
export async function expectFrozenLines(name: string, lines: Iterable<string>): Promise<void> {
  await expectFrozen(name, [...new Set(lines)].sort().join("\n"));
}

/** `expectFrozen` for JSON, indented; members keep their order. */
export async function expectFrozenJson(name: string, value: unknown): Promise<void> {
  await expectFrozen(name, JSON.stringify(value, null, 2));
}

/**
 * The shape of JSON values: each path with the types of its values, e.g. `record.passphrase.at?`: `number`. A name that
 * ends in `?` was absent from some objects; `[]` represents the elements of a list.
 */
export class Shape {
  private readonly counts = new Map<string, Map<string, number>>();

  /** Adds a value. */
  add(value: unknown, path = ""): void {
    const type = value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
    let types = this.counts.get(path);
    if (types === undefined) this.counts.set(path, types = new Map());
    types.set(type, (types.get(type) ?? 0) + 1);
    if (type === "list") { for (const element of value as unknown[]) this.add(element, `${path}[]`); }
    else if (type === "object") {
      for (const [name, member] of Object.entries(value as object)) {
        if (member !== undefined) this.add(member, path === "" ? name : `${path}.${name}`);
      }
    }
  }

  toJSON(): Readonly<Record<string, string>> {
    const entries = [...this.counts].map(([path, types]): [string, string] => {
      const parent = path.slice(0, Math.max(0, path.lastIndexOf(".")));
      const seen = [...types.values()].reduce((sum, one) => sum + one, 0);
      const optional = path !== "" && !path.endsWith("[]") && seen < (this.counts.get(parent)?.get("object") ?? 0);
      return [optional ? `${path}?` : path, [...types.keys()].sort().join(" | ")];
    });
    return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1));
  }
}
