/**
 * A process with a database on the shared PostgreSQL: `member.ts <folder for temporary files>`. It writes a JSON object per
 * line, as `parent.ts` does, and leaves the server on SIGINT.
 */
import { basename } from "node:path";
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import { startSharedPostgres } from "#src/embedded/postgres/shared.ts";
import { createTemporaryFolder } from "#src/embedded/postgres/temporaryFolder.ts";
import { openStore } from "#src/store/store.ts";

const [temporary] = process.argv.slice(2);
const say = (value: Record<string, unknown>) => void process.stdout.write(JSON.stringify(value) + "\n");

try {
  const folder = createTemporaryFolder(temporary);
  const server = await startSharedPostgres({
    name: basename(folder.path),
    key: "a table",
    prepare: async (url) => {
      const store = openStore(url, { max: 1 });
      await store.sql`create table note (text text)`;
      await store.close();
    },
    log: createLog("warn"),
    onProgress: (progress) => say({ progress }),
    temporary: temporary!,
  });
  server.lost.then((lost) => say({ lost }));
  process.on("SIGINT", async () => {
    await server.stop();
    folder.remove();
    process.exit(0);
  });
  setInterval(() => {}, 1_000);
  say({ url: server.url });
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  say({ code, message });
  process.exit(1);
}
