/**
 * A small process that stops the database when ours is gone, however it went.
 *
 * It waits on a pipe whose other end only we hold. A word on the pipe says that all is well; its plain end means that we were
 * killed. (It may be killed too: `endLeftover` serves that case at the next start.)
 */
import { spawn } from "node:child_process";
import type { Log } from "#src/base/log.ts";
import type { Account } from "#src/embedded/account.ts";

/** Guards the process `pid`; `dismiss` ends the guard and leaves that process alone. */
export function guard(pid: number, account: Account | undefined, log: Log): { dismiss(): void } {
  const child = spawn("/bin/sh", ["-c", 'read -r word; [ "$word" = done ] || kill -INT "$1"', "sh", String(pid)], {
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: {},
    ...account,
  });
  child.on(
    "error",
    (error) => log.warn("nothing stops PostgreSQL if this process is killed", { reason: error.message }),
  );
  child.stdin.on("error", () => {});
  child.unref();
  (child.stdin as { unref?: () => void }).unref?.();
  return { dismiss: () => void child.stdin.end("done\n") };
}
