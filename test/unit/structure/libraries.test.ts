/** `deno.prod.lock`: the part of `deno.lock` that programs need. `WRITE_LOCK=1` writes it. */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

interface Locked {
  readonly integrity: string;
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
}
interface Lock {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, Locked>>;
  readonly workspace: object;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const read = (file: string) => JSON.parse(readFileSync(root + file, "utf8"));

/** What the dependencies of `package.json` reach in a lock file. */
function reached({ specifiers, npm, ...rest }: Lock): Lock {
  const { dependencies } = read("package.json") as { dependencies: Record<string, string> };
  const own = Object.entries(dependencies).map(([name, version]) => {
    const specifier = `npm:${name}@${version}`;
    return [specifier, specifiers[specifier] ?? ""] as const;
  });
  const todo = own.map(([specifier, version]) => specifier.replace(/^npm:(.+)@[^@]*$/, `$1@${version}`));
  const seen = new Set<string>();
  for (const reference of todo) {
    // a library in one version only is named without it
    const found = Object.keys(npm).filter((key) => key === reference || key.replace(/(?<=.)@.*$/, "") === reference);
    expect(found, reference).toHaveLength(1);
    const [name] = found as [string];
    if (seen.has(name)) continue;
    seen.add(name);
    todo.push(...npm[name]!.dependencies ?? [], ...npm[name]!.optionalDependencies ?? []);
  }
  return {
    ...rest,
    specifiers: Object.fromEntries(own),
    npm: Object.fromEntries(Object.entries(npm).filter(([name]) => seen.has(name))),
  };
}

it("has the libraries of deno.lock that programs need, and no other", () => {
  const wanted = reached(read("deno.lock"));
  if (process.env.WRITE_LOCK) writeFileSync(`${root}deno.prod.lock`, `${JSON.stringify(wanted, null, 2)}\n`);
  const { specifiers, npm } = read("deno.prod.lock") as Lock;
  expect(specifiers).toEqual(wanted.specifiers);
  const integrity = (of: Lock["npm"]) =>
    Object.fromEntries(Object.entries(of).map(([name, one]) => [name, one.integrity]));
  expect(integrity(npm)).toEqual(integrity(wanted.npm));
});
