/**
 * Installs libraries of others that use a service of the devnet or of NATS, each with packages of its own, before the tests; if that is
 * not possible, prints a message, and their tests are skipped.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { done, here, root } from "./tools.ts";

/** A library by the folder of its files. */
export type LibraryName =
  | "mesh"
  | "lucid"
  | "evolution"
  | "blaze"
  | "blockfrost-js"
  | "pycardano"
  | "nats-py"
  | "cardano-client-lib"
  | "client-lib-devkit";

declare module "vitest" {
  export interface ProvidedContext {
    /** Folders of libraries; empty where they could not be installed. */
    libraries: Record<LibraryName, string>;
  }
}

const without = (name: LibraryName) => `Without it no program on ${name} uses a service of Arbor.`;

/**
 * A folder of the cache with a library's packages, next to the files of this folder that use them. They are installed
 * again when the list of packages changes.
 */
function libraryFolder(
  name: LibraryName,
  list: string,
  files: readonly string[],
  install: (folder: string) => boolean,
): string {
  const folder = path.join(root, name);
  mkdirSync(folder, { recursive: true });
  for (const file of [`${name}/${list}`, ...files]) cpSync(here(file), path.join(folder, path.basename(file)));
  const wanted = readFileSync(path.join(folder, list), "utf8");
  const mark = path.join(folder, "installed");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return folder;
  rmSync(mark, { force: true });
  if (!install(folder)) return "";
  writeFileSync(mark, wanted);
  return folder;
}

function npmLibrary(name: LibraryName): string {
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
  const install = (folder: string) =>
    done("node", ["--version"], folder, {}, without(name)) && done("npm", args, folder, {}, without(name));
  return libraryFolder(name, "package.json", [`${name}/peer.mjs`, "serve.mjs"], install);
}

function pythonLibrary(name: LibraryName, ...files: readonly string[]): string {
  const install = (folder: string) =>
    done("python3", ["-m", "venv", "venv"], folder, {}, without(name)) &&
    done("venv/bin/pip", ["install", "-q", "-r", "requirements.txt"], folder, {}, without(name));
  return libraryFolder(name, "requirements.txt", files.map((file) => `${name}/${file}`), install);
}

/** A Java program is compiled each time; its packages are copied once. */
function javaLibrary(name: LibraryName, ...files: readonly string[]): string {
  const copy = ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"];
  const install = (folder: string) => done("mvn", copy, folder, {}, without(name));
  const folder = libraryFolder(name, "pom.xml", files.map((file) => `${name}/${file}`), install);
  const compile = ["-nowarn", "-d", "classes", "-cp", "lib/*", ...files];
  return folder !== "" && done("javac", compile, folder, {}, without(name)) ? folder : "";
}

export default function setup(project: TestProject): void {
  mkdirSync(root, { recursive: true });
  project.provide("libraries", {
    mesh: npmLibrary("mesh"),
    lucid: npmLibrary("lucid"),
    evolution: npmLibrary("evolution"),
    blaze: npmLibrary("blaze"),
    "blockfrost-js": npmLibrary("blockfrost-js"),
    pycardano: pythonLibrary("pycardano", "peer.py"),
    "nats-py": pythonLibrary("nats-py"),
    "cardano-client-lib": javaLibrary("cardano-client-lib", "Peer.java"),
    "client-lib-devkit": javaLibrary(
      "client-lib-devkit",
      "OnDevnet.java",
      "DevkitTest.java",
      "GovernanceStoryTest.java",
    ),
  });
}
