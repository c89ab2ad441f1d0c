/** Two PostgreSQL servers that Patroni manages, both in the URL: it promotes the replica, and clients follow. */
import { afterEach, beforeEach, describe, test } from "vitest";
import { hasPatroni, type PatroniCluster, startPatroni } from "../support/infra/patroni.ts";
import { findPostgres } from "../support/infra/postgresServer.ts";
import { failoverUnder } from "../support/runtime/failover.ts";

const native = findPostgres();

describe.skipIf(native === undefined || !hasPatroni())("Patroni", () => {
  let cluster: PatroniCluster;
  beforeEach(async () => void (cluster = await startPatroni(native!)));
  afterEach(() => cluster?.stop());

  test.each(
    [
      { name: "the primary is killed", act: "killPrimary", mostMs: 10_000 },
      { name: "the primary is changed as planned", act: "switchOver", mostMs: 10_000 },
      // the lock of the lost leader has to expire, which takes 20 s
      { name: "the primary and its Patroni are killed", act: "killMachine", mostMs: 35_000 },
    ] as const,
  )(
    "$name",
    ({ name, act, mostMs }) =>
      failoverUnder({ name: `Patroni: ${name}`, url: cluster.url, mostMs }, () => cluster[act]()),
  );
});
