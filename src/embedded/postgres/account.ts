/**
 * The account that runs PostgreSQL, which refuses to run as root: the present user; or, if that is root, the owner of
 * the data, and for new data the account `postgres`, else `nobody`.
 */
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";

/** An account to run a program as. */
export interface SystemAccount {
  readonly uid: number;
  readonly gid: number;
}

/** The account for a data folder, which may not exist yet; undefined if no change of account is needed. */
export function serverAccount(data: string): SystemAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const stat = lstatSync(data, { throwIfNoEntry: false });
  if (stat && stat.uid !== 0) return { uid: stat.uid, gid: stat.gid };
  for (const name of ["postgres", "nobody"]) {
    // passwd(5): name:password:uid:gid:…
    const line = readFileSync("/etc/passwd", "utf8").split("\n").find((line) => line.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(":") ?? [];
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  return { uid: 65534, gid: 65534 };
}

function allows(path: string, account: SystemAccount, bit: number): boolean {
  const { mode, uid, gid } = statSync(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & bit) === bit;
}

/** Whether an account may pass through every folder above a path, by their modes. */
export function canReach(path: string, account: SystemAccount): boolean {
  for (let folder = dirname(realpathSync(path));; folder = dirname(folder)) {
    if (!allows(folder, account, 1)) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** Whether an account may reach and read a file, or enter and list a folder, by their modes. */
export function canRead(path: string, account: SystemAccount): boolean {
  return canReach(path, account) && allows(path, account, statSync(path).isDirectory() ? 5 : 4);
}
