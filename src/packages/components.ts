/** The libraries of the programs, as `deno.prod.lock` pins them, with their licences. */
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import path from "node:path";

/** A library of the programs. */
export interface LibraryComponent {
  /** `name@version`. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** SPDX expression, as its manifest states it. */
  readonly licence: string;
  /** SHA-512 of its tarball in the npm registry, in hexadecimal. */
  readonly sha512: string;
  /** Ids of the libraries that it needs. */
  readonly needs: readonly string[];
}

interface Locked {
  readonly integrity: string;
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
  /** Set where the package is for some platforms only. */
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

/** The licence of a manifest in the forms that npm has had. */
interface Licensed {
  readonly license?: string | { readonly type: string };
  readonly licenses?: readonly { readonly type: string }[];
}

/** Name and version of `@scope/name@1.2.3_peer@4`. */
function split(key: string): readonly [name: string, version: string] {
  const [, name = key, version = ""] = /^(@?[^@]+)@([^_]*)/.exec(key) ?? [];
  return [name, version];
}

/**
 * The libraries of the lock file, sorted by id.
 *
 * @throws Error where a library is not installed, or states no licence.
 */
export function libraryComponents(root: string): readonly LibraryComponent[] {
  const lock = JSON.parse(readFileSync(path.join(root, "deno.prod.lock"), "utf8")) as { npm: Record<string, Locked> };
  const entries = Object.entries(lock.npm);
  // a dependency is written without its version where the lock file has one of that name
  const byName = new Map<string, string>();
  for (const [key] of entries) byName.set(split(key)[0], key);
  const idOf = (key: string) => split(key).join("@");
  const needed = ({ dependencies = [], optionalDependencies = [] }: Locked) =>
    [...dependencies, ...optionalDependencies].map((name) => idOf(byName.get(name) ?? name));
  const parents = new Map(entries.flatMap(([key, one]) => needed(one).map((id) => [id, key] as const)));
  const licenceOf = (key: string, { os, cpu }: Locked): string => {
    const parent = parents.get(idOf(key));
    // the native parts of a library, one a platform; not all are installed
    if ((os ?? cpu) !== undefined && parent !== undefined) return licenceOf(parent, lock.npm[parent]!);
    return installedLicence(root, key);
  };
  const components = new Map(entries.map(([key, one]) => {
    const [name, version] = split(key);
    const id = idOf(key);
    const sha512 = Buffer.from(one.integrity.replace(/^sha512-/, ""), "base64").toString("hex");
    return [id, { id, name, version, licence: licenceOf(key, one), sha512, needs: [...new Set(needed(one))].sort() }];
  }));
  return [...components.values()].sort((a, b) => a.id < b.id ? -1 : 1);
}

/** Licences by the heading of their text. */
const HEADINGS: readonly (readonly [RegExp, string])[] = [
  [/^\s*Apache License\s+Version 2\.0/, "Apache-2.0"],
  [/^\s*(The )?MIT License/, "MIT"],
];

/** The licence that the manifest of an installed library states, or else its licence file. */
function installedLicence(root: string, key: string): string {
  const [name, version] = split(key);
  const folder = path.join(root, "node_modules/.deno", `${name.replace("/", "+")}@${version}`, "node_modules", name);
  const { license, licenses } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Licensed;
  const [first] = licenses ?? [];
  const stated = license ?? first;
  if (stated !== undefined) return (typeof stated === "string" ? stated : stated.type).replace(/^\((.*)\)$/, "$1");
  const text = readFileSync(path.join(folder, "LICENSE"), "utf8");
  const found = HEADINGS.find(([heading]) => heading.test(text));
  if (found === undefined) throw new Error(`${name} ${version} states no licence.`);
  return found[1];
}
