/** Workers whose clocks are hours off: due times and timestamps follow the database's clock. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { EntityRef } from "#src/runtime/types.ts";
import { type Cluster, startCluster, type WorkerProcess } from "../../support/runtime/cluster.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { readActor } from "../../support/runtime/readActor.ts";
import { until } from "../../support/base/until.ts";

const HOURS = 3 * 3_600_000;

describe.each([["ahead", HOURS], ["behind", -HOURS]] as const)("a worker whose clock is 3 h %s", (name, skewMs) => {
  let cluster: Cluster;
  let right: WorkerProcess;
  let wrong: WorkerProcess;

  beforeAll(async () => {
    cluster = await startCluster(await sharedInfra());
    [right, wrong] = await Promise.all([cluster.start("right"), cluster.start(name, cluster.natsUrl, skewMs)]);
    await cluster.settled([right, wrong]);
  });
  afterAll(() => cluster?.stop());

  const ask = async (entity: EntityRef, event: { readonly type: string; readonly [name: string]: unknown }) =>
    expect(await cluster.ask.ask(entity, event as never)).toMatchObject({ ok: true });
  const woken = async (entity: EntityRef) => (await readActor(cluster.store, entity))!.context.woken;

  it("records the right time of an event", async () => {
    const entity = await cluster.ownedBy(wrong);
    await ask(entity, { type: "ADD", amount: 1 });
    const [row] = await cluster.store.sql<{ apart: number }[]>`
      select abs(extract(epoch from at - created))::float8 as apart from outbox where id = ${entity.id}`;
    expect(row!.apart).toBeLessThan(60);
  });

  it("wakes entities when their time has come, and not before", async () => {
    const [soon, later] = [await cluster.ownedBy(wrong), await cluster.ownedBy(wrong)];
    const [row] = await cluster.store.sql<{ now: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    await ask(later, { type: "REMEMBER", at: row!.now + HOURS / 3 });
    await ask(soon, { type: "REMEMBER", at: row!.now + 1_000 });
    await until("it is woken", async () => await woken(soon) === 1, 60_000);
    expect(await woken(later)).toBe(0);
  });

  it("leaves effects that the next owner runs at once", async () => {
    const entity = await cluster.ownedBy(wrong);
    await ask(entity, { type: "ADD", amount: 5 });
    await wrong.arm({ at: "before-effect", cause: `effect:${entity.kind}/${entity.id}:`, signal: "SIGKILL" });
    const paid = cluster.ask.ask(entity, { type: "PAY", amount: 5 }, { commandId: `${name}-pay`, deadlineMs: 60_000 });
    await wrong.exited;
    expect(await paid).toMatchObject({ ok: true });
  });
});
