/**
 * A small process that stops the database if this process is gone, for whatever reason.
 *
 * It reads from a pipe whose other end only this process holds. A line "done" means that all is well; end of file
 * without it means that this process was killed. (The guard may be killed too: `stopLeftover` handles that at the next
 * start.)
 */
import { spawn } from "node:child_process";
import type { Log } from "#src/base/log.ts";
import type { SystemAccount } from "#src/embedded/account.ts";

/** Guards process `pid`; `dismiss` ends the guard and leaves that process alone. */
export function startGuard(pid: number, account: SystemAccount | undefined, log: Log): { dismiss(): void } {
  const child = spawn("/bin/sh", ["-c", 'read -r word; [ "$word" = done ] || kill -INT "$1"', "sh", String(pid)], {
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: {},
    ...account,
  });
  child.on(
    "error",
    (error) => log.warn("PostgreSQL will keep running if this process is killed", { reason: error.message }),
  );
  child.stdin.on("error", () => {});
  child.unref();
  (child.stdin as { unref?: () => void }).unref?.();
  return { dismiss: () => void child.stdin.end("done\n") };
}
