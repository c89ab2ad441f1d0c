/** Reads on a replica that its recovery cancels: a way to fail in the middle of a statement that one server does not have. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore, type Store } from "#src/store/store.ts";
import { until } from "../support/base/until.ts";
import { failBefore } from "../support/infra/failedStatement.ts";
import {
  findPostgres,
  type PostgresServer,
  startInstalledServer,
  startReplica,
} from "../support/infra/postgresServer.ts";

const native = findPostgres();

describe.skipIf(native === undefined)("a replica", () => {
  let primary: PostgresServer;
  let replica: PostgresServer;
  let writer: Store;
  let reader: Store;
  let watcher: Store;

  beforeAll(async () => {
    primary = await startInstalledServer(native!);
    writer = openStore(primary.url, { max: 1 });
    // Recovery waits for no reader.
    replica = await startReplica(native!, primary, ["max_standby_streaming_delay=0"]);
    reader = openStore(replica.url, { max: 1, application: "reading" });
    watcher = openStore(replica.url, { max: 1 });
  });
  afterAll(async () => {
    await Promise.all([reader, watcher, writer].map((store) => store?.close()));
    await replica?.stop();
    await primary?.stop();
  });

  test("after a read that conflicts with recovery the next statements have their own rows", async () => {
    for (const table of ["first", "second"]) {
      await writer.sql.unsafe(`create table ${table} as select generate_series(1, 20) as i`);
      await until("the replica has the table", async () => {
        const [row] = await watcher.sql<{ there: boolean }[]>`select to_regclass(${table}) is not null as there`;
        return row!.there;
      });
      const failed = failBefore(
        reader.sql,
        (sql) => sql.unsafe(`select repeat('x', 4000), case when i > 15 then pg_sleep(60) end from ${table}`),
      );
      await until("the read sleeps", async () => {
        const rows = await watcher.sql`
          select from pg_stat_activity where application_name = 'reading' and wait_event = 'PgSleep'`;
        return rows.length > 0;
      });
      await writer.sql.unsafe(`drop table ${table}`);
      // PostgreSQL may end the connection as well: recovery repeats its signal.
      expect((await failed).code).toBe("40001");
    }
  });
});
