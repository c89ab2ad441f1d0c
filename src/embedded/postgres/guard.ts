/**
 * Processes that watch over a server, so that it ends when those that use it have ended, for whatever reason. A guard is a
 * small shell: it sees the end of a process by the end of a pipe whose other end only that process holds.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { type Log, reason } from "#src/base/log.ts";
import type { SystemAccount } from "#src/embedded/postgres/account.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { serverMark } from "#src/embedded/postgres/postmaster.ts";

/** The pipe that each member of a shared server holds open. */
export const MEMBERS = "members";
/** The file of a shared server that takes further members. */
export const OPEN = "open";
/** The file of a shared server that was shut down in order, with the id of the machine's boot. */
export const STOPPED = "stopped";

/**
 * Stops a process when this one is gone. Gives the function that ends the guard and leaves the guarded process alone.
 *
 * A line "done" means that all is well; end of file without it means that this process was killed. (The guard may be killed
 * too: `stopLeftover` handles that at the next start.)
 */
export function guardProcess(pid: number, account: SystemAccount | undefined, log: Log): () => void {
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
  letGo(child);
  return () => {
    if (!child.stdin.writableEnded) child.stdin.end("done\n");
  };
}

/**
 * The guard of a shared server: $1 is its folder, $2 what its command line has in it, $3 the id of the machine's boot. A
 * member holds the pipe open for writing. After the last one the server takes no others; one that came in between is waited
 * for. Then the server is stopped. As long as the first member has not joined, the guard ends with its own input.
 */
const SHARED = `
pipe="$1/${MEMBERS}"; rm -f "$pipe" "$1/${OPEN}"; umask 077; mkfifo "$pipe" || exit 1
exec 3<>"$pipe"; echo watching
members() { while read -r _ <&4; do :; done; }
runs() {
  [ -n "$pid" ] || return 1
  if [ -d /proc/self ]; then grep -q "$1" "/proc/$pid/cmdline" 2>/dev/null
  else ps -o command= -p "$pid" 2>/dev/null | grep -q "$1"; fi
}
if read -r _; then exec 4<"$pipe" 3>&-; members; rm -f "$1/${OPEN}"; members; fi
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
if runs "$2"; then kill -INT "$pid"; fi
i=0; while runs "$2" && [ $i -lt 600 ]; do sleep 0.05; i=$((i + 1)); done
if runs "$2"; then kill -9 "$pid"; fi
if [ ! -e "$1/data/postmaster.pid" ]; then echo "$3" > "$1/${STOPPED}"; fi
rm -f "$pipe"
`;

/**
 * Starts the guard of a shared server in its folder, with this process as the first member. Gives the function by which
 * this process leaves.
 *
 * @throws {EmbeddedError} `start_failed`
 */
export async function guardShared(folder: string, boot: string): Promise<() => void> {
  const child = spawn("/bin/sh", ["-c", SHARED, "sh", folder, serverMark(join(folder, "data")), boot], {
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
    env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" },
  });
  letGo(child);
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`its guard ended with ${code}`)));
  try {
    await Promise.race([once(child.stdout, "data"), ended]);
  } catch (error) {
    throw new EmbeddedError("start_failed", `PostgreSQL cannot be shared: ${reason(error)}`);
  }
  ended.catch(() => {});
  const held = openSync(join(folder, MEMBERS), constants.O_WRONLY | constants.O_NONBLOCK);
  child.stdin.end("joined\n");
  return () => closeSync(held);
}

/** Lets this process end while a guard runs. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) {
    stream?.on("error", () => {});
    if (stream instanceof Socket) stream.unref();
  }
}
