/** A bounded load on two worker processes: everything is applied once; the rate is printed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedInfra } from "../../support/infra/infra.ts";
import { load } from "../../support/runtime/load.ts";
import { type Cluster, startCluster } from "../../support/runtime/cluster.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster(await sharedInfra(), { plain: true });
  await cluster.settled(await Promise.all([cluster.start("one"), cluster.start("two")]));
});
afterAll(() => cluster?.stop());

test("64 clients on 500 entities, and on one", async () => {
  const spread = await load(cluster.ask, { prefix: "s", count: 4_000, clients: 64, entities: 500 });
  const hot = await load(cluster.ask, { prefix: "h", count: 2_000, clients: 64, entities: 1 });
  for (const [name, result] of [["spread", spread], ["hot", hot]] as const) {
    const { turnsPerSecond, p50, p99 } = result;
    console.log(`${name}: ${turnsPerSecond.toFixed(0)} turns/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    expect(result.failed).toBe(0);
  }
  const [sums] = await cluster.store.sql<{ versions: bigint; adds: bigint; events: bigint }[]>`
    select (select sum(version)::bigint from actor) as versions,
      (select sum((snapshot->'context'->>'adds')::bigint)::bigint from actor) as adds, (select count(*) from outbox) as events`;
  expect(sums).toEqual({ versions: 6_000n, adds: 6_000n, events: 6_000n });
});
