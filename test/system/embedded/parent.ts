/**
 * A process that starts PostgreSQL on a folder, for tests that end it in every way: `parent.ts <folder> [port]`.
 *
 * It writes one JSON object per line: progress, then the url and the server's pid, or the error. On SIGINT it behaves
 * like a service: it still uses the database, then stops it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";

const [folder, port] = process.argv.slice(2);
const say = (value: Record<string, unknown>) => void process.stdout.write(JSON.stringify(value) + "\n");

try {
  const server = await startPostgres({
    folder: folder!,
    ...(port ? { port: Number(port) } : {}),
    log: createLog("info"),
    onProgress: (progress) => say({ progress }),
  });
  server.lost.then((lost) => say({ lost }));
  process.on("SIGINT", async () => {
    const running = readFileSync(join(folder!, "data", "postmaster.pid"), "utf8").includes("ready");
    await server.stop();
    say({ running });
    process.exit(0);
  });
  setInterval(() => {}, 1_000);
  const pid = Number(readFileSync(join(folder!, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  say({ url: server.url, pid });
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  say({ code, message });
  process.exit(1);
}
